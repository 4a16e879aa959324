#include <cstdio>
#include <sys/stat.h>

#include <CLI/CLI.hpp>

#include "adapters/postgres/protection.hpp"
#include "adapters/system/system_clock.hpp"
#include "server/assembly/stores.hpp"
#include "server/commands/command_line.hpp"
#include "server/keeping/store_copy.hpp"

namespace muster::server {
namespace {

constexpr const char* kAbout =
    "Copy the records of a data folder into PostgreSQL\n"
    "No server may use either meanwhile. An interrupted copy leaves no trace. Afterwards set "
    "store.postgres in the settings and start the server with the same folder: hosts, runs, "
    "triggers, secrets, tokens and the audit trail go on where they were.";
constexpr const char* kExamples = R"(Examples:
  musterd store copy --data /var/lib/muster --to postgres:///muster   on this machine
  musterd store copy --config /etc/muster/musterd.yaml   data and store.postgres of the settings)";

// An address with a password is not repeated.
std::string Shown(const std::string& address) {
  const auto words = postgres::KeywordsOf(address);
  const bool secret = !words || words->contains("password") || words->contains("sslpassword");
  return secret ? "…    # the address of the copy" : address;
}

std::uint64_t Sum(const std::vector<copy::Copied>& parts) {
  std::uint64_t rows = 0;
  for (const auto& part : parts) rows += part.rows;
  return rows;
}

void Print(const StoreCopyOptions& options, const StoreCopyOutcome& outcome) {
  using Number = unsigned long long;
  std::printf("copied %llu records, the same number in every table of both:\n",
              static_cast<Number>(Sum(outcome.records)));
  for (const auto& table : outcome.records)
    if (table.rows > 0)
      std::printf("  %-16s %llu\n", table.table.c_str(), static_cast<Number>(table.rows));
  if (options.logs)
    std::printf("output: %zu days, %llu pieces\n", outcome.days.size(),
                static_cast<Number>(Sum(outcome.days)));
  else
    std::printf("without the output of tasks\n");
  std::printf(
      "The database is at term %llu, commit %llu. Now write into the server's settings\n"
      "  store:\n    postgres: %s\n"
      "and start it with %s, which keeps the keys. Its muster.db and logs/ are not used any more: "
      "remove them when all is well.\n",
      static_cast<Number>(outcome.term), static_cast<Number>(outcome.number),
      Shown(options.to.address).c_str(), options.data.c_str());
}

}  // namespace

int StoreMain(int argc, char** argv) {
  CLI::App app("Copy the records of a data folder into PostgreSQL", "musterd store");
  app.footer(kExamples);
  app.require_subcommand(1);
  CLI::App& copying = *app.add_subcommand("copy", kAbout);
  copying.footer(kExamples);
  StoreCopyOptions options;
  std::string to;
  std::string data;
  std::string config_file;
  bool without_logs = false;
  copying.add_option("--data", data, "Data folder to copy (MUSTER_DATA; default: /var/lib/muster)")
      ->type_name("DIR");
  copying
      .add_option("--to", to,
                  "The database, without records: postgres://… (default: store.postgres of the "
                  "settings)")
      ->type_name("URL");
  copying.add_option("--config", config_file, "The server's settings (MUSTER_CONFIG)")
      ->type_name("FILE")
      ->envname("MUSTER_CONFIG");
  copying.add_flag("--without-logs", without_logs, "Leave out the output of tasks");
  if (const auto wrong = ParseWords(app, argc, argv)) return *wrong;
  auto config = SettingsOf(data, config_file);
  if (!config) return Complain(config.error());
  if (!to.empty()) config->store.postgres = to;
  options.data = config->data;
  options.logs = !without_logs;
  options.to = PostgresOptionsOf(config->store);
  if (options.to.address.empty())
    return Complain({ErrorCode::kInvalid,
                     "say where to: --to postgres://USER@HOST/DATABASE, or --config FILE with "
                     "store.postgres"});
  WarnOfBackends(*config);
  ::umask(077);
  options.progress = ProgressLine();
  const auto outcome = CopyStore(options, SystemClock().Read().wall);
  if (!outcome) return Complain(outcome.error());
  EndProgress();
  Print(options, *outcome);
  return 0;
}

}  // namespace muster::server
