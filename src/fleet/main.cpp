// muster-fleet: thousands of emulated agents in one process, to try Muster and to measure it.

#include <csignal>
#include <cstdio>
#include <string>
#include <sys/resource.h>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/arguments.hpp"
#include "base/text.hpp"
#include "base/version.hpp"
#include "base/visible.hpp"
#include "domain/outputs.hpp"
#include "fleet/fleet.hpp"

namespace {

muster::Result<muster::Labels> ReadLabels(const std::vector<std::string>& pairs) {
  muster::Labels labels;
  for (const auto& pair : pairs) {
    const auto equals = pair.find('=');
    if (equals == std::string::npos)
      return muster::Fail(muster::ErrorCode::kInvalid, "--label {}: write KEY=VALUE", pair);
    labels[pair.substr(0, equals)] = pair.substr(equals + 1);
  }
  return labels;
}

using Outputs = std::vector<std::pair<std::string, std::string>>;

muster::Result<Outputs> ReadOutputs(const std::vector<std::string>& pairs) {
  Outputs outputs;
  for (const auto& pair : pairs) {
    const auto equals = pair.find('=');
    if (equals == std::string::npos || !muster::IsOutputName(pair.substr(0, equals)))
      return muster::Fail(muster::ErrorCode::kInvalid, "--outputs {}: write NAME=VALUE", pair);
    outputs.emplace_back(pair.substr(0, equals), pair.substr(equals + 1));
  }
  return outputs;
}

muster::Result<> Run(muster::fleet::FleetOptions options) {
  const auto count = options.count;
  muster::net::EventLoop loop;
  muster::fleet::Fleet fleet(loop, std::move(options));
  if (const auto ready = fleet.Prepare(); !ready) return ready;
  std::fprintf(stderr, "joining %u %s\n", count, count == 1 ? "host" : "hosts");
  if (const auto joined = fleet.JoinAll(); !joined) return joined;
  fleet.ConnectAll();
  loop.OnSignal({SIGTERM, SIGINT}, [&loop](int) { loop.Stop(); });
  std::uint32_t told = UINT32_MAX;
  std::function<void()> report = [&] {
    if (fleet.Online() != told) {
      told = fleet.Online();
      std::fprintf(stderr, "%u of %u hosts online, %llu tasks done\n", told, count,
                   static_cast<unsigned long long>(fleet.TasksEnded()));
    }
    loop.After(std::chrono::seconds(1), report);
  };
  loop.After(std::chrono::milliseconds(100), report);
  loop.Run();
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app(
      "muster-fleet: N emulated agents in one process, over real TLS links.\n\n"
      "Examples:\n"
      "  muster-fleet --server https://127.0.0.1:8440 --join \"$(muster agents invite --uses 1000 "
      "--replace)\" --count 1000\n"
      "  muster-fleet --server URL --join TOKEN --count 50 --duration 3s --output-bytes 2000 "
      "--fail 0.1");
  muster::fleet::FleetOptions options;
  std::string duration = "0";
  std::string bytes = "0";
  std::vector<std::string> labels;
  std::vector<std::string> outputs;
  app.add_option("--server", options.servers,
                 "URL of a server; may be repeated, or have commas: hosts spread over all")
      ->delimiter(',')
      ->required();
  app.add_option(
         "--join", options.join,
         "Token of 'muster agents invite --uses N' (with --replace when there is no --data)")
      ->envname("MUSTER_JOIN")
      ->required();
  app.add_option("--count", options.count, "Number of hosts")
      ->required()
      ->check(CLI::Range(1, 200000));
  app.add_option("--data", options.data, "Folder that keeps the hosts' keys");
  app.add_option("--prefix", options.prefix, "Host names are PREFIX1, PREFIX2, …")
      ->capture_default_str();
  app.add_option("--duration", duration, "How long a pretended process runs")
      ->capture_default_str();
  app.add_option("--output-bytes", bytes, "How much it says")->capture_default_str();
  app.add_option("--fail", options.pretence.fail_share, "Share of tasks that fail, 0 to 1")
      ->check(CLI::Range(0.0, 1.0));
  app.add_option("--outputs", outputs,
                 "NAME=VALUE it writes to $MUSTER_OUTPUT; {host} is the host; may be repeated");
  app.add_option("--agent-version", options.pretence.version, "Version the hosts say they have")
      ->capture_default_str();
  app.add_option("--history", options.history,
                 "File that grows by a line for each order, start and end of every host");
  app.add_option("--label", labels, "KEY=VALUE for every host; may be repeated");
  app.set_version_flag("--version", std::string("muster-fleet ") + muster::kVersion);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& problem) {
    return app.exit(problem) == 0 ? 0 : 2;
  }
  muster::HideArgument(argc, argv, "--join");

  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
  }
  const auto fail = [](const muster::Error& error) {
    std::fprintf(stderr, "muster-fleet: %s\n", muster::VisibleLines(error.message).c_str());
    return error.code == muster::ErrorCode::kInvalid ? 2 : 1;
  };
  const auto time = muster::ParseDuration(duration);
  if (!time) return fail(time.error());
  const auto size = muster::ParseSize(bytes);
  if (!size) return fail(size.error());
  auto parsed = ReadLabels(labels);
  if (!parsed) return fail(parsed.error());
  options.pretence.duration = *time;
  options.pretence.output_bytes = *size;
  options.labels = std::move(*parsed);
  auto pairs = ReadOutputs(outputs);
  if (!pairs) return fail(pairs.error());
  options.pretence.outputs = std::move(*pairs);
  if (const auto ran = Run(std::move(options)); !ran) return fail(ran.error());
  return 0;
}
