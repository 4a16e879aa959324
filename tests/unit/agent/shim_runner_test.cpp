// What the runner remembers: through its own end, its shims' ends, and reboots.
#include "agent/tasks/shim_runner.hpp"

#include <csignal>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "adapters/crypto/digest.hpp"
#include "agent/shim/shim_lock.hpp"
#include "agent/tasks/task_folder.hpp"
#include "runner_fixture.hpp"
#include "support/eventually.hpp"

namespace muster::agent {
namespace {

class ShimRunnerTest : public RunnerTest {
 protected:
  // A script that counts its own runs, says "running", and ends when `go` is there.
  Command Counted() {
    Command command = Script(
        "echo run >> \"$COUNT\"; echo running; while [ ! -e \"$GO\" ]; do sleep 0.02; done; echo "
        "over");
    command.env = {{"COUNT", folder_ / "count"}, {"GO", folder_ / "go"}};
    return command;
  }
  void LetItEnd() { ASSERT_TRUE(WriteFile(folder_ / "go", "")); }
  std::string Count() { return ReadFile(folder_ / "count").value_or(""); }

  TaskEnd HeldEnd(const TaskKey& task) {
    for (const auto& held : held_)
      if (held.task.task == task && held.task.end) return *held.task.end;
    ADD_FAILURE() << FolderName(task) << " is not held as one that ended";
    return {};
  }

  void PretendBoot(const std::string& id) {
    options_.boot_id_file = folder_ / "boot_id";
    ASSERT_TRUE(WriteFile(options_.boot_id_file, id + "\n"));
  }
};

TEST_F(ShimRunnerTest, SameTaskTwiceIsAConflict) {
  const auto order = MakeOrder(Counted());
  ASSERT_TRUE(runner_->Start(order));
  const auto again = runner_->Start(order);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, ErrorCode::kConflict);
  LetItEnd();
  Await(order.task);
  EXPECT_EQ(runner_->Start(order).error().code, ErrorCode::kConflict);
  EXPECT_EQ(Count(), "run\n");
}

TEST_F(ShimRunnerTest, ForgottenTaskLeavesNothing) {
  const auto task = Start(Script("echo x"));
  Await(task);
  runner_->Forget(task);
  EXPECT_FALSE(Exists(TaskPath(task)));
  EXPECT_EQ(runner_->Read(task, 0, 10).error().code, ErrorCode::kNotFound);
  OpenRunner();
  EXPECT_TRUE(held_.empty());
}

TEST_F(ShimRunnerTest, RunningTaskIsNotForgotten) {
  const auto task = Start(Counted());
  runner_->Forget(task);
  LetItEnd();
  EXPECT_EQ(Await(task).end.state, TaskState::kSucceeded);
}

TEST_F(ShimRunnerTest, TaskMayBeForgottenWhileItsEndIsTold) {
  ProcessRunner::Events events;
  int ends = 0;
  ShimRunner* runner = nullptr;
  events.on_end = [&](const TaskKey& task, const TaskEnd&) {
    ++ends;
    runner->Forget(task);
    runner->Poll();
  };
  runner_ = std::make_unique<ShimRunner>(options_, events);
  runner = runner_.get();
  ASSERT_TRUE(runner_->Recover());
  for (int i = 0; i < 5; ++i) Start(Script("echo x"));
  EXPECT_TRUE(WaitFor([&] { return ends == 5; }));
}

TEST_F(ShimRunnerTest, NewRunnerAttachesToWhatRuns) {
  const auto task = Start(Counted());
  ASSERT_TRUE(WaitForOutput(task, "running"));
  OpenRunner();
  ASSERT_EQ(held_.size(), 1U);
  EXPECT_EQ(held_[0].task.task, task);
  EXPECT_EQ(held_[0].task.state, link::HeldState::kRunning);
  EXPECT_EQ(held_[0].spooled, 8U);
  LetItEnd();
  const auto outcome = Await(task);
  EXPECT_EQ(outcome.end.state, TaskState::kSucceeded);
  EXPECT_EQ(outcome.out, "running\nover\n");
  EXPECT_EQ(Count(), "run\n");
}

TEST_F(ShimRunnerTest, NewRunnerCanKillWhatItAttachedTo) {
  const auto task = Start(Counted());
  ASSERT_TRUE(WaitForOutput(task, "running"));
  OpenRunner();
  runner_->Kill(task, Duration::zero());
  EXPECT_EQ(Await(task).end.state, TaskState::kKilled);
}

TEST_F(ShimRunnerTest, NewRunnerReportsWhatEnded) {
  const auto task = Start(Script("echo x; exit 9"));
  const auto end = Await(task).end;
  OpenRunner();
  ASSERT_EQ(held_.size(), 1U);
  EXPECT_EQ(held_[0].task.state, link::HeldState::kEnded);
  EXPECT_EQ(held_[0].task.end, end);
  EXPECT_EQ(held_[0].spooled, 2U);
  EXPECT_EQ(OutputOf(task, Stream::kStdout), "x\n");
}

TEST_F(ShimRunnerTest, TaskOutlivesAKilledAgentAndRunsOnce) {
  const auto order = MakeOrder(Counted());
  runner_.reset();
  const pid_t agent = ::fork();
  ASSERT_GE(agent, 0);
  if (agent == 0) {
    ::setsid();
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    auto mine = MakeRunner();
    if (!mine->Recover() || !mine->Start(order)) ::_exit(1);
    for (;;) ::pause();
  }
  const bool runs = WaitFor([&] { return Count() == "run\n"; });
  // Its whole group is killed, as a service manager might.
  ::kill(-agent, SIGKILL);
  ASSERT_EQ(::waitpid(agent, nullptr, 0), agent);
  ASSERT_TRUE(runs);
  OpenRunner();
  ASSERT_EQ(held_.size(), 1U);
  EXPECT_EQ(held_[0].task.state, link::HeldState::kRunning);
  LetItEnd();
  EXPECT_EQ(Await(order.task).out, "running\nover\n");
  EXPECT_EQ(Count(), "run\n");
}

TEST_F(ShimRunnerTest, KilledShimIsLost) {
  const auto task = Start(Counted());
  ASSERT_TRUE(WaitForOutput(task, "running"));
  const auto shim = LockHolder({TaskPath(task)});
  ASSERT_TRUE(shim);
  ::kill(*shim, SIGKILL);
  const auto outcome = Await(task);
  LetItEnd();
  EXPECT_EQ(outcome.end.state, TaskState::kLost);
  EXPECT_TRUE(outcome.end.reason.ends_with("the command may still run there"));
  ASSERT_TRUE(outcome.end.log);
  EXPECT_TRUE(outcome.end.log->gap);
  EXPECT_EQ(outcome.end.log->bytes, 8U);
  EXPECT_EQ(outcome.end.log->stdout_sha256, crypto::Sha256("running\n"));
}

TEST_F(ShimRunnerTest, ShimKilledWhileNoAgentLivedIsLost) {
  const auto task = Start(Counted());
  ASSERT_TRUE(WaitForOutput(task, "running"));
  const auto shim = LockHolder({TaskPath(task)});
  ASSERT_TRUE(shim);
  runner_.reset();
  ::kill(*shim, SIGKILL);
  ASSERT_EQ(::waitpid(*shim, nullptr, 0), *shim);
  OpenRunner();
  LetItEnd();
  ASSERT_EQ(held_.size(), 1U);
  ASSERT_TRUE(held_[0].task.end);
  EXPECT_EQ(held_[0].task.end->state, TaskState::kLost);
  EXPECT_TRUE(held_[0].task.end->reason.ends_with("the command may still run there"));
}

TEST_F(ShimRunnerTest, TornEndOfTheSpoolIsCutOff) {
  const auto task = Start(Counted());
  ASSERT_TRUE(WaitForOutput(task, "running"));
  const auto shim = LockHolder({TaskPath(task)});
  ASSERT_TRUE(shim);
  ::kill(*shim, SIGKILL);
  ASSERT_TRUE(WaitFor([&] { return !LockHolder({TaskPath(task)}); }) || ends_.contains(task));
  if (!ends_.contains(task)) {
    const auto spool = ReadFile(TaskPath(task) + "/out");
    ASSERT_TRUE(spool);
    const auto header = EncodeSpoolHeader({.size = 100, .stream = Stream::kStderr, .time = {1}});
    ASSERT_TRUE(WriteFile(TaskPath(task) + "/out",
                          *spool + std::string(header.data(), header.size()) + "torn"));
  }
  const auto outcome = Await(task);
  LetItEnd();
  EXPECT_EQ(outcome.out, "running\n");
  EXPECT_EQ(outcome.err, "");
  EXPECT_EQ(outcome.end.log->bytes, 8U);
  EXPECT_EQ(ReadFile(TaskPath(task) + "/out")->size(), kSpoolHeaderBytes + 8);
}

TEST_F(ShimRunnerTest, RebootLosesWhatRan) {
  PretendBoot("boot-1");
  OpenRunner();
  const auto ended = Start(Script("echo x"));
  Await(ended);
  const auto task = Start(Counted());
  ASSERT_TRUE(WaitForOutput(task, "running"));
  const auto shim = LockHolder({TaskPath(task)});
  ASSERT_TRUE(shim);
  ::kill(*shim, SIGKILL);
  runner_.reset();
  ASSERT_EQ(::waitpid(*shim, nullptr, 0), *shim);
  LetItEnd();
  PretendBoot("boot-2");
  OpenRunner();
  ASSERT_EQ(held_.size(), 2U);
  for (const auto& held : held_) {
    ASSERT_TRUE(held.task.end);
    if (held.task.task == ended) {
      EXPECT_EQ(held.task.end->state, TaskState::kSucceeded);
    } else {
      EXPECT_EQ(held.task.end->state, TaskState::kLost);
      EXPECT_EQ(held.task.end->reason, "the host rebooted");
    }
  }
}

TEST_F(ShimRunnerTest, SpoolLostWithThePowerIsAGap) {
  PretendBoot("boot-1");
  OpenRunner();
  const auto task = Start(Script("echo x"));
  Await(task);
  ASSERT_TRUE(WriteFile(TaskPath(task) + "/out", ""));
  PretendBoot("boot-2");
  OpenRunner();
  ASSERT_EQ(held_.size(), 1U);
  ASSERT_TRUE(held_[0].task.end && held_[0].task.end->log);
  EXPECT_EQ(held_[0].task.end->state, TaskState::kSucceeded);
  EXPECT_EQ(held_[0].task.end->log->bytes, 0U);
  EXPECT_TRUE(held_[0].task.end->log->gap);
  EXPECT_EQ(held_[0].task.end->log->stdout_sha256, kEmptySha256);
}

// Files that are written again are not in order with renames: after a power loss a folder may have
// its new name and the content of before.
TEST_F(ShimRunnerTest, EndOfAnotherTaskThatThePowerLossBroughtBackIsNotTaken) {
  PretendBoot("boot-1");
  OpenRunner();
  const auto before = Start(Script("echo before"));
  const auto other = Await(before).end;
  const auto task = Start(Script("exit 3"));
  Await(task);
  // Its shim lives a moment longer than the task, and would be taken for one that still runs it.
  ASSERT_TRUE(Eventually([&] { return !LockHolder(TaskFolder{TaskPath(task)}); }));
  ASSERT_TRUE(WriteFile(TaskPath(task) + "/exit", EncodeExitRecord(before, other)));
  PretendBoot("boot-2");
  OpenRunner();
  const auto end = HeldEnd(task);
  EXPECT_EQ(end.state, TaskState::kLost);
  EXPECT_EQ(end.reason, "the host rebooted");
  OpenRunner();
  EXPECT_EQ(HeldEnd(task), end);
}

TEST_F(ShimRunnerTest, OrderThatThePowerLossTookIsNoProofThatNothingStarted) {
  PretendBoot("boot-1");
  OpenRunner();
  const auto empty = MakeOrder(Script("echo x")).task;
  ASSERT_TRUE(MakeFolders(TaskPath(empty), 0711));
  ASSERT_TRUE(WriteFile(TaskPath(empty) + "/order", ""));
  auto other = MakeOrder({});
  Command restart;
  restart.reboot = std::make_shared<const Reboot>();
  other.command = std::make_shared<const Command>(restart);
  const auto replaced = MakeOrder(Script("echo x")).task;
  ASSERT_TRUE(MakeFolders(TaskPath(replaced), 0711));
  ASSERT_TRUE(WriteFile(TaskPath(replaced) + "/order", EncodeOrderRecord(runner_->Boot(), other)));
  PretendBoot("boot-2");
  OpenRunner();
  for (const auto& task : {empty, replaced}) {
    EXPECT_EQ(HeldEnd(task).state, TaskState::kLost);
    EXPECT_TRUE(HeldEnd(task).reason.starts_with("its order cannot be read")) << FolderName(task);
  }
}

TEST_F(ShimRunnerTest, OrderWithoutShimDidNotRunAndNeverStartsLate) {
  const auto order = MakeOrder(Counted());
  const TaskFolder folder{TaskPath(order.task)};
  ASSERT_TRUE(MakeFolders(folder.path, 0711));
  ASSERT_TRUE(WriteFile(folder.Order(), EncodeOrderRecord(runner_->Boot(), order)));
  OpenRunner();
  ASSERT_EQ(held_.size(), 1U);
  ASSERT_TRUE(held_[0].task.end);
  EXPECT_EQ(held_[0].task.end->state, TaskState::kSkipped);
  EXPECT_EQ(held_[0].task.end->reason, "the agent stopped before the task started");
  // The shim that the dead agent had just spawned comes to life now.
  const pid_t late = ::fork();
  ASSERT_GE(late, 0);
  if (late == 0) {
    ::execl(MUSTER_AGENT_BINARY, "muster-agent", "shim", folder.path.c_str(), nullptr);
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(late, &status, 0), late);
  EXPECT_NE(status, 0);
  EXPECT_FALSE(Exists(folder_ / "count"));
}

TEST_F(ShimRunnerTest, OrderWithoutShimDidNotRunAlsoWhenTheDiskWasFullAtFirst) {
  const auto order = MakeOrder(Counted());
  const TaskFolder folder{TaskPath(order.task)};
  ASSERT_TRUE(MakeFolders(folder.path, 0711));
  ASSERT_TRUE(WriteFile(folder.Order(), EncodeOrderRecord(runner_->Boot(), order)));
  // The longest file this process may write stands in for a full disk.
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto old_handler = ::signal(SIGXFSZ, SIG_IGN);
  const rlimit full{10, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &full), 0);
  OpenRunner();
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  ::signal(SIGXFSZ, old_handler);
  ASSERT_EQ(held_.size(), 1U);
  EXPECT_EQ(held_[0].task.state, link::HeldState::kRunning);
  OpenRunner();
  EXPECT_EQ(HeldEnd(order.task).state, TaskState::kSkipped);
}

TEST_F(ShimRunnerTest, SecondShimOfOneTaskStartsNothing) {
  const auto task = Start(Counted());
  ASSERT_TRUE(WaitForOutput(task, "running"));
  const pid_t second = ::fork();
  ASSERT_GE(second, 0);
  if (second == 0) {
    ::execl(MUSTER_AGENT_BINARY, "muster-agent", "shim", TaskPath(task).c_str(), nullptr);
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(second, &status, 0), second);
  EXPECT_NE(status, 0);
  LetItEnd();
  EXPECT_EQ(Await(task).out, "running\nover\n");
  EXPECT_EQ(Count(), "run\n");
}

TEST_F(ShimRunnerTest, MissingProgramMeansNotStarted) {
  options_.executable = folder_ / "missing";
  ShimRunner runner(options_, {});
  ASSERT_TRUE(runner.Recover());
  const auto order = MakeOrder(Script("echo x"));
  EXPECT_EQ(runner.Start(order).error().code, ErrorCode::kUnavailable);
  EXPECT_FALSE(Exists(TaskPath(order.task)));
}

TEST_F(ShimRunnerTest, FullSpoolRefusesUntilForgotten) {
  options_.max_spool = 5000;
  OpenRunner();
  const auto task = Start(Script("head -c 10000 /dev/zero"));
  Await(task);
  const auto order = MakeOrder(Script("echo x"));
  EXPECT_EQ(runner_->Start(order).error().code, ErrorCode::kUnavailable);
  OpenRunner();
  EXPECT_EQ(runner_->Start(order).error().code, ErrorCode::kUnavailable);
  runner_->Forget(task);
  EXPECT_TRUE(runner_->Start(order));
  Await(order.task);
}

TEST_F(ShimRunnerTest, FullDiskRefuses) {
  options_.min_free_percent = 101;
  OpenRunner();
  EXPECT_EQ(runner_->Start(MakeOrder(Script("echo x"))).error().code, ErrorCode::kUnavailable);
}

TEST_F(ShimRunnerTest, UserOutsideThePolicyIsDenied) {
  options_.run_as.default_user = "daemon";
  options_.run_as.allow = {"nobody"};
  OpenRunner();
  Command command = Script("id -un");
  command.user = "root";
  const auto denied = runner_->Start(MakeOrder(command));
  ASSERT_FALSE(denied);
  EXPECT_EQ(denied.error().code, ErrorCode::kDenied);
  EXPECT_EQ(denied.error().message,
            "user 'root' is not allowed on this host; allowed: daemon, nobody");
  if (::geteuid() != 0) return;
  command.user.clear();
  EXPECT_EQ(Run(command).out, "daemon\n");
  command.user = "nobody";
  EXPECT_EQ(Run(command).out, "nobody\n");
}

}  // namespace
}  // namespace muster::agent
