// muster-agent: runs tasks on its host. As `muster-agent shim FOLDER` it is the small process
// beside one task.

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <unistd.h>
#include <vector>

#include <CLI/CLI.hpp>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include "agent/clocks.hpp"
#include "agent/daemon/daemon.hpp"
#include "agent/daemon/join.hpp"
#include "agent/shim.hpp"
#include "base/text.hpp"
#include "base/version.hpp"

namespace {

using muster::Error;
using muster::ErrorCode;
using muster::Result;

struct Flags {
  std::string server;
  std::string data = "/var/lib/muster-agent";
  std::string join;
  std::string join_file;
  std::string ca_file;
  std::string name;
  std::vector<std::string> labels;
  std::string run_as;
  std::vector<std::string> allow_users;
};

Result<std::string> ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return muster::Fail(ErrorCode::kNotFound, "cannot read {}", path);
  std::ostringstream content;
  content << file.rdbuf();
  return content.str();
}

Result<muster::Labels> ReadLabels(const std::vector<std::string>& pairs) {
  muster::Labels labels;
  for (const auto& pair : pairs) {
    const auto equals = pair.find('=');
    if (equals == std::string::npos)
      return muster::Fail(ErrorCode::kInvalid, "--label {}: write KEY=VALUE", pair);
    const auto key = pair.substr(0, equals);
    if (const auto fits = muster::CheckLabel(key, pair.substr(equals + 1)); !fits)
      return muster::Fail(fits.error());
    labels[key] = pair.substr(equals + 1);
  }
  return labels;
}

std::string OwnName() {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 ? name : "";
}

Result<std::string> JoinTokenOf(const Flags& flags) {
  if (!flags.join.empty()) return flags.join;
  if (!flags.join_file.empty()) {
    auto text = ReadFile(flags.join_file);
    if (!text) return text;
    return std::string(muster::Trim(*text));
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

Result<> JoinNow(muster::agent::DataFolder& folder, const Flags& flags, const std::string& token) {
  muster::agent::JoinOptions options;
  options.server = flags.server;
  options.token = token;
  options.name = !flags.name.empty()          ? flags.name
                 : !folder.Who().host.empty() ? folder.Who().host
                                              : OwnName();
  auto labels = ReadLabels(flags.labels);
  if (!labels) return muster::Fail(labels.error());
  options.labels = std::move(*labels);
  if (!flags.ca_file.empty()) {
    auto ca = ReadFile(flags.ca_file);
    if (!ca) return muster::Fail(ca.error());
    options.ca_pem = std::move(*ca);
  }
  auto key = folder.OwnKey();
  if (!key) return muster::Fail(key.error());
  options.key_pem = std::move(*key);
  const auto joined = JoinPatiently(options);
  if (!joined) return muster::Fail(joined.error());
  spdlog::info("joined {} as host={} cluster={}", flags.server, joined->host, joined->cluster);
  return folder.SaveJoin(flags.server, joined->host, joined->cluster,
                         {joined->key_pem, joined->cert_pem, joined->ca_pem});
}

Result<> Run(const Flags& flags, muster::agent::Cgroups cgroups, muster::agent::Spawner& spawner) {
  auto folder = muster::agent::DataFolder::Open(flags.data);
  if (!folder) return muster::Fail(folder.error());
  if (!folder->Joined() || folder->CertificateEnded(muster::agent::WallNow())) {
    const auto token = JoinTokenOf(flags);
    if (!token) return muster::Fail(token.error());
    if (folder->Joined() && (token->empty() || flags.server.empty()))
      return muster::Fail(ErrorCode::kInvalid,
                          "the certificate in {} has ended while this host was away; to get a new "
                          "one for the same key (tasks are kept), start once more with --server "
                          "URL and --join TOKEN (from 'muster agents invite')",
                          flags.data);
    if (token->empty() || flags.server.empty())
      return muster::Fail(ErrorCode::kInvalid,
                          "{} has not joined a server yet; give --server URL and --join TOKEN "
                          "(from 'muster agents invite')",
                          flags.data);
    if (const auto joined = JoinNow(*folder, flags, *token); !joined) return joined;
  }
  auto credentials = folder->LoadCredentials();
  if (!credentials) return muster::Fail(credentials.error());
  muster::net::EventLoop loop;
  cgroups.UsePrefix(fmt::format("muster-{}-", folder->Who().store.substr(0, 8)));
  muster::agent::Daemon daemon(loop, *folder, std::move(*credentials),
                               {.version = muster::kVersion,
                                .run_as = {flags.run_as, flags.allow_users},
                                .cgroups = std::move(cgroups),
                                .spawner = &spawner});
  loop.OnSignal({SIGTERM, SIGINT}, [&loop](int signal) {
    spdlog::info("stopping signal={}; tasks go on and are found again at the next start", signal);
    loop.Stop();
  });
  if (const auto started = daemon.Start(); !started) return started;
  spdlog::info("muster-agent {} host={} server={} data={}", muster::kVersion, folder->Who().host,
               folder->Who().server, flags.data);
  loop.Run();
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  // First of all: a shim starts with every task, so nothing may be set up that it does not need.
  // Nor has it anything to tear down.
  if (argc == 3 && std::string_view(argv[1]) == "shim") ::_exit(muster::agent::RunShim(argv[2]));

  CLI::App app(
      "muster-agent: runs tasks on this host for a Muster server.\n\n"
      "Examples:\n"
      "  muster-agent --server https://muster:8440 --data /var/lib/muster-agent --join TOKEN\n"
      "  muster-agent --data /var/lib/muster-agent          (once it has joined)");
  Flags flags;
  app.add_option("--server", flags.server, "URL of the server, for the first start");
  app.add_option("--data", flags.data, "Data folder: identity and running tasks")
      ->capture_default_str();
  app.add_option(
      "--join", flags.join,
      "Token of 'muster agents invite' (an argument shows in ps: see --join-file, MUSTER_JOIN)");
  app.add_option("--join-file", flags.join_file, "File that holds the token");
  app.add_option("--ca", flags.ca_file, "Believe this CA instead of the token's fingerprint");
  app.add_option("--name", flags.name, "Name of this host (default: its host name)");
  app.add_option("--label", flags.labels, "KEY=VALUE, at the join; may be repeated");
  app.add_option("--run-as", flags.run_as,
                 "User for tasks that name none (default: the agent's own)");
  app.add_option("--allow-user", flags.allow_users,
                 "Users that tasks may name; may be repeated (default: any)");
  app.set_version_flag("--version", std::string("muster-agent ") + muster::kVersion);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& problem) {
    return app.exit(problem) == 0 ? 0 : 2;
  }

  auto logger =
      std::make_shared<spdlog::logger>("agent", std::make_shared<spdlog::sinks::stderr_sink_st>());
  logger->set_pattern("%Y-%m-%dT%H:%M:%S.%eZ %l %v", spdlog::pattern_time_type::utc);
  spdlog::set_default_logger(std::move(logger));
  // Before anything large is set up, and in the group where shims belong. Without a spawner each
  // shim is a program start of its own.
  auto cgroups = muster::agent::Cgroups::Open({});
  auto spawner = muster::agent::Spawner::Start();
  if (!spawner) spawner = muster::agent::Spawner();
  if (const auto ran = Run(flags, std::move(cgroups), *spawner); !ran) {
    std::fprintf(stderr, "muster-agent: %s\n", ran.error().message.c_str());
    return ran.error().code == ErrorCode::kInvalid  ? 2
           : ran.error().code == ErrorCode::kDenied ? 3
                                                    : 1;
  }
  return 0;
}
