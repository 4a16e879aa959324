#include "agent/shim/task_child.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/keyctl.h>
#include <sched.h>
#include <string>
#include <string_view>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>

#include "agent/shim/bare_call.hpp"
#include "base/text.hpp"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define MUSTER_COPY_MEMORY  // a sanitizer has state of its own that two processes must not share
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define MUSTER_COPY_MEMORY
#endif
#endif

namespace muster::agent {
namespace {

constexpr std::size_t kStackBytes = 64 << 10;
constexpr int kScriptFd = 3;
constexpr const char* kScriptFdPath = "/dev/fd/3";
constexpr int kOutputFd = 4;
constexpr const char* kLoginUidPath = "/proc/self/loginuid";
constexpr const char* kShell = "/bin/sh";
constexpr int kFirstFreeFd = 5;
constexpr long kSignals = 64;
constexpr std::size_t kSignalMaskBytes = 8;

using Step = LaunchFailure::Step;

#ifdef MUSTER_COPY_MEMORY
constexpr bool kMayShare = false;
#else
constexpr bool kMayShare = kBareCalls;
#endif

// As the kernel has it: what a signal does comes first (but on MIPS), and all zero is the default.
using KernelAction = std::array<unsigned long, 8>;

// What this process ignores, and its children would too. glibc hides two of them, so by the bare
// call.
std::vector<int> IgnoredSignals() {
  std::vector<int> ignored;
  for (int number = 1; number <= kSignals; ++number) {
    KernelAction action{};
    BareCall(SYS_rt_sigaction, number, 0, Address(action.data()), kSignalMaskBytes);
    if (action[0] == reinterpret_cast<unsigned long>(SIG_IGN)) ignored.push_back(number);  // NOLINT
  }
  return ignored;
}

std::string_view ValueOf(const std::vector<std::string>& env, std::string_view name) {
  for (const std::string_view pair : env)
    if (pair.starts_with(name) && pair.substr(name.size()).starts_with('='))
      return pair.substr(name.size() + 1);
  return {};
}

// Where the program may be: in its own place, or in the folders of the task's PATH.
std::vector<std::string> PlacesOf(const Launch& launch) {
  const std::string& program = launch.argv[0];
  if (program.find('/') != std::string::npos) return {program};
  std::vector<std::string> places;
  for (const auto folder : Split(ValueOf(launch.env, "PATH"), ':'))
    places.push_back(fmt::format("{}/{}", folder.empty() ? "." : folder, program));
  return places;
}

// The kernel takes words as writable, and writes to none.
char* Word(const std::string& text) { return const_cast<char*>(text.c_str()); }  // NOLINT

std::vector<char*> Words(const std::vector<std::string>& texts) {
  std::vector<char*> words;
  words.reserve(texts.size() + 1);
  for (const auto& text : texts) words.push_back(Word(text));
  words.push_back(nullptr);
  return words;
}

// For the child as well.
char* Append(char* to, const char* text) {
  while (*text != '\0') *to++ = *text++;
  return to;
}

char* AppendNumber(char* to, long number) {
  char digits[20];
  int count = 0;
  do digits[count++] = static_cast<char>('0' + number % 10);
  while ((number /= 10) > 0);
  while (count > 0) *to++ = digits[--count];
  return to;
}

}  // namespace

// What the plan points to.
struct TaskChild::Memory {
  std::vector<int> ignored;
  std::vector<const char*> doors;
  std::vector<std::string> places;
  std::vector<const char*> programs;
  std::vector<char*> argv;
  std::vector<char*> shell_argv;
  std::vector<char*> env;
  std::array<char, 64> output_variable{};
  std::string login_uid;
  std::unique_ptr<char[]> stack = std::make_unique_for_overwrite<char[]>(kStackBytes);
};

// Everything the child needs, in the plainest of types: it runs none of anybody else's code.
struct TaskChild::Plan {
  LaunchFiles files;
  int failure_pipe;

  const int* ignored;
  std::size_t ignored_count;
  const char* const* doors;  // files that take a process into its control groups
  std::size_t door_count;

  bool switch_user;
  uid_t uid;
  gid_t gid;
  const gid_t* groups;
  std::size_t group_count;
  const char* login_uid;  // the number of the task's user, as text
  std::size_t login_uid_bytes;

  const char* folder;
  bool folder_given;

  char** argv;
  char** script;  // the word that names it, or none
  char** env;
  char** output;      // the variable that names it, or none
  char* output_room;  // for another value of it, which begins here
  std::size_t output_name_bytes;
  const char* const* programs;
  std::size_t program_count;
  char** shell_argv;  // room for two words more than argv has

  int Run();
  static int Enter(void* plan);

 private:
  [[nodiscard]] long ResetSignals() const;
  [[nodiscard]] long ConnectStreams() const;
  [[nodiscard]] long EnterGroups() const;
  [[nodiscard]] long EnterKeyring() const;
  void SetLoginUid() const;
  [[nodiscard]] long SwitchUser() const;
  [[nodiscard]] long EnterFolder() const;
  void MakeScriptReachable(long fd) const;
  void MakeOutputReachable(long fd) const;
  [[nodiscard]] long Attempt(const char* program) const;
  [[nodiscard]] long Exec() const;
};

// From here to Run() is what the child does. Each step returns 0, or -errno.

long TaskChild::Plan::ResetSignals() const {
  const unsigned long none = 0;
  const unsigned long plain[8] = {};
  for (std::size_t i = 0; i < ignored_count; ++i)
    BareCall(SYS_rt_sigaction, ignored[i], Address(plain), 0, kSignalMaskBytes);
  return BareCall(SYS_rt_sigprocmask, SIG_SETMASK, Address(&none), 0, kSignalMaskBytes);
}

long TaskChild::Plan::ConnectStreams() const {
  const int from[] = {files.in, files.out, files.err};
  for (int stream = 0; stream < 3; ++stream)
    if (const long result = BareCall(SYS_dup3, from[stream], stream, 0); result < 0) return result;
  return 0;
}

long TaskChild::Plan::EnterGroups() const {
  for (std::size_t i = 0; i < door_count; ++i) {
    const long fd =
        BareCall(SYS_openat, AT_FDCWD, Address(doors[i]), O_WRONLY | O_TRUNC | O_CLOEXEC);
    if (fd < 0) return fd;
    const long wrote = BareCall(SYS_write, fd, Address("0"), 1);
    BareCall(SYS_close, fd);
    if (wrote < 0) return wrote;
  }
  return 0;
}

// A process may read and change its session keyring, and the agent's service shares one among all
// its processes. Joined before the user changes, so that the new one counts against root's quota: a
// user could fill their own, and the join would fail. Where the call is missing or forbidden, the
// task cannot use keyrings either.
long TaskChild::Plan::EnterKeyring() const {
  const long keyring = BareCall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, 0);
  if (keyring >= 0 || keyring == -ENOSYS || keyring == -EPERM) return 0;
  return switch_user ? keyring : 0;
}

// Otherwise the task could choose the user that the kernel's audit records for it. Refused where it
// is set already and must stay, and missing in many containers.
void TaskChild::Plan::SetLoginUid() const {
  const long fd = BareCall(SYS_openat, AT_FDCWD, Address(kLoginUidPath), O_WRONLY | O_CLOEXEC);
  if (fd < 0) return;
  BareCall(SYS_write, fd, Address(login_uid), static_cast<long>(login_uid_bytes));
  BareCall(SYS_close, fd);
}

long TaskChild::Plan::SwitchUser() const {
  if (!switch_user) return 0;
  if (const long result = BareCall(SYS_setgroups, static_cast<long>(group_count), Address(groups));
      result < 0)
    return result;
  if (const long result = BareCall(SYS_setgid, gid); result < 0) return result;
  return BareCall(SYS_setuid, uid);
}

long TaskChild::Plan::EnterFolder() const {
  const long entered = BareCall(SYS_chdir, Address(folder));
  return entered == 0 || folder_given ? entered : BareCall(SYS_chdir, Address("/"));
}

// The agent's data folder may be closed to the task's user. The script is not: it is opened
// already, and the user owns it, so it can be read through its descriptor.
void TaskChild::Plan::MakeScriptReachable(long fd) const {
  if (script == nullptr) return;
  if (BareCall(SYS_faccessat, AT_FDCWD, Address(*script), R_OK) == 0) return;
  BareCall(SYS_dup3, fd, kScriptFd, 0);
  *script = const_cast<char*>(kScriptFdPath);  // NOLINT
}

// Likewise. Named by this process's number, so that it is reached from every process of the task,
// also from one whose parent closed all descriptors but the streams.
void TaskChild::Plan::MakeOutputReachable(long fd) const {
  if (output == nullptr) return;
  if (BareCall(SYS_faccessat, AT_FDCWD, Address(*output + output_name_bytes), W_OK) == 0) return;
  BareCall(SYS_dup3, fd, kOutputFd, 0);
  char* end = output_room + output_name_bytes;
  end = AppendNumber(Append(end, "/proc/"), BareCall(SYS_getpid));
  end = AppendNumber(Append(end, "/fd/"), kOutputFd);
  *end = '\0';
  *output = output_room;
}

long TaskChild::Plan::Attempt(const char* program) const {
  const long error = BareCall(SYS_execve, Address(program), Address(argv), Address(env));
  if (error != -ENOEXEC) return error;
  // A file without #! line is a shell script, as for every shell.
  shell_argv[0] = const_cast<char*>(kShell);   // NOLINT
  shell_argv[1] = const_cast<char*>(program);  // NOLINT
  for (std::size_t i = 1; argv[i - 1] != nullptr; ++i) shell_argv[i + 1] = argv[i];
  return BareCall(SYS_execve, Address(shell_argv[0]), Address(shell_argv), Address(env));
}

// Returns the error that tells most.
long TaskChild::Plan::Exec() const {
  long problem = -ENOENT;
  for (std::size_t i = 0; i < program_count; ++i) {
    const long error = Attempt(programs[i]);
    if (error != -ENOENT && error != -ENOTDIR) problem = error;
    if (program_count == 1) problem = error;
  }
  return problem;
}

// On a stack of its own, which the address sanitizer does not know: it would say so before each
// call that does not return.
[[gnu::no_sanitize_address]] int TaskChild::Plan::Run() {
  const auto fail = [](int pipe, Step step, long error) {
    const LaunchFailure failure{step, static_cast<int>(-error)};
    BareCall(SYS_write, pipe, Address(&failure), sizeof failure);
    for (;;) BareCall(SYS_exit_group, 127);
  };
  const auto check = [&](Step step, long result) {
    if (result < 0) fail(failure_pipe, step, result);
  };
  check(Step::kSession, ResetSignals());
  BareCall(SYS_umask, 022);
  check(Step::kSession, BareCall(SYS_setsid));
  check(Step::kStreams, ConnectStreams());
  check(Step::kGroup, EnterGroups());
  check(Step::kKeyring, EnterKeyring());
  SetLoginUid();
  check(Step::kUser, SwitchUser());
  check(Step::kFolder, EnterFolder());
  // Ours are all close-on-exec; this is for descriptors that name service modules left open.
  BareCall(SYS_close_range, STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC);
  // Away from the numbers that script and outputs may get.
  const auto raise = [](int fd) {
    return fd < 0 ? fd : BareCall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, kFirstFreeFd);
  };
  const long pipe = raise(failure_pipe);
  const long script_fd = raise(files.script);
  const long output_fd = raise(files.output);
  MakeScriptReachable(script_fd);
  MakeOutputReachable(output_fd);
  fail(static_cast<int>(pipe), Step::kExec, Exec());
  return 127;
}

[[gnu::no_sanitize_address]] int TaskChild::Plan::Enter(void* plan) {
  return static_cast<Plan*>(plan)->Run();
}

TaskChild::TaskChild(const Launch& launch, const LaunchFiles& files, int failure_pipe)
    : memory_(std::make_unique<Memory>()), plan_(std::make_unique<Plan>()) {
  static const std::vector<int> ignored = IgnoredSignals();
  Memory& memory = *memory_;
  for (const auto& door : launch.group.Doors()) memory.doors.push_back(door.c_str());
  memory.places = PlacesOf(launch);
  for (const auto& place : memory.places) memory.programs.push_back(place.c_str());
  memory.argv = Words(launch.argv);
  memory.env = Words(launch.env);
  memory.shell_argv.resize(memory.argv.size() + 1);
  std::ranges::copy(kOutputVariable, memory.output_variable.begin());
  memory.login_uid = std::to_string(launch.account.uid);

  plan_->files = files;
  plan_->failure_pipe = failure_pipe;
  plan_->ignored = ignored.data();
  plan_->ignored_count = ignored.size();
  plan_->doors = memory.doors.data();
  plan_->door_count = memory.doors.size();
  plan_->switch_user = launch.account.switch_to;
  plan_->uid = launch.account.uid;
  plan_->gid = launch.account.gid;
  plan_->groups = launch.account.groups.data();
  plan_->group_count = launch.account.groups.size();
  plan_->login_uid = memory.login_uid.c_str();
  plan_->login_uid_bytes = memory.login_uid.size();
  plan_->folder = launch.folder.c_str();
  plan_->folder_given = launch.folder_given;
  plan_->argv = memory.argv.data();
  plan_->script = launch.script ? &memory.argv[*launch.script] : nullptr;
  plan_->env = memory.env.data();
  plan_->output = launch.output ? &memory.env[*launch.output] : nullptr;
  plan_->output_room = memory.output_variable.data();
  plan_->output_name_bytes = kOutputVariable.size();
  plan_->programs = memory.programs.data();
  plan_->program_count = memory.programs.size();
  plan_->shell_argv = memory.shell_argv.data();
  // One that changes its user must not share what is root's, nor one that is to be charged for its
  // memory.
  shares_memory_ = kMayShare && !launch.account.switch_to && !launch.group;
}

TaskChild::~TaskChild() = default;

pid_t TaskChild::Start() {
  const int flags = SIGCHLD | (shares_memory_ ? CLONE_VM : 0);
  const int pid = ::clone(Plan::Enter, memory_->stack.get() + kStackBytes, flags, plan_.get());
  return pid < 0 ? -errno : pid;
}

}  // namespace muster::agent
