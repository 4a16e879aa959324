#include "agent/tasks/spawner.hpp"

#include <csignal>
#include <poll.h>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>

#include "runner_fixture.hpp"

namespace muster::agent {
namespace {

class SpawnerTest : public RunnerTest {
 protected:
  void SetUp() override {
    auto spawner = Spawner::Start();
    ASSERT_TRUE(spawner) << spawner.error().message;
    spawner_ = std::move(*spawner);
    options_.spawner = &spawner_;
    OpenRunner();
  }
  static std::vector<pid_t> Children() {
    std::vector<pid_t> pids;
    const auto text = ReadFile(fmt::format("/proc/self/task/{}/children", ::getpid()));
    std::istringstream words(text ? *text : "");
    for (pid_t pid = 0; words >> pid;) pids.push_back(pid);
    return pids;
  }
  static std::string CommandLine(pid_t pid) {
    const auto text = ReadFile(fmt::format("/proc/{}/cmdline", pid));
    return text ? text->c_str() : "";
  }
  pid_t SpawnerPid() {
    pid_t found = 0;
    EXPECT_TRUE(WaitFor([&] {
      for (const pid_t pid : Children())
        if (CommandLine(pid) == "muster-agent spawner") found = pid;
      return found != 0;
    }));
    return found;
  }

  Spawner spawner_;
};

TEST_F(SpawnerTest, ItsShimRunsTheTask) {
  const auto outcome = RunScript("echo out; echo err >&2; exit 3");
  EXPECT_EQ(outcome.end.state, TaskState::kFailed);
  EXPECT_EQ(outcome.end.exit_code, 3);
  EXPECT_EQ(outcome.out, "out\n");
  EXPECT_EQ(outcome.err, "err\n");
}

TEST_F(SpawnerTest, ATaskStartsAsUnderAnyShim) {
  const auto outcome = RunScript(
      "ps -o sid=,pgid= -p $$ | tr -s ' ' | grep -qx \" *$$ $$\" && echo own session; umask; ls "
      "/proc/self/fd | tr '\\n' ' '; grep SigBlk /proc/self/status; grep SigIgn "
      "/proc/self/status; env | cut -d= -f1 | sort | tr '\\n' ' '");
  EXPECT_EQ(
      outcome.out,
      "own session\n0022\n0 1 2 3 SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n"
      "HOME LANG LOGNAME MUSTER_HOST MUSTER_OUTPUT MUSTER_RUN MUSTER_STAGE PATH PWD SHELL USER ")
      << outcome.err;
}

TEST_F(SpawnerTest, ItsShimIsOurChildAndNamesItsFolder) {
  const auto task = Start(Script("echo up; sleep 300"));
  ASSERT_TRUE(WaitForOutput(task, "up"));
  pid_t shim = 0;
  for (const pid_t pid : Children())
    if (CommandLine(pid).starts_with("muster-agent shim ")) shim = pid;
  ASSERT_NE(shim, 0);
  EXPECT_EQ(CommandLine(shim), "muster-agent shim " + TaskPath(task));
  EXPECT_EQ(LockHolder({TaskPath(task)}), shim);
  // Forked, not started: else it were the agent's program.
  EXPECT_EQ(std::filesystem::read_symlink(fmt::format("/proc/{}/exe", shim)),
            std::filesystem::read_symlink("/proc/self/exe"));
  runner_->Kill(task, {});
  EXPECT_EQ(Await(task).end.state, TaskState::kKilled);
}

TEST_F(SpawnerTest, NothingOfTheAgentsEnvironmentCanBeReadThere) {
  const auto task = Start(Script("echo up; sleep 300"));
  ASSERT_TRUE(WaitForOutput(task, "up"));
  ASSERT_NE(ReadFile("/proc/self/environ")->find("PATH="), std::string::npos);
  int seen = 0;
  for (const pid_t pid : Children()) {
    if (CommandLine(pid).empty()) continue;  // it has ended, and nobody waited for it yet
    const auto environment = ReadFile(fmt::format("/proc/{}/environ", pid));
    ASSERT_TRUE(environment);
    EXPECT_EQ(environment->find("PATH="), std::string::npos) << CommandLine(pid);
    ++seen;
  }
  EXPECT_GE(seen, 2);
  runner_->Kill(task, {});
  Await(task);
}

TEST_F(SpawnerTest, AShimThatWaitsTakesTheNextTask) {
  const auto after = [&](const Outcome& outcome) {
    const auto pid = static_cast<pid_t>(std::stoi(outcome.out));
    EXPECT_TRUE(WaitFor([&] { return CommandLine(pid) == "muster-agent shim, waiting"; }));
    return outcome.out;
  };
  const auto first = after(RunScript("echo $PPID; sleep 0 &"));
  EXPECT_EQ(first, after(RunScript("echo $PPID")));
  const auto failed = RunScript("echo $PPID; exit 7");
  EXPECT_EQ(failed.end.exit_code, 7);
  EXPECT_EQ(first, after(failed));
  EXPECT_EQ(first, after(RunScript("echo $PPID; umask >&2")));
  EXPECT_EQ(RunScript("umask; ls /proc/self/fd | tr '\\n' ' '").out, "0022\n0 1 2 3 ");
}

TEST_F(SpawnerTest, AShimThatLeftSomethingBehindTakesNoOther) {
  const auto first = RunScript("echo $PPID; sleep 300 >/dev/null 2>&1 & echo $! >&2");
  EXPECT_TRUE(first.end.leftovers);
  EXPECT_NE(first.out, RunScript("echo $PPID").out);
  ::kill(std::stoi(first.err), SIGKILL);
}

// Its orphans end all the time, so one is there to be waited for whenever the shim looks.
TEST_F(SpawnerTest, AShimThatLeftSomethingBehindBesideTheDeadTakesNoOther) {
  for (int i = 0; i < 8; ++i) {
    const auto first =
        RunScript("echo $PPID; while :; do (: &); done >/dev/null 2>&1 & echo $! >&2");
    EXPECT_TRUE(first.end.leftovers);
    EXPECT_NE(first.out, RunScript("echo $PPID").out);
    ::kill(std::stoi(first.err), SIGKILL);
  }
}

TEST_F(SpawnerTest, AKillOfATaskThatEndedUnnoticedDoesNotReachTheNextOne) {
  const std::string file = folder_ / "pid";
  const auto first = Start(Script("echo $PPID > " + file));
  // Without the runner, which would notice.
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  const auto waits = [&] {
    const auto pid = ReadFile(file);
    return pid && pid->ends_with('\n') &&
           CommandLine(std::stoi(*pid)) == "muster-agent shim, waiting";
  };
  while (!waits() && std::chrono::steady_clock::now() < deadline) ::poll(nullptr, 0, 10);
  const auto next = Start(Script("echo $PPID; sleep 0.2"));
  runner_->Kill(first, {});
  const auto outcome = Await(next);
  EXPECT_EQ(outcome.end.state, TaskState::kSucceeded);
  EXPECT_EQ(outcome.out, *ReadFile(file));
  EXPECT_EQ(Await(first).end.state, TaskState::kSucceeded);
}

TEST_F(SpawnerTest, AShimThatCannotKeepTheEndOfItsTaskIsGone) {
  // Or the disk is broken.
  const auto task = Start(Script("echo $PPID; rm \"${MUSTER_OUTPUT%/*}/exit.new\""));
  ASSERT_TRUE(WaitForOutput(task, "\n"));
  const auto pid = static_cast<pid_t>(std::stoi(OutputOf(task, Stream::kStdout)));
  const std::string working = "muster-agent shim " + TaskPath(task);
  ASSERT_TRUE(WaitFor([&] { return CommandLine(pid) != working; }));
  EXPECT_EQ(CommandLine(pid), "");
  EXPECT_NE(Await(task).end.state, TaskState::kSucceeded);
}

TEST_F(SpawnerTest, AKillThatComesTooLateDoesNotReachTheNextTask) {
  const auto pid = static_cast<pid_t>(std::stoi(RunScript("echo $PPID").out));
  ASSERT_TRUE(WaitFor([&] { return CommandLine(pid) == "muster-agent shim, waiting"; }));
  sigval grace{};
  ASSERT_EQ(::sigqueue(pid, SIGUSR1, grace), 0);
  const auto next = RunScript("echo $PPID");
  EXPECT_EQ(next.end.state, TaskState::kSucceeded);
  EXPECT_EQ(next.out, fmt::format("{}\n", pid));
}

TEST_F(SpawnerTest, AWaitingShimThatWasKilledLosesNoTask) {
  const auto pid = static_cast<pid_t>(std::stoi(RunScript("echo $PPID").out));
  ASSERT_TRUE(WaitFor([&] { return CommandLine(pid) == "muster-agent shim, waiting"; }));
  ASSERT_EQ(::kill(pid, SIGKILL), 0);
  EXPECT_EQ(RunScript("echo still").out, "still\n");
  EXPECT_EQ(RunScript("echo again").out, "again\n");
  EXPECT_TRUE(spawner_);
}

TEST_F(SpawnerTest, AWaitingShimEndsWithItsAgent) {
  const auto pid = static_cast<pid_t>(std::stoi(RunScript("echo $PPID").out));
  ASSERT_TRUE(WaitFor([&] { return CommandLine(pid) == "muster-agent shim, waiting"; }));
  spawner_ = Spawner();
  EXPECT_TRUE(WaitFor([&] { return CommandLine(pid).empty(); }));
}

TEST_F(SpawnerTest, WithoutItTheAgentStartsShimsItself) {
  const pid_t pid = SpawnerPid();
  ASSERT_NE(pid, 0);
  ::kill(pid, SIGKILL);
  ASSERT_EQ(::waitpid(pid, nullptr, 0), pid);
  EXPECT_EQ(RunScript("echo still").out, "still\n");
  EXPECT_FALSE(spawner_);
}

TEST_F(SpawnerTest, ItEndsWithItsAgentAndTheShimsDoNot) {
  const pid_t pid = SpawnerPid();
  ASSERT_NE(pid, 0);
  const auto task = Start(Script("echo up; sleep 300"));
  ASSERT_TRUE(WaitForOutput(task, "up"));
  spawner_ = Spawner();
  ASSERT_EQ(::waitpid(pid, nullptr, 0), pid);
  EXPECT_TRUE(LockHolder({TaskPath(task)}));
  runner_->Kill(task, {});
  EXPECT_EQ(Await(task).end.state, TaskState::kKilled);
}

}  // namespace
}  // namespace muster::agent
