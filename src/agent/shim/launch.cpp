#include "agent/shim/launch.hpp"

#include <algorithm>
#include <cerrno>

#include "agent/files.hpp"
#include "agent/shim/reboot.hpp"
#include "base/text.hpp"

namespace muster::agent {
namespace {

constexpr std::string_view kPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

// For what the agent does itself. Only folders that root alone writes to.
constexpr std::string_view kOwnPath = "/usr/sbin:/usr/bin:/sbin:/bin";

using Step = LaunchFailure::Step;

bool HasNul(std::string_view text) { return text.find('\0') != std::string_view::npos; }

std::vector<std::string> MakeEnv(const link::Order& order, const Account& account,
                                 const std::string& output_path) {
  std::vector<std::pair<std::string, std::string>> pairs = {
      {"PATH", std::string(kPath)},
      {"HOME", account.home},
      {"USER", account.name},
      {"LOGNAME", account.name},
      {"SHELL", account.shell},
      {"LANG", "C.UTF-8"},
      {"MUSTER_RUN", FormatRunId(order.task.run)},
      {"MUSTER_STAGE", order.stage},
      {"MUSTER_HOST", order.host_name},
  };
  if (!output_path.empty()) pairs.emplace_back("MUSTER_OUTPUT", output_path);
  for (const auto& [name, value] : order.command->env) {
    const auto same = std::find_if(pairs.begin(), pairs.end(),
                                   [&](const auto& pair) { return pair.first == name; });
    if (same != pairs.end())
      same->second = value;
    else
      pairs.emplace_back(name, value);
  }
  std::vector<std::string> env;
  env.reserve(pairs.size());
  for (const auto& [name, value] : pairs) env.push_back(fmt::format("{}={}", name, value));
  return env;
}

std::vector<std::string> InterpreterOf(const Command& command) {
  std::vector<std::string> words;
  for (const auto word : Split(command.interpreter, ' '))
    if (!word.empty()) words.emplace_back(word);
  if (words.empty()) words = ParseShebang(command.script);
  if (words.empty()) words.emplace_back("/bin/sh");
  return words;
}

// A process of the agent's own: it may have more rights than the user of the task, so it takes
// neither environment nor folder from the order.
Launch PlanOwn(Account account, std::vector<std::string> words) {
  Launch launch;
  launch.argv = std::move(words);
  launch.env = {fmt::format("PATH={}", kOwnPath), "HOME=/", "LANG=C.UTF-8"};
  launch.folder = "/";
  launch.folder_given = true;
  launch.account = std::move(account);
  return launch;
}

}  // namespace

Result<> CheckTransfer(const Command& command) {
  if (!command.argv.empty() || !command.script.empty() || (command.push && command.pull) ||
      command.reboot)
    return Fail(ErrorCode::kInvalid, "a command that moves files does nothing else");
  if (command.push && HasNul(command.push->owner))
    return Fail(ErrorCode::kInvalid, "the owner contains a NUL byte");
  if (HasNul(command.user)) return Fail(ErrorCode::kInvalid, "the user contains a NUL byte");
  return {};
}

Result<> CheckCommand(const Command& command) {
  if (command.MovesFiles()) return CheckTransfer(command);
  const int actions = static_cast<int>(!command.argv.empty()) +
                      static_cast<int>(!command.script.empty()) +
                      static_cast<int>(command.reboot != nullptr);
  if (actions != 1)
    return Fail(ErrorCode::kInvalid, "a command has either words to execute or a script");
  if (command.reboot)
    for (const auto& word : command.reboot->argv)
      if (HasNul(word)) return Fail(ErrorCode::kInvalid, "an argument contains a NUL byte");
  if (!command.argv.empty() && command.argv[0].empty())
    return Fail(ErrorCode::kInvalid, "the command to execute has an empty name");
  for (const auto* words : {&command.argv, &command.args})
    for (const auto& word : *words)
      if (HasNul(word)) return Fail(ErrorCode::kInvalid, "an argument contains a NUL byte");
  if (HasNul(command.interpreter) || HasNul(command.folder) || HasNul(command.user))
    return Fail(ErrorCode::kInvalid, "interpreter, folder or user contains a NUL byte");
  for (const auto& [name, value] : command.env)
    if (name.empty() || HasNul(name) || HasNul(value) || name.find('=') != std::string::npos)
      return Fail(ErrorCode::kInvalid, "'{}' cannot be an environment variable", name);
  return {};
}

std::vector<std::string> ParseShebang(std::string_view script) {
  if (!script.starts_with("#!")) return {};
  const auto line = Trim(script.substr(2, script.find('\n') - 2));
  if (line.empty()) return {};
  const auto space = line.find_first_of(" \t");
  if (space == std::string_view::npos) return {std::string(line)};
  return {std::string(line.substr(0, space)), std::string(Trim(line.substr(space)))};
}

Launch PlanTransfer(Account account, const std::string& folder) {
  // The program that the shim is, also when its file was replaced since.
  return PlanOwn(std::move(account), {"/proc/self/exe", "transfer", folder});
}

Launch PlanLaunch(const link::Order& order, Account account, const LaunchPaths& paths) {
  const Command& command = *order.command;
  if (command.reboot && command.reboot->argv.empty())
    return PlanOwn(std::move(account), RebootWords(*command.reboot, SystemdRuns()));
  Launch launch;
  launch.env = MakeEnv(order, account, paths.output);
  if (const auto variable =
          std::ranges::find(launch.env, fmt::format("{}{}", kOutputVariable, paths.output));
      variable != launch.env.end())
    launch.output = static_cast<std::size_t>(variable - launch.env.begin());
  launch.folder_given = !command.folder.empty();
  launch.folder = launch.folder_given ? command.folder : account.home;
  launch.account = std::move(account);
  if (!command.argv.empty()) launch.argv = command.argv;
  if (command.reboot) launch.argv = command.reboot->argv;
  if (!launch.argv.empty()) return launch;
  launch.argv = InterpreterOf(command);
  launch.script = launch.argv.size();
  launch.argv.push_back(paths.script);
  launch.argv.insert(launch.argv.end(), command.args.begin(), command.args.end());
  return launch;
}

std::string Explain(const Launch& launch, const LaunchFailure& failure) {
  const std::string problem = ErrnoText(failure.error);
  const bool missing = failure.error == ENOENT || failure.error == ENOTDIR;
  switch (failure.step) {
    case Step::kSession:
      return fmt::format("could not open a session: {}", problem);
    case Step::kStreams:
      return fmt::format("could not connect the streams: {}", problem);
    case Step::kUser:
      return fmt::format("could not become user '{}': {}", launch.account.name, problem);
    case Step::kFolder:
      if (missing) return fmt::format("folder '{}' does not exist on this host", launch.folder);
      return fmt::format("user '{}' cannot enter folder '{}': {}", launch.account.name,
                         launch.folder, problem);
    case Step::kGroup:
      return fmt::format("could not enter the task's control group: {}", problem);
    case Step::kKeyring:
      return fmt::format(
          "could not get a session keyring apart from those of other users' tasks: {}; see "
          "/proc/key-users, and raise kernel.keys.root_maxkeys",
          problem);
    case Step::kExec:
      break;
  }
  const std::string_view kind = launch.script ? "interpreter" : "command";
  const auto& program = launch.argv[0];
  if (missing) return fmt::format("{} '{}' not found on this host", kind, program);
  if (failure.error == E2BIG) return "arguments and environment are longer than this host allows";
  return fmt::format("user '{}' cannot execute {} '{}': {}", launch.account.name, kind, program,
                     problem);
}

}  // namespace muster::agent
