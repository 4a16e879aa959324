#include "agent/shim/process_handle.hpp"

#include <csignal>
#include <linux/sched.h>
#include <set>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "agent/shim/processes.hpp"

namespace muster::agent {
namespace {

// A child that waits for signals; ended with the object.
class Sleeper {
 public:
  // With `number`, the child gets that process id, which must be free; only root may ask for one.
  explicit Sleeper(pid_t number = 0) {
    clone_args args{};
    args.exit_signal = SIGCHLD;
    if (number > 0) {
      args.set_tid = reinterpret_cast<std::uint64_t>(&number);
      args.set_tid_size = 1;
    }
    const long made = ::syscall(SYS_clone3, &args, sizeof args);
    if (made == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      for (;;) ::pause();
    }
    if (made > 1) pid_ = static_cast<pid_t>(made);
  }
  Sleeper(const Sleeper&) = delete;
  Sleeper& operator=(const Sleeper&) = delete;
  ~Sleeper() { End(); }

  pid_t Pid() const { return pid_; }  // 0: it was not made, or has been reaped

  // The signal that ended it, which has been sent already.
  int Reap() {
    int status = 0;
    const bool reaped = pid_ > 1 && ::waitpid(pid_, &status, 0) == pid_;
    pid_ = 0;
    return reaped && WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  }
  void End() {
    // Never anything but a child: 0 and negative numbers mean many processes to kill().
    if (pid_ <= 1) return;
    ::kill(pid_, SIGKILL);
    Reap();
  }

 private:
  pid_t pid_ = 0;
};

TEST(ProcessHandle, SignalsTheProcessThatItHolds) {
  Sleeper sleeper;
  ASSERT_GT(sleeper.Pid(), 1);
  const auto handle = ProcessHandle::Hold(sleeper.Pid());
  ASSERT_TRUE(handle);
  EXPECT_TRUE(handle.Signal(0));
  EXPECT_TRUE(handle.Queue(SIGUSR1, 7));
  EXPECT_EQ(sleeper.Reap(), SIGUSR1);
  EXPECT_FALSE(handle.Signal(0));
}

TEST(ProcessHandle, LeavesAnotherProcessOfTheSameNumberAlone) {
  Sleeper first;
  const pid_t number = first.Pid();
  ASSERT_GT(number, 1);
  const auto handle = ProcessHandle::Hold(number);
  first.End();
  Sleeper second(number);
  ASSERT_EQ(second.Pid(), number) << "needs root";
  EXPECT_FALSE(handle.Signal(SIGTERM));
  EXPECT_FALSE(handle.Queue(SIGUSR1, 7));
  ASSERT_TRUE(ProcessHandle::Hold(number).Signal(SIGINT));
  EXPECT_EQ(second.Reap(), SIGINT) << "and none that came before";
}

TEST(ProcessHandle, HoldsNothingWhereThereIsNoProcess) {
  Sleeper sleeper;
  const pid_t number = sleeper.Pid();
  ASSERT_GT(number, 1);
  sleeper.End();
  for (const pid_t pid : {number, 0, -1}) {
    const auto handle = ProcessHandle::Hold(pid);
    EXPECT_FALSE(handle);
    EXPECT_FALSE(handle.Signal(0));
    EXPECT_FALSE(handle.Queue(0, 0));
  }
}

TEST(EachDescendant, FindsChildrenAndHoldsThem) {
  Sleeper one;
  Sleeper two;
  ASSERT_GT(one.Pid(), 1);
  ASSERT_GT(two.Pid(), 1);
  const std::set<pid_t> children = {one.Pid(), two.Pid()};
  std::set<pid_t> found;
  EachDescendant(::getpid(), [&](const Process& process, const ProcessHandle& handle) {
    if (children.contains(process.pid) && handle.Signal(SIGUSR1)) found.insert(process.pid);
  });
  EXPECT_EQ(found, children);
  EXPECT_EQ(one.Reap(), SIGUSR1);
  EXPECT_EQ(two.Reap(), SIGUSR1);
}

}  // namespace
}  // namespace muster::agent
