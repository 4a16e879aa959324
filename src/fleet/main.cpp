// muster-fleet: thousands of emulated agents in one process, to try Muster and to measure it.

#include <charconv>
#include <csignal>
#include <cstdio>
#include <string>
#include <string_view>
#include <sys/resource.h>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/arguments.hpp"
#include "base/text.hpp"
#include "base/version.hpp"
#include "base/visible.hpp"
#include "domain/outputs.hpp"
#include "fleet/fleet.hpp"
#include "help/help_format.hpp"
#include "help/manual.hpp"

namespace {

constexpr const char* kExamples = R"help(Examples:
  muster-fleet --server https://127.0.0.1:8440 --join "$(muster agents invite --uses 1000 --replace)" --count 1000
  muster-fleet --server URL --join TOKEN --count 50 --duration 3s --output-bytes 2000 --fail 0.1
  muster-fleet --server URL --join TOKEN --count 50 --output 'hello from {host}'
  muster-fleet --server URL --join TOKEN --count 50 --host-exit-code 'fleet[1-3]=2'

An emulated process ends after its duration, or by the task's timeout (--timeout of 'muster run',
timeout of a stage) or a stop, whichever comes first. HOSTS are names, ranges and patterns with
commas between: 'fleet[1-20],fleet9*'. If a host is in several of one option, the last one counts.)help";

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

muster::Result<std::int32_t> ReadExitCode(std::string_view option, const std::string& text) {
  std::int32_t code = 0;
  const auto end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, code);
  if (read.ec != std::errc() || read.ptr != end || code < 0 || code > 255)
    return muster::Fail(muster::ErrorCode::kInvalid, "{}: expected 0 to 255, found '{}'", option,
                        text);
  return code;
}

// What only some hosts do, as given: "HOSTS=VALUE".
struct ForSome {
  std::vector<std::string> durations;
  std::vector<std::string> exit_codes;
  std::vector<std::string> outputs;
};

using Exceptions = std::vector<muster::fleet::Pretence::Exception>;

muster::Result<Exceptions> ReadExceptions(const ForSome& some) {
  using muster::fleet::HostSet;
  Exceptions exceptions;
  for (const auto& text : some.durations) {
    auto parts = HostSet::Before("--host-duration", text);
    if (!parts) return muster::Fail(parts.error());
    const auto time = muster::ParseDuration(parts->second);
    if (!time) return muster::Fail(time.error());
    exceptions.push_back({.hosts = std::move(parts->first), .duration = *time});
  }
  for (const auto& text : some.exit_codes) {
    auto parts = HostSet::Before("--host-exit-code", text);
    if (!parts) return muster::Fail(parts.error());
    const auto code = ReadExitCode("--host-exit-code", parts->second);
    if (!code) return muster::Fail(code.error());
    exceptions.push_back({.hosts = std::move(parts->first), .exit_code = *code});
  }
  for (const auto& text : some.outputs) {
    auto parts = HostSet::Before("--host-output", text);
    if (!parts) return muster::Fail(parts.error());
    exceptions.push_back({.hosts = std::move(parts->first), .output = std::move(parts->second)});
  }
  return exceptions;
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
  CLI::App app("Emulated agents, many in one process, over real TLS links.", "muster-fleet");
  app.footer(kExamples);
  muster::fleet::FleetOptions options;
  std::string duration = "0";
  std::string bytes = "0";
  std::vector<std::string> labels;
  std::vector<std::string> outputs;
  ForSome some;
  app.add_option("--server", options.servers,
                 "URL of a server; may be repeated, or have commas: hosts spread over all")
      ->type_name("URL")
      ->delimiter(',')
      ->required();
  app.add_option("--join", options.join,
                 "Token of 'muster agents invite --uses N' (with --replace if there is no --data; "
                 "MUSTER_JOIN)")
      ->type_name("TOKEN")
      ->envname("MUSTER_JOIN")
      ->required();
  app.add_option("--count", options.count, "Number of hosts")
      ->type_name("N")
      ->required()
      ->check(CLI::Range(1, 200000));
  app.add_option("--data", options.data, "Folder that keeps the hosts' keys")->type_name("DIR");
  app.add_option("--prefix", options.prefix, "Host names are PREFIX1, PREFIX2, …")
      ->type_name("PREFIX")
      ->capture_default_str();
  app.add_option("--duration", duration, "How long an emulated process runs")
      ->type_name("DURATION")
      ->capture_default_str();
  app.add_option("--host-duration", some.durations, "How long on these hosts")
      ->type_name("HOSTS=DURATION");
  app.add_option("--exit-code", options.pretence.conduct.exit_code,
                 "Exit code of a process that was not ended")
      ->type_name("CODE")
      ->check(CLI::Range(0, 255))
      ->capture_default_str();
  app.add_option("--host-exit-code", some.exit_codes, "Exit code on these hosts")
      ->type_name("HOSTS=CODE");
  app.add_option("--output", options.pretence.conduct.output,
                 "Line that it prints; {host} is the host's name")
      ->type_name("TEXT");
  app.add_option("--host-output", some.outputs, "Line that these hosts print")
      ->type_name("HOSTS=TEXT");
  app.add_option("--output-bytes", bytes, "Size of its output, at least; filled up with a line")
      ->type_name("SIZE")
      ->capture_default_str();
  app.add_option("--fail", options.pretence.fail_share,
                 "Share of tasks that fail (exit code 1), 0 to 1")
      ->type_name("SHARE")
      ->check(CLI::Range(0.0, 1.0));
  app.add_option("--outputs", outputs,
                 "Value it writes to $MUSTER_OUTPUT; {host} is the host; may be repeated")
      ->type_name("NAME=VALUE");
  app.add_option("--agent-version", options.pretence.version, "Version that the hosts report")
      ->type_name("VERSION")
      ->capture_default_str();
  app.add_option("--history", options.history,
                 "Append a line for each order, start and end of every host")
      ->type_name("FILE");
  app.add_option("--label", labels, "Label of every host; may be repeated")->type_name("K=V");
  app.set_version_flag("--version", std::string("muster-fleet ") + muster::kVersion);
  const muster::help::Manual manual{
      .version = muster::kVersion,
      .sections = ".SH \"SEE ALSO\"\n.BR muster (1),\n.BR musterd (8)\n"};
  if (const auto written = muster::help::WriteManualIfAsked(app, manual, argc, argv))
    return *written;
  muster::help::UseHelpFormat(app);
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
  options.pretence.conduct.duration = *time;
  options.pretence.conduct.output_bytes = *size;
  auto exceptions = ReadExceptions(some);
  if (!exceptions) return fail(exceptions.error());
  options.pretence.exceptions = std::move(*exceptions);
  options.labels = std::move(*parsed);
  auto pairs = ReadOutputs(outputs);
  if (!pairs) return fail(pairs.error());
  options.pretence.outputs = std::move(*pairs);
  if (const auto ran = Run(std::move(options)); !ran) return fail(ran.error());
  return 0;
}
