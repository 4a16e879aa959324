// musterd: one port for the API, links, metrics and health; one thread that decides; one that
// commits.

#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include "adapters/files/own_folder.hpp"
#include "adapters/postgres/protection.hpp"
#include "base/version.hpp"
#include "server/assembly/serve.hpp"
#include "server/assembly/stores.hpp"
#include "server/certificates/certificates.hpp"
#include "server/certificates/cluster_keys.hpp"
#include "server/commands/ca_command.hpp"
#include "server/commands/command_line.hpp"
#include "server/keeping/backup.hpp"
#include "server/keeping/store_copy.hpp"

namespace muster::server {
namespace {

constexpr const char* kPackagedConfig = "/etc/muster/musterd.yaml";

// Commands beside the server itself.
struct Subcommand {
  std::string_view name;
  int (*run)(int argc, char** argv);
  const char* about;
};
constexpr Subcommand kSubcommands[] = {
    {"ca", RunCaCommand, "Show and change the CA of the cluster"},
    {"backup", BackupMain, "Write records, CA, keys and tokens into one file"},
    {"restore", RestoreMain, "Make a data folder from a backup"},
    {"store", StoreMain, "Copy the records of a data folder into PostgreSQL"},
    {"join", JoinMain, "Join a cluster as one more server"}};

constexpr const char* kExamples = R"(Examples:
  musterd --data /var/lib/muster --listen 127.0.0.1:8440
  musterd --config /etc/muster/musterd.yaml --public-url https://muster.example:8440
  musterd check-config               what is in force, or what is wrong
  musterd backup FILE                while the server runs
  musterd restore FILE --data DIR)";

// The settings alone say where records go and how: a variable that is forgotten in an environment
// cannot send them elsewhere, or without TLS.
void DropPostgresVariables() {
  const auto dropped = postgres::DropEnvironment();
  if (dropped.empty()) return;
  std::fprintf(
      stderr,
      "musterd: warning: not read from the environment: %s; write what PostgreSQL needs into "
      "store.postgres\n",
      fmt::format("{}", fmt::join(dropped, ", ")).c_str());
}

// Ten thousand links need ten thousand descriptors; the soft limit is often 1024.
void RaiseDescriptorLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

// The server needs its data folder and its port; as root, a hole in it is a hole in the machine.
void WarnOfRoot(const Config& config) {
  if (::geteuid() != 0) return;
  spdlog::warn(
      "musterd runs as root and does not need to: give {0} to a user of its own (chown -R "
      "muster: {0}) and start it as that user, as the unit of the package does",
      config.data.string());
}

struct Flags {
  std::optional<std::string> listen;
  std::optional<std::string> public_url;
  std::optional<std::string> log_level;
};

// A flag is held to the same as its key in the file.
Result<> TakeFlag(Config& config, const char* name, const std::optional<std::string>& value) {
  return value ? settings::Set(Describe(config), name, {*value}) : Result<>();
}

Result<> TakeFlags(Config& config, const Flags& flags) {
  return AllGood({TakeFlag(config, "listen", flags.listen),
                  TakeFlag(config, "public_url", flags.public_url),
                  TakeFlag(config, "log_level", flags.log_level)});
}

// Only a start needs the files, so a backup or a restore goes without them.
Result<> CheckTls(const Config& config) {
  if (config.tls_cert.empty()) return {};
  const auto pair = ReadOwnTls(config.tls_cert, config.tls_key);
  if (!pair) return Fail(pair.error());
  return {};
}

// Says every mistake at once: in the file, in variables, in flags, and between settings.
int CheckConfigMain(const Flags& flags, const std::string& data, const std::string& config_file) {
  Config config;
  const auto read = AllGood({ReadConfigFile(config_file, config), ReadConfigEnvironment(config),
                             TakeFlags(config, flags)});
  if (!data.empty()) config.data = data;
  const auto good = AllGood({read, CheckTls(config), CheckCluster(config), CheckBackends(config)});
  if (!good) return Complain(good.error());
  WarnOfBackends(config);
  std::fputs(settings::Print(Describe(config)).c_str(), stdout);
  return 0;
}

int ServeMain(int argc, char** argv) {
  const bool check = argc >= 2 && std::string_view(argv[1]) == "check-config";
  CLI::App app("The Muster server: one port for the API, agents, metrics and health.", "musterd");
  app.footer(kExamples);
  // Each is a program of its own, found by its first word; here they only stand in the help.
  for (const auto& subcommand : kSubcommands)
    app.add_subcommand(std::string(subcommand.name), subcommand.about);
  app.add_subcommand("check-config", "Show the settings in force, or what is wrong with them");
  Flags flags;
  std::string config_file;
  std::string data;
  app.add_option("--data", data,
                 "Data folder: records, output, keys (MUSTER_DATA; default: /var/lib/muster)")
      ->type_name("DIR");
  app.add_option("--listen", flags.listen,
                 "Address and port (MUSTER_LISTEN; default: 127.0.0.1:8440)")
      ->type_name("ADDRESS:PORT");
  app.add_option("--config", config_file, "YAML file with settings (MUSTER_CONFIG)")
      ->type_name("FILE")
      ->envname("MUSTER_CONFIG");
  app.add_option("--public-url", flags.public_url,
                 "URL that agents and people use; its name goes into the certificate")
      ->type_name("URL");
  app.add_option("--log-level", flags.log_level, "Least level of lines in the log")
      ->check(CLI::IsMember({"debug", "info", "warn", "error"}));
  app.set_version_flag("--version", std::string("musterd ") + kVersion);
  const int skipped = check ? 1 : 0;
  if (const auto wrong = ParseWords(app, argc - skipped, argv + skipped)) return *wrong;
  if (const auto late = app.get_subcommands(); !late.empty())
    return Complain(
        {ErrorCode::kInvalid,
         fmt::format("{0} must be the first word: musterd {0} …; see musterd {0} --help",
                     late.front()->get_name())});

  if (check && config_file.empty()) config_file = kPackagedConfig;
  const Load load = [&]() -> Result<Config> {
    auto config = SettingsOf(data, config_file);
    if (!config) return config;
    if (auto taken = TakeFlags(*config, flags); !taken) return Fail(taken.error());
    return config;
  };
  if (check) return CheckConfigMain(flags, data, config_file);
  auto config = load();
  if (!config) return Complain(config.error());

  ::umask(077);  // records hold scripts and environments
  const auto log = LogRing::Install(config->log_level);
  RaiseDescriptorLimit();
  // Before the warning, which says what to do with a folder that is fine.
  if (auto own = files::MakeOwnFolder(config->data, 0700); !own) return Complain(own.error());
  WarnOfRoot(*config);
  if (const auto served = Serve(*config, load, *log); !served) return Complain(served.error());
  return 0;
}

// Every command has its page; those of the table replace the ones that musterd's own help would
// make.
int WriteManuals(char** argv) {
  int code = ServeMain(3, argv);
  for (const auto& subcommand : kSubcommands)
    if (code == 0) code = subcommand.run(3, argv);
  return code;
}

}  // namespace
}  // namespace muster::server

int main(int argc, char** argv) {
  using namespace muster::server;
  DropPostgresVariables();
  if (argc == 3 && std::string_view(argv[1]) == "__man") return WriteManuals(argv);
  for (const auto& subcommand : kSubcommands)
    if (argc >= 2 && subcommand.name == argv[1]) return subcommand.run(argc - 1, argv + 1);
  return ServeMain(argc, argv);
}
