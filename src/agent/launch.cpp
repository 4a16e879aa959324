#include "agent/launch.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <grp.h>
#include <linux/close_range.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agent/files.hpp"
#include "agent/reboot.hpp"
#include "base/text.hpp"

namespace muster::agent {
namespace {

constexpr std::string_view kPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
constexpr int kScriptFd = 3;
constexpr const char* kScriptFdPath = "/dev/fd/3";
constexpr int kOutputFd = 4;
constexpr int kFirstFreeFd = 5;
constexpr std::string_view kOutputVariable = "MUSTER_OUTPUT=";

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
  for (const auto& [name, value] : pairs) env.push_back(name + "=" + value);
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

std::string_view ValueOf(const std::vector<std::string>& env, std::string_view name) {
  for (const std::string_view pair : env)
    if (pair.starts_with(name) && pair.substr(name.size()).starts_with('='))
      return pair.substr(name.size() + 1);
  return {};
}

std::vector<char*> Pointers(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (auto& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

// glibc keeps these for itself: it tells its threads with them to change their user.
constexpr std::array kSignalsOfLibc{32, 33};

// By the bare system call: glibc leaves its own two ignored when our own parent ignored them. All
// zero is the default action in every kernel's layout of the structure.
void ResetSignal(int number) {
  constexpr std::size_t kMaskBytes = 8;
  const std::array<unsigned long, 8> plain{};
  ::syscall(SYS_rt_sigaction, number, plain.data(), nullptr, kMaskBytes);
}

void ResetSignals() {
  for (int number = 1; number < NSIG; ++number)
    if (std::ranges::find(kSignalsOfLibc, number) == kSignalsOfLibc.end()) ResetSignal(number);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

bool SwitchUser(const Account& account) {
  if (!account.switch_to) return true;
  return ::setgroups(account.groups.size(), account.groups.data()) == 0 &&
         ::setgid(account.gid) == 0 && ::setuid(account.uid) == 0;
}

bool EnterFolder(const Launch& launch) {
  if (::chdir(launch.folder.c_str()) == 0) return true;
  return !launch.folder_given && ::chdir("/") == 0;
}

bool ConnectStreams(const LaunchFiles& files) {
  return ::dup2(files.in, STDIN_FILENO) >= 0 && ::dup2(files.out, STDOUT_FILENO) >= 0 &&
         ::dup2(files.err, STDERR_FILENO) >= 0;
}

// The agent's data folder may be closed to the task's user. The script is not: it is opened
// already, and the user owns it, so it can be read through its descriptor.
void MakeScriptReachable(Launch& launch, int script_fd) {
  if (!launch.script) return;
  auto& path = launch.argv[*launch.script];
  if (::access(path.c_str(), R_OK) == 0) return;
  ::dup2(script_fd, kScriptFd);
  path = kScriptFdPath;
}

// Likewise. Named by this process's number, so that it is reached from every process of the task,
// also from one whose parent closed all descriptors but the streams.
void MakeOutputReachable(Launch& launch, int output_fd) {
  if (!launch.output) return;
  auto& variable = launch.env[*launch.output];
  if (::access(variable.c_str() + kOutputVariable.size(), W_OK) == 0) return;
  ::dup2(output_fd, kOutputFd);
  variable = fmt::format("{}/proc/{}/fd/{}", kOutputVariable, ::getpid(), kOutputFd);
}

// Away from the numbers that the files above may get.
int Raise(int fd) { return fd < 0 ? fd : ::fcntl(fd, F_DUPFD_CLOEXEC, kFirstFreeFd); }

// Returns the errno that tells most.
int Exec(Launch& launch) {
  auto argv = Pointers(launch.argv);
  auto env = Pointers(launch.env);
  const auto attempt = [&](std::string path) {
    ::execve(path.c_str(), argv.data(), env.data());
    if (errno != ENOEXEC) return errno;
    // A file without #! line is a shell script, as for every shell.
    std::string shell = "/bin/sh";
    std::vector<char*> words = {shell.data(), path.data()};
    words.insert(words.end(), argv.begin() + 1, argv.end());
    ::execve(shell.c_str(), words.data(), env.data());
    return errno;
  };
  const std::string& program = launch.argv[0];
  if (program.find('/') != std::string::npos) return attempt(program);
  int problem = ENOENT;
  for (const auto folder : Split(ValueOf(launch.env, "PATH"), ':')) {
    const int error = attempt(fmt::format("{}/{}", folder.empty() ? "." : folder, program));
    if (error != ENOENT && error != ENOTDIR) problem = error;
  }
  return problem;
}

}  // namespace

Result<> CheckTransfer(const Command& command) {
  if (!command.argv.empty() || !command.script.empty() || (command.push && command.pull))
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

Launch PlanTransfer(const link::Order& order, Account account, const std::string& folder) {
  Launch launch;
  launch.env = MakeEnv(order, account, "");
  launch.folder = "/";
  launch.folder_given = true;
  launch.account = std::move(account);
  // The program that the shim is, also when its file was replaced since.
  launch.argv = {"/proc/self/exe", "transfer", folder};
  return launch;
}

Launch PlanLaunch(const link::Order& order, Account account, const LaunchPaths& paths) {
  const Command& command = *order.command;
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
  if (command.reboot) launch.argv = RebootWords(*command.reboot, SystemdRuns());
  if (!launch.argv.empty()) return launch;
  launch.argv = InterpreterOf(command);
  launch.script = launch.argv.size();
  launch.argv.push_back(paths.script);
  launch.argv.insert(launch.argv.end(), command.args.begin(), command.args.end());
  return launch;
}

void Become(const Launch& launch, const LaunchFiles& files, int failure_pipe) {
  const auto fail = [&](Step step) {
    const LaunchFailure failure{step, errno};
    [[maybe_unused]] const auto wrote = ::write(failure_pipe, &failure, sizeof failure);
    ::_exit(127);
  };
  Launch mine = launch;
  ResetSignals();
  ::umask(022);
  if (::setsid() < 0) fail(Step::kSession);
  if (!ConnectStreams(files)) fail(Step::kStreams);
  if ((errno = mine.group.Enter()) != 0) fail(Step::kGroup);
  if (!SwitchUser(mine.account)) fail(Step::kUser);
  for (const int number : kSignalsOfLibc) ResetSignal(number);  // not before: it may need them
  if (!EnterFolder(mine)) fail(Step::kFolder);
  // Ours are all close-on-exec; this is for descriptors that name service modules left open.
  ::close_range(STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC);
  failure_pipe = Raise(failure_pipe);
  const int script = Raise(files.script);
  const int output = Raise(files.output);
  MakeScriptReachable(mine, script);
  MakeOutputReachable(mine, output);
  errno = Exec(mine);
  fail(Step::kExec);
  ::_exit(127);
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
