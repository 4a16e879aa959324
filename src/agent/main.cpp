// muster-agent: runs tasks on its host. As `muster-agent shim FOLDER` it is the small process
// beside one task, as `muster-agent transfer FOLDER` the task that moves files.

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <unistd.h>
#include <vector>

#include <CLI/CLI.hpp>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include "adapters/system/log_lines.hpp"
#include "agent/daemon/config.hpp"
#include "agent/daemon/daemon.hpp"
#include "agent/daemon/join.hpp"
#include "agent/host/clocks.hpp"
#include "agent/shim/shim.hpp"
#include "agent/transfer/transfer.hpp"
#include "base/arguments.hpp"
#include "base/text.hpp"
#include "base/version.hpp"
#include "base/visible.hpp"
#include "help/help_format.hpp"
#include "help/manual.hpp"

namespace {

using muster::Error;
using muster::ErrorCode;
using muster::Result;
using muster::agent::Config;

constexpr const char* kPackagedConfig = "/etc/muster/agent.yaml";

constexpr const char* kExamples = R"(Examples:
  muster-agent --server https://muster:8440 --data /var/lib/muster-agent --join-file FILE
  muster-agent --data /var/lib/muster-agent      after it has joined
  muster-agent --config /etc/muster/agent.yaml   as the packages do
  muster-agent check-config                      what is in force, or what is wrong
  muster-agent release-cgroups                   for its service file, after it has ended)";

constexpr const char* kManualSections = R"(.SH SIGNALS
.TP
.BR SIGTERM ", " SIGINT
Stop the agent. Tasks go on; the next start finds them again.
.TP
.B SIGHUP
Read the settings again.
.SH "EXIT STATUS"
.TP
.B 0
All well.
.TP
.B 1
The agent failed.
.TP
.B 2
Usage, or wrong settings.
.TP
.B 3
The join was denied.
.SH ENVIRONMENT
.TP
.B MUSTER_JOIN
The token, as \-\-join.
.SH FILES
.TP
.I /etc/muster/agent.yaml
Settings of the packaged service.
.TP
.I /var/lib/muster\-agent
Identity and running tasks.
.SH "SEE ALSO"
.BR muster (1),
.BR musterd (8)
)";

// Reads the file and the flags over the defaults; again at each SIGHUP.
using Load = std::function<Result<Config>()>;

Result<std::string> ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file)
    return muster::Fail(ErrorCode::kNotFound, "cannot read {}: {}", path, std::strerror(errno));
  std::ostringstream content;
  content << file.rdbuf();
  return content.str();
}

std::string OwnName() {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 ? name : "";
}

Result<std::string> JoinTokenOf(const Config& config, const std::string& given) {
  if (!given.empty()) return given;
  if (!config.join_file.empty()) {
    auto text = ReadFile(config.join_file);
    if (!text) return text;
    const auto token = muster::Trim(*text);
    if (token.empty())
      return muster::Fail(ErrorCode::kInvalid,
                          "join file {} is empty; write a token from 'muster agents invite' to it",
                          config.join_file.string());
    return std::string(token);
  }
  const char* variable = std::getenv("MUSTER_JOIN");
  return std::string(variable == nullptr ? "" : variable);
}

// Asks until the join is decided: a name that is known already waits for an operator. Whoever does
// not want to wait ends the agent; it goes on where it was at the next start.
Result<muster::agent::Joined> JoinPatiently(const muster::agent::JoinOptions& options) {
  std::string told;
  muster::Duration pause = std::chrono::seconds(5);
  while (true) {
    auto joined = muster::agent::Join(options);
    const bool away = !joined && !told.empty() &&
                      (joined.error().code == ErrorCode::kUnavailable ||
                       joined.error().code == ErrorCode::kTimeout);
    if (!away && (!joined || !joined->waits)) return joined;
    if (joined) {
      pause = joined->ask_again;
      if (told != joined->message) spdlog::warn("waiting to join: {}", joined->message);
      told = joined->message;
    }
    std::this_thread::sleep_for(pause);
  }
}

Result<> JoinNow(muster::agent::DataFolder& folder, const Config& config,
                 const std::string& token) {
  muster::agent::JoinOptions options;
  options.servers = muster::agent::SplitServers(config.server);
  options.token = token;
  options.name = !config.name.empty()         ? config.name
                 : !folder.Who().host.empty() ? folder.Who().host
                                              : OwnName();
  options.labels = config.labels;
  if (!config.ca.empty()) {
    auto ca = ReadFile(config.ca);
    if (!ca) return muster::Fail(ca.error());
    options.ca_pem = std::move(*ca);
  }
  auto key = folder.OwnKey();
  if (!key) return muster::Fail(key.error());
  options.key_pem = std::move(*key);
  const auto joined = JoinPatiently(options);
  if (!joined) return muster::Fail(joined.error());
  spdlog::info("joined {} as host={} cluster={}", config.server, joined->host, joined->cluster);
  return folder.SaveJoin(options.servers, joined->host, joined->cluster,
                         {joined->key_pem, joined->cert_pem, joined->ca_pem});
}

Result<> JoinOnce(muster::agent::DataFolder& folder, const Config& config,
                  const std::string& given) {
  const bool ended = folder.Joined() && folder.CertificateEnded(muster::agent::WallNow());
  if (folder.Joined() && !ended) return {};
  const auto token = JoinTokenOf(config, given);
  if (!token) return muster::Fail(token.error());
  if (ended && (token->empty() || config.server.empty()))
    return muster::Fail(ErrorCode::kInvalid,
                        "the certificate in {} has ended while this host was away; to get a new "
                        "one for the same key (tasks are kept), start once more with --server "
                        "URL and --join-file FILE (a token from 'muster agents invite')",
                        config.data.string());
  if (token->empty() || config.server.empty())
    return muster::Fail(ErrorCode::kInvalid,
                        "{} has not joined a server yet; give --server URL and --join-file FILE "
                        "(a token from 'muster agents invite')",
                        config.data.string());
  return JoinNow(folder, config, *token);
}

void SetLogLevel(const Config& config) {
  spdlog::set_level(spdlog::level::from_str(config.log_level));
}

void Reload(Config& running, const Load& load, muster::agent::Daemon& daemon) {
  auto fresh = load();
  if (!fresh) return spdlog::error("not reloaded, the settings stay: {}", fresh.error().message);
  const auto table = muster::agent::Describe(running);
  const auto changes = muster::settings::TakeLive(table, muster::agent::Describe(*fresh));
  for (const auto& change : changes) spdlog::info("reload {}", muster::settings::Sentence(change));
  SetLogLevel(running);
  daemon.Configure(running.run_as, running.max_spool);
  spdlog::info("reloaded changes={}", muster::settings::Tally(changes));
}

Result<> Run(Config config, const Load& load, const std::string& join,
             muster::agent::Cgroups cgroups, muster::agent::Spawner& spawner) {
  auto folder = muster::agent::DataFolder::Open(config.data);
  if (!folder) return muster::Fail(folder.error());
  if (const auto joined = JoinOnce(*folder, config, join); !joined) return joined;
  auto known = muster::agent::LoadServers(folder->Path());
  if (!known) return muster::Fail(known.error());
  if (!config.server.empty() && muster::agent::SplitServers(config.server) != known->given)
    spdlog::warn("server={} is for the join; this host has joined {} already", config.server,
                 fmt::join(known->given, ","));
  auto credentials = folder->LoadCredentials();
  if (!credentials) return muster::Fail(credentials.error());
  std::optional<muster::agent::HistoryFile> history;
  if (!config.history.empty()) {
    auto opened = muster::agent::HistoryFile::Open(config.history);
    if (!opened) return muster::Fail(opened.error());
    history.emplace(std::move(*opened));
  }
  muster::net::EventLoop loop;
  cgroups.UsePrefix(fmt::format("muster-{}-", folder->Who().store.substr(0, 8)));
  muster::agent::Daemon daemon(loop, *folder, std::move(*credentials),
                               {.version = muster::kVersion,
                                .run_as = config.run_as,
                                .cgroups = std::move(cgroups),
                                .spawner = &spawner,
                                .max_spool = config.max_spool,
                                .history = history ? &*history : nullptr});
  loop.OnSignal({SIGTERM, SIGINT}, [&loop](int signal) {
    spdlog::info("stopping signal={}; tasks go on and are found again at the next start", signal);
    loop.Stop();
  });
  loop.OnSignal({SIGHUP}, [&](int) { Reload(config, load, daemon); });
  if (const auto started = daemon.Start(); !started) return started;
  spdlog::info("muster-agent {} host={} server={} data={}", muster::kVersion, folder->Who().host,
               fmt::join(known->given, ","), config.data.string());
  loop.Run();
  return {};
}

struct Flags {
  std::string config_file;
  std::vector<std::string> servers;
  std::string data;
  std::string join;
  std::string join_file;
  std::string ca_file;
  std::string name;
  std::vector<std::string> labels;
  std::string run_as;
  std::vector<std::string> allow_users;
  std::string history;
};

void AddOptions(CLI::App& app, Flags& flags) {
  app.add_option("--config", flags.config_file,
                 "YAML file with settings; flags win (packages: /etc/muster/agent.yaml)")
      ->type_name("FILE");
  app.add_option("--server", flags.servers,
                 "URL of a server, for the first start; may be repeated, or have commas")
      ->type_name("URL");
  app.add_option("--data", flags.data,
                 "Data folder: identity and running tasks (default: /var/lib/muster-agent)")
      ->type_name("DIR");
  app.add_option(
         "--join", flags.join,
         "Token of 'muster agents invite' (MUSTER_JOIN; an argument shows in ps for a moment)")
      ->type_name("TOKEN");
  app.add_option("--join-file", flags.join_file, "File with the token")->type_name("FILE");
  app.add_option("--ca", flags.ca_file,
                 "File with the cluster's CA, instead of the token's fingerprint")
      ->type_name("FILE");
  app.add_option("--name", flags.name, "Name of this host (default: its host name)")
      ->type_name("HOST");
  app.add_option("--label", flags.labels, "Label for the join; may be repeated")->type_name("K=V");
  app.add_option("--run-as", flags.run_as,
                 "User for tasks that name none (default: the agent's own)")
      ->type_name("USER");
  app.add_option("--allow-user", flags.allow_users,
                 "Users that tasks may name; may be repeated (default: any)")
      ->type_name("USER");
  app.add_option("--history", flags.history,
                 "Append a line for each order, start and end, for 'muster check history "
                 "--journal'")
      ->type_name("FILE");
  app.set_version_flag("--version", std::string("muster-agent ") + muster::kVersion);
}

Result<Config> LoadConfig(const Flags& flags) {
  Config config;
  const auto table = muster::agent::Describe(config);
  if (!flags.config_file.empty())
    if (const auto read = muster::settings::ReadFile(flags.config_file, table); !read)
      return muster::Fail(read.error());
  const std::pair<const char*, std::vector<std::string>> given[] = {
      {"server", {fmt::format("{}", fmt::join(flags.servers, ","))}},
      {"data", {flags.data}},
      {"join_file", {flags.join_file}},
      {"ca", {flags.ca_file}},
      {"name", {flags.name}},
      {"labels", flags.labels},
      {"run_as.default", {flags.run_as}},
      {"run_as.allow", flags.allow_users},
      {"history", {flags.history}}};
  for (const auto& [name, words] : given) {
    if (words.empty() || words.front().empty()) continue;
    if (const auto set = muster::settings::Set(table, name, words); !set)
      return muster::Fail(set.error());
  }
  return config;
}

// Only a join needs the file, so a host that has joined goes without it.
Result<> CheckCa(const Config& config) {
  if (config.ca.empty()) return {};
  const auto pem = ReadFile(config.ca);
  if (!pem) return muster::Fail(pem.error().code, "ca: {}", pem.error().message);
  return {};
}

int Exit(const Error& error) {
  std::fprintf(stderr, "muster-agent: %s\n", muster::VisibleLines(error.message).c_str());
  if (error.code == ErrorCode::kDenied) return 3;
  return error.code == ErrorCode::kInvalid || error.code == ErrorCode::kNotFound ? 2 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  // First of all: a shim starts with every task, so nothing may be set up that it does not need.
  // Nor has it anything to tear down.
  if (argc == 3 && std::string_view(argv[1]) == "shim") {
    muster::agent::DetachShim(STDERR_FILENO + 1);
    ::_exit(muster::agent::RunShim(argv[2]));
  }
  if (argc == 3 && std::string_view(argv[1]) == "transfer")
    return muster::agent::RunTransfer(argv[2]);
  if (argc == 2 && std::string_view(argv[1]) == "release-cgroups") {
    const auto released = muster::agent::Cgroups::Release({});
    return released ? 0 : Exit(released.error());
  }
  const bool check = argc >= 2 && std::string_view(argv[1]) == "check-config";

  CLI::App app("The Muster agent: runs tasks on this host for a Muster server.", "muster-agent");
  app.footer(kExamples);
  // Both are looked for before; here they only stand in the help.
  app.add_subcommand("check-config", "Show the settings in force, or what is wrong with them");
  app.add_subcommand("release-cgroups",
                     "Remove control groups of a stopped agent; for its service file");
  Flags flags;
  AddOptions(app, flags);
  const muster::help::Manual manual{
      .version = muster::kVersion, .section = 8, .sections = kManualSections};
  if (const auto written = muster::help::WriteManualIfAsked(app, manual, argc, argv))
    return *written;
  muster::help::UseHelpFormat(app);
  try {
    if (check)
      app.parse(argc - 1, argv + 1);
    else
      app.parse(argc, argv);
  } catch (const CLI::ParseError& problem) {
    return app.exit(problem) == 0 ? 0 : 2;
  }
  muster::HideArgument(argc, argv, "--join");
  if (const auto late = app.get_subcommands(); !late.empty())
    return Exit(
        {ErrorCode::kInvalid, fmt::format("{} must be the first word", late.front()->get_name())});

  if (check && flags.config_file.empty()) flags.config_file = kPackagedConfig;
  const Load load = [&flags] { return LoadConfig(flags); };
  auto config = load();
  if (!config) return Exit(config.error());
  if (check) {
    if (const auto there = CheckCa(*config); !there) return Exit(there.error());
    std::fputs(muster::settings::Print(muster::agent::Describe(*config)).c_str(), stdout);
    return 0;
  }
  auto logger =
      std::make_shared<spdlog::logger>("agent", std::make_shared<spdlog::sinks::stderr_sink_st>());
  muster::FormatLines(*logger);
  spdlog::set_default_logger(std::move(logger));
  SetLogLevel(*config);
  // Before anything large is set up, and in the group where shims belong. Without a spawner each
  // shim is a program start of its own.
  auto cgroups = muster::agent::Cgroups::Open({});
  auto spawner = muster::agent::Spawner::Start();
  if (!spawner) spawner = muster::agent::Spawner();
  if (const auto ran = Run(*config, load, flags.join, std::move(cgroups), *spawner); !ran)
    return Exit(ran.error());
  return 0;
}
