// What jobs need of a task beyond its exit code: outputs, and restarts of the host.
#include <csignal>
#include <sys/stat.h>
#include <unistd.h>

#include "adapters/crypto/digest.hpp"
#include "agent/shim/reboot.hpp"
#include "agent/shim/shim_lock.hpp"
#include "runner_fixture.hpp"

namespace muster::agent {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

class ShimOutputs : public RunnerTest {};

TEST_F(ShimOutputs, ComeWithTheEnd) {
  const auto outcome = RunScript("echo a=1 >> $MUSTER_OUTPUT; echo status=odd >> $MUSTER_OUTPUT");
  EXPECT_EQ(outcome.end.state, TaskState::kSucceeded);
  EXPECT_EQ(outcome.end.outputs, (Pairs{{"a", "1"}, {"status", "odd"}}));
  EXPECT_EQ(outcome.end.reason, "");
}

TEST_F(ShimOutputs, OfWordsAndOfAFailedTaskComeToo) {
  Command command;
  command.argv = {"sh", "-c", "echo a=1 > $MUSTER_OUTPUT; exit 3"};
  const auto end = Run(command).end;
  EXPECT_EQ(end.state, TaskState::kFailed);
  EXPECT_EQ(end.exit_code, 3);
  EXPECT_EQ(end.outputs, (Pairs{{"a", "1"}}));
}

TEST_F(ShimOutputs, ProblemIsSaidAndChangesNothingElse) {
  const auto end = RunScript("printf 'a=1\\nwhat\\n' > $MUSTER_OUTPUT").end;
  EXPECT_EQ(end.state, TaskState::kSucceeded);
  EXPECT_EQ(end.outputs, (Pairs{{"a", "1"}}));
  EXPECT_TRUE(end.reason.starts_with("1 line of $MUSTER_OUTPUT was left out: line 2 "))
      << end.reason;
}

TEST_F(ShimOutputs, HideSecrets) {
  Command command = Script("echo word=say $TOKEN twice >> $MUSTER_OUTPUT");
  command.env = {{"TOKEN", "hush-hush"}};
  command.masks = {"hush-hush"};
  EXPECT_EQ(Run(command).end.outputs, (Pairs{{"word", "say *** twice"}}));
}

TEST_F(ShimOutputs, LargeOnesSurviveARestartOfTheAgent) {
  const auto task = Start(Script("printf 'a=%060000d\\n' 7 > $MUSTER_OUTPUT"));
  const auto end = Await(task).end;
  ASSERT_EQ(end.outputs.size(), 1U);
  EXPECT_EQ(end.outputs[0].second.size(), 60'000U);
  OpenRunner();
  ASSERT_EQ(held_.size(), 1U);
  EXPECT_EQ(held_[0].task.end, end);
}

TEST_F(ShimOutputs, AreNotSeenByTheNextTaskInTheFolder) {
  for (int i = 0; i < 3; ++i) {
    const auto task = Start(Script("cat $MUSTER_OUTPUT; echo a=1 >> $MUSTER_OUTPUT"));
    const auto outcome = Await(task);
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(outcome.end.outputs, (Pairs{{"a", "1"}}));
    runner_->Forget(task);
  }
}

TEST_F(ShimOutputs, MayBePutInPlaceAsAWholeFile) {
  Command command = Script("echo a=1 > \"$NEW\"; mv \"$NEW\" $MUSTER_OUTPUT");
  command.env = {{"NEW", folder_ / "new"}};
  EXPECT_EQ(Run(command).end.outputs, (Pairs{{"a", "1"}}));
}

TEST_F(ShimOutputs, OwnVariableOfThatNameWins) {
  Command command = Script("echo $MUSTER_OUTPUT");
  command.env = {{"MUSTER_OUTPUT", "/elsewhere"}};
  EXPECT_EQ(Run(command).out, "/elsewhere\n");
}

// Every process of the task reaches the file, also one that inherited nothing but its streams.
constexpr const char* kFromAllSides =
    "echo a=1 >> $MUSTER_OUTPUT\n"
    "( exec 3<&- 4<&- 5<&-; sh -c 'echo b=2 >> $MUSTER_OUTPUT; stat -L -c %a:%U $MUSTER_OUTPUT' "
    ")\n";

TEST_F(ShimOutputs, BelongToTheTasksUser) {
  const auto account = FindAccount("");
  ASSERT_TRUE(account);
  const auto outcome = RunScript(kFromAllSides);
  EXPECT_EQ(outcome.out, "600:" + account->name + "\n");
  EXPECT_EQ(outcome.end.outputs, (Pairs{{"a", "1"}, {"b", "2"}})) << outcome.err;
}

TEST_F(ShimOutputs, OfAnotherUserAreHis) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  Command command = Script(kFromAllSides);
  command.user = "nobody";
  ASSERT_EQ(::chmod(folder_.Path().c_str(), 0711), 0);
  const auto outcome = Run(command);
  EXPECT_EQ(outcome.out, "600:nobody\n");
  EXPECT_EQ(outcome.end.outputs, (Pairs{{"a", "1"}, {"b", "2"}})) << outcome.err;
}

TEST_F(ShimOutputs, OfAnotherUserReachTheFileBehindAClosedFolder) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  ASSERT_EQ(::chmod(folder_.Path().c_str(), 0700), 0);
  Command command = Script(kFromAllSides);
  command.user = "nobody";
  command.folder.clear();
  const auto outcome = Run(command);
  EXPECT_EQ(outcome.out, "600:nobody\n");
  EXPECT_EQ(outcome.end.outputs, (Pairs{{"a", "1"}, {"b", "2"}})) << outcome.err;
}

TEST_F(ShimOutputs, MaskedDigestIsTheSameOnAnotherHostAndTask) {
  std::string digests[2];
  const char* const names[] = {"web01", "db7.example"};
  for (int i = 0; i < 2; ++i) {
    auto order =
        MakeOrder(Script("echo $MUSTER_HOST says $MUSTER_RUN at $(date +%H:%M:%S), pid $$"));
    order.host_name = names[i];
    ASSERT_TRUE(runner_->Start(order));
    const auto end = Await(order.task).end;
    ASSERT_TRUE(end.log);
    digests[i] = end.log->masked_sha256;
  }
  EXPECT_EQ(digests[0].size(), 32U);
  EXPECT_EQ(digests[0], digests[1]);
  EXPECT_NE(digests[0], RunScript("echo something else").end.log->masked_sha256);
}

class ShimReboot : public RunnerTest {
 protected:
  void SetUp() override {
    Boot("boot-1");
    RunnerTest::SetUp();
  }
  void Boot(const std::string& id) {
    options_.boot_id_file = folder_ / "boot_id";
    ASSERT_TRUE(WriteFile(options_.boot_id_file, id + "\n"));
  }
  static Command Restart(std::vector<std::string> argv) {
    Command command;
    command.reboot = std::make_shared<const Reboot>(Reboot{.argv = std::move(argv)});
    command.timeout = std::chrono::minutes(15);
    command.folder = "/";
    return command;
  }
  // The shim is killed, as by the end of the machine.
  void EndShim(const TaskKey& task, int signal) {
    const auto shim = LockHolder({TaskPath(task)});
    ASSERT_TRUE(shim);
    ::kill(*shim, signal);
    ASSERT_TRUE(WaitFor([&] { return !LockHolder({TaskPath(task)}); }));
  }
  bool WaitForRestart(const TaskKey& task) {
    return WaitFor([&] { return Exists(TaskFolder{TaskPath(task)}.Restart()); });
  }
  TaskEnd Recovered() {
    OpenRunner();
    EXPECT_EQ(held_.size(), 1U);
    EXPECT_EQ(held_.at(0).task.state, link::HeldState::kEnded);
    return held_[0].task.end.value_or(TaskEnd{});
  }
};

TEST_F(ShimReboot, SucceedsWhenTheHostIsBack) {
  const auto task = Start(Restart({"sh", "-c", "echo going down"}));
  ASSERT_TRUE(WaitForRestart(task));
  EXPECT_TRUE(ends_.empty());
  EndShim(task, SIGKILL);
  Boot("boot-2");
  const auto end = Recovered();
  EXPECT_EQ(end.state, TaskState::kSucceeded);
  EXPECT_EQ(end.reason, "the host is back after a restart");
  ASSERT_TRUE(end.log);
  EXPECT_EQ(end.log->bytes, 11U);
  EXPECT_FALSE(end.log->gap);
  EXPECT_EQ(end.log->stdout_sha256, crypto::Sha256("going down\n"));
  EXPECT_EQ(end.log->masked_sha256.size(), 32U);
  EXPECT_EQ(Recovered(), end) << "and again, if the agent starts again";
}

// In a container that restarts, processes of its life before may still be going.
TEST_F(ShimReboot, SucceedsAlsoWhenAShimOfBeforeEndsLast) {
  const auto task = Start(Restart({"sh", "-c", "echo going down"}));
  ASSERT_TRUE(WaitForRestart(task));
  Boot("boot-2");
  OpenRunner();
  ASSERT_EQ(held_.size(), 1U);
  EXPECT_EQ(held_[0].task.state, link::HeldState::kRunning);
  EndShim(task, SIGKILL);
  const auto end = Await(task).end;
  EXPECT_EQ(end.state, TaskState::kSucceeded);
  EXPECT_EQ(end.reason, "the host is back after a restart");
}

TEST_F(ShimReboot, CommandThatFailsIsTheEnd) {
  const auto outcome = Run(Restart({"sh", "-c", "echo not allowed >&2; exit 4"}));
  EXPECT_EQ(outcome.end.state, TaskState::kFailed);
  EXPECT_EQ(outcome.end.exit_code, 4);
  EXPECT_EQ(outcome.err, "not allowed\n");
}

TEST_F(ShimReboot, CommandThatIsMissingIsRefused) {
  EXPECT_EQ(Run(Restart({"/no/such/reboot"})).end.state, TaskState::kRefused);
}

TEST_F(ShimReboot, HostMayRefuseToBeRestartedByTheSystemsOwnWay) {
  options_.run_as.restarts = false;
  OpenRunner();
  const auto refused = runner_->Start(MakeOrder(Restart({})));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kDenied);
}

TEST_F(ShimReboot, HostThatStaysUpTimesOut) {
  Command command = Restart({"true"});
  command.timeout = std::chrono::milliseconds(300);
  const auto end = Run(command).end;
  EXPECT_EQ(end.state, TaskState::kTimedOut);
  EXPECT_EQ(end.reason, "the host did not restart within 300ms");
}

TEST_F(ShimReboot, WaitCanBeStopped) {
  const auto task = Start(Restart({"true"}));
  ASSERT_TRUE(WaitForRestart(task));
  runner_->Kill(task, std::chrono::seconds(1));
  EXPECT_EQ(Await(task).end.state, TaskState::kKilled);
}

TEST_F(ShimReboot, ShutdownThatEndsEverythingIsNoEnd) {
  const auto task = Start(Restart({"sh", "-c", "echo now; kill -TERM $$"}));
  ASSERT_TRUE(WaitForRestart(task));
  EndShim(task, SIGTERM);
  // The agent lives a little longer than its shims, and looks for those that are gone.
  const auto other = Start(Script("echo up; sleep 60"));
  ASSERT_TRUE(WaitForOutput(other, "up"));
  EndShim(other, SIGKILL);
  EXPECT_EQ(Await(other).end.state, TaskState::kLost);
  EXPECT_FALSE(ends_.contains(task));
  runner_->Forget(other);
  OpenRunner();
  ASSERT_EQ(held_.size(), 1U);
  EXPECT_EQ(held_[0].task.state, link::HeldState::kRunning) << "the same boot";
  Boot("boot-2");
  EXPECT_EQ(Recovered().state, TaskState::kSucceeded);
}

TEST_F(ShimReboot, ShutdownBeforeItsCommandEndedIsNoEndEither) {
  const auto task = Start(Restart({"sh", "-c", "echo now; exec sleep 60"}));
  ASSERT_TRUE(WaitForOutput(task, "now"));
  EndShim(task, SIGTERM);
  Boot("boot-2");
  const auto end = Recovered();
  EXPECT_EQ(end.state, TaskState::kSucceeded);
  EXPECT_FALSE(end.log->gap);
}

TEST_F(ShimReboot, PowerLossBeforeAnythingWasKeptStillIsARestart) {
  const auto task = Start(Restart({"sh", "-c", "echo now; exec sleep 60"}));
  ASSERT_TRUE(WaitForOutput(task, "now"));
  EndShim(task, SIGKILL);
  Boot("boot-2");
  const auto end = Recovered();
  EXPECT_EQ(end.state, TaskState::kSucceeded);
  EXPECT_TRUE(end.log->gap) << "nobody can say that the output is whole";
}

TEST_F(ShimReboot, StoppedWhileNoShimWaitsIsKilled) {
  const auto task = Start(Restart({"true"}));
  ASSERT_TRUE(WaitForRestart(task));
  EndShim(task, SIGTERM);
  runner_->Kill(task, std::chrono::seconds(1));
  EXPECT_EQ(Await(task).end.state, TaskState::kKilled);
}

TEST_F(ShimReboot, OrdinaryTaskIsLostAllTheSame) {
  const auto task = Start(Script("sleep 60"));
  ASSERT_TRUE(WaitFor([&] { return LockHolder({TaskPath(task)}).has_value(); }));
  ASSERT_TRUE(WaitFor([&] { return Exists(TaskFolder{TaskPath(task)}.NewExit()); }));
  EndShim(task, SIGKILL);
  Boot("boot-2");
  EXPECT_EQ(Recovered().state, TaskState::kLost);
}

TEST_F(ShimReboot, AnotherPlaceOnDiskIsNoRestart) {
  EXPECT_EQ(KernelBoot("b7-44-1c-801-5"), "b7-44-1c");
  EXPECT_EQ(KernelBoot("b7-44-1c-802-9"), "b7-44-1c");
}

TEST_F(ShimReboot, GoesTheSystemsOwnWayUnlessTold) {
  using Words = std::vector<std::string>;
  EXPECT_EQ(RebootWords({}, true), (Words{"systemctl", "reboot"}));
  EXPECT_EQ(RebootWords({}, false), (Words{"reboot"}));
  EXPECT_EQ(RebootWords({.argv = {"/sbin/kexec", "-e"}}, true), (Words{"/sbin/kexec", "-e"}));
}

TEST_F(ShimReboot, WordsOfItsOwnRunAsTasksDo) {
  options_.run_as.allow = {"nobody-else"};
  OpenRunner();
  Command command = Restart({"true"});
  command.user = "root";
  const auto started = runner_->Start(MakeOrder(command));
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().code, ErrorCode::kDenied);
}

TEST_F(ShimReboot, IsOneActionOfACommand) {
  Command command = Restart({"true"});
  command.script = "echo x";
  EXPECT_EQ(runner_->Start(MakeOrder(command)).error().code, ErrorCode::kInvalid);
}

}  // namespace
}  // namespace muster::agent
