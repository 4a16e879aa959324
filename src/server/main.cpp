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
#include "server/ca_command.hpp"
#include "server/certificates.hpp"
#include "server/cluster_keys.hpp"
#include "server/command_line.hpp"
#include "server/keeping/backup.hpp"
#include "server/keeping/store_copy.hpp"
#include "server/stores.hpp"

namespace muster::server {
namespace {

constexpr const char* kPackagedConfig = "/etc/muster/musterd.yaml";

// Commands beside the server itself.
struct Subcommand {
  std::string_view name;
  int (*run)(int argc, char** argv);
};
constexpr Subcommand kSubcommands[] = {{"ca", RunCaCommand},
                                       {"backup", BackupMain},
                                       {"restore", RestoreMain},
                                       {"store", StoreMain},
                                       {"join", JoinMain}};

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
  CLI::App app(
      "musterd: the Muster server. One port for the API, agents' links, /metrics and health.\n\n"
      "Examples:\n"
      "  musterd --data /var/lib/muster --listen 127.0.0.1:8440\n"
      "  musterd --config /etc/muster/musterd.yaml --public-url https://muster.example:8440\n"
      "  musterd ca --help                     (the cluster's CA, and how to change it)\n"
      "  musterd backup FILE                   (records, CA, keys and tokens, while it runs)\n"
      "  musterd restore FILE --data DIR       (a data folder from a backup)\n"
      "  musterd store copy --to postgres://…  (from the data folder into PostgreSQL)\n"
      "  musterd join --help                   (a place in a cluster)\n"
      "  musterd check-config                  (says what is wrong, or in force)");
  Flags flags;
  std::string config_file;
  std::string data;
  app.add_option("--data", data,
                 "Data folder: records, logs, keys (default /var/lib/muster, MUSTER_DATA)");
  app.add_option("--listen", flags.listen,
                 "Address and port (default 127.0.0.1:8440, MUSTER_LISTEN)");
  app.add_option("--config", config_file, "YAML file with settings (MUSTER_CONFIG)")
      ->envname("MUSTER_CONFIG");
  app.add_option("--public-url", flags.public_url,
                 "URL that agents and people use; its name goes into the certificate");
  app.add_option("--log-level", flags.log_level, "debug, info, warn, error")
      ->check(CLI::IsMember({"debug", "info", "warn", "error"}));
  app.set_version_flag("--version", std::string("musterd ") + kVersion);
  const int skipped = check ? 1 : 0;
  if (const auto wrong = ParseWords(app, argc - skipped, argv + skipped)) return *wrong;

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

}  // namespace
}  // namespace muster::server

int main(int argc, char** argv) {
  using namespace muster::server;
  DropPostgresVariables();
  for (const auto& subcommand : kSubcommands)
    if (argc >= 2 && subcommand.name == argv[1]) return subcommand.run(argc - 1, argv + 1);
  return ServeMain(argc, argv);
}
