// How a task ends: timeouts, kills, and what it leaves behind.
#include <csignal>
#include <sstream>
#include <sys/stat.h>
#include <unistd.h>

#include "runner_fixture.hpp"

namespace muster::agent {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class ShimEnd : public RunnerTest {
 protected:
  // The number of each process that the script names as "NAME=PID" on stdout.
  pid_t PidOf(const TaskKey& task, const std::string& name) {
    EXPECT_TRUE(WaitForOutput(task, name + "="));
    const auto text = OutputOf(task, Stream::kStdout);
    return std::stoi(text.substr(text.find(name + "=") + name.size() + 1));
  }
  // A zombie that init has not taken yet counts as gone.
  static bool Lives(pid_t pid) {
    const auto stat = ReadFile("/proc/" + std::to_string(pid) + "/stat");
    return stat && stat->find(") Z ") == std::string::npos;
  }
};

TEST_F(ShimEnd, TimeoutEndsAScriptThatIgnoresTerm) {
  Command command = Script("trap '' TERM; echo self=$$; while :; do sleep 0.05; done");
  command.timeout = milliseconds(300);
  command.grace = milliseconds(100);
  const auto task = Start(command);
  const auto outcome = Await(task);
  EXPECT_EQ(outcome.end.state, TaskState::kTimedOut);
  EXPECT_EQ(outcome.end.reason, "timed out after 300ms");
  EXPECT_EQ(outcome.end.signal, SIGKILL);
  EXPECT_FALSE(outcome.end.leftovers);
  EXPECT_FALSE(Lives(PidOf(task, "self")));
}

TEST_F(ShimEnd, TimeoutLetsAScriptTidyUp) {
  Command command = Script("trap 'echo tidy; exit 3' TERM; while :; do sleep 0.05; done");
  command.timeout = milliseconds(300);
  const auto outcome = Run(command);
  EXPECT_EQ(outcome.end.state, TaskState::kTimedOut);
  EXPECT_EQ(outcome.end.exit_code, 3);
  EXPECT_EQ(outcome.out, "tidy\n");
}

TEST_F(ShimEnd, ZeroTimeoutIsNone) {
  Command command = Script("sleep 0.2; echo done");
  command.timeout = {};
  EXPECT_EQ(Run(command).out, "done\n");
}

TEST_F(ShimEnd, KillTermsTheWholeGroup) {
  const auto task = Start(Script("sleep 300 & echo child=$!; echo self=$$; wait"));
  const pid_t self = PidOf(task, "self");
  const pid_t child = PidOf(task, "child");
  runner_->Kill(task, seconds(30));
  const auto outcome = Await(task);
  EXPECT_EQ(outcome.end.state, TaskState::kKilled);
  EXPECT_EQ(outcome.end.signal, SIGTERM);
  EXPECT_FALSE(Lives(self));
  EXPECT_FALSE(Lives(child));
}

TEST_F(ShimEnd, KillWithoutGraceAsksNobody) {
  const auto task = Start(Script("trap '' TERM; echo self=$$; while :; do sleep 0.05; done"));
  PidOf(task, "self");
  runner_->Kill(task, Duration::zero());
  const auto outcome = Await(task);
  EXPECT_EQ(outcome.end.state, TaskState::kKilled);
  EXPECT_EQ(outcome.end.signal, SIGKILL);
}

TEST_F(ShimEnd, KillReachesAShimThatWasStopped) {
  const auto task = Start(Script("echo up; sleep 300"));
  ASSERT_TRUE(WaitForOutput(task, "up"));
  const auto shim = LockHolder({TaskPath(task)});
  ASSERT_TRUE(shim);
  ASSERT_EQ(::kill(*shim, SIGSTOP), 0);
  runner_->Kill(task, {});
  EXPECT_EQ(Await(task).end.state, TaskState::kKilled);
}

TEST_F(ShimEnd, SecondKillShortensTheGrace) {
  const auto task =
      Start(Script("trap 'echo termed' TERM; echo self=$$; while :; do sleep 0.05; done"));
  PidOf(task, "self");
  runner_->Kill(task, std::chrono::hours(1));
  ASSERT_TRUE(WaitForOutput(task, "termed"));
  runner_->Kill(task, Duration::zero());
  EXPECT_EQ(Await(task).end.signal, SIGKILL);
}

TEST_F(ShimEnd, KillReachesWhatLeftTheGroup) {
  const auto task =
      Start(Script("setsid sh -c 'echo away=$$; trap \"\" TERM; while :; do sleep 0.05; done' & "
                   "echo self=$$; wait"));
  const pid_t away = PidOf(task, "away");
  PidOf(task, "self");
  runner_->Kill(task, milliseconds(100));
  EXPECT_EQ(Await(task).end.state, TaskState::kKilled);
  EXPECT_FALSE(Lives(away));
}

TEST_F(ShimEnd, KillRightAfterStartNeverHangs) {
  for (int i = 0; i < 10; ++i) {
    const auto task = Start(Script("sleep 300"));
    runner_->Kill(task, seconds(30));
    const auto end = Await(task).end.state;
    EXPECT_TRUE(end == TaskState::kKilled || end == TaskState::kSkipped) << Name(end);
  }
}

TEST_F(ShimEnd, KillNeedsNoRoomOnTheDisk) {
  const auto task = Start(Script("trap '' TERM; echo self=$$; while :; do sleep 0.05; done"));
  const pid_t self = PidOf(task, "self");
  // A folder in its way: the wish cannot be written.
  const auto in_the_way = folder_.Path() + "/tasks/" + FolderName(task) + "/kill.new";
  ASSERT_EQ(::mkdir(in_the_way.c_str(), 0700), 0);
  runner_->Kill(task, milliseconds(1));
  EXPECT_EQ(Await(task).end.state, TaskState::kKilled);
  EXPECT_FALSE(Lives(self));
}

TEST_F(ShimEnd, KillOfAnEndedTaskIsHarmless) {
  const auto task = Start(Script("echo done"));
  Await(task);
  runner_->Kill(task, Duration::zero());
  runner_->Poll();
  EXPECT_EQ(ends_[task].state, TaskState::kSucceeded);
}

TEST_F(ShimEnd, TermToTheShimIsAKillWish) {
  const auto task = Start(Script("echo self=$$; sleep 300"));
  PidOf(task, "self");
  const auto shim = LockHolder({TaskPath(task)});
  ASSERT_TRUE(shim);
  ::kill(*shim, SIGTERM);
  EXPECT_EQ(Await(task).end.state, TaskState::kKilled);
}

TEST_F(ShimEnd, LeftoversLiveOnAndAreReported) {
  const auto task = Start(Script("sleep 300 & echo child=$!; echo before"));
  const auto outcome = Await(task);
  const pid_t child = PidOf(task, "child");
  EXPECT_EQ(outcome.end.state, TaskState::kSucceeded);
  EXPECT_TRUE(outcome.end.leftovers);
  EXPECT_TRUE(Lives(child));
  ::kill(child, SIGKILL);
}

TEST_F(ShimEnd, LeftoversThatEscapedTheSessionAreReported) {
  const auto task = Start(Script("setsid sleep 300 >/dev/null 2>&1 & echo child=$!"));
  const auto outcome = Await(task);
  EXPECT_TRUE(outcome.end.leftovers);
  ::kill(PidOf(task, "child"), SIGKILL);
}

TEST_F(ShimEnd, LeftoversMayGoOnWriting) {
  const std::string go = folder_ / "go";
  const std::string wrote = folder_ / "wrote";
  Command command = Script(
      "( while [ ! -e \"$GO\" ]; do sleep 0.05; done; echo late; echo late; echo late; : > "
      "\"$WROTE\" ) &\n"
      "echo first");
  command.env = {{"GO", go}, {"WROTE", wrote}};
  const auto outcome = Run(command);
  EXPECT_TRUE(outcome.end.leftovers);
  EXPECT_EQ(outcome.out, "first\n");
  ASSERT_TRUE(WriteFile(go, ""));
  EXPECT_TRUE(WaitFor([&] { return Exists(wrote); })) << "its output ended it";
}

TEST_F(ShimEnd, ChildThatEndsWithTheScriptIsNoLeftover) {
  for (int i = 0; i < 20; ++i) EXPECT_FALSE(RunScript("(echo x) & (echo y) &").end.leftovers);
}

TEST_F(ShimEnd, LeftoversAreKilledWhenAsked) {
  Command command =
      Script("(trap '' TERM; while :; do sleep 0.05; done) >/dev/null 2>&1 & echo child=$!");
  command.kill_leftovers = true;
  command.grace = milliseconds(100);
  const auto task = Start(command);
  const auto outcome = Await(task);
  EXPECT_EQ(outcome.end.state, TaskState::kSucceeded);
  EXPECT_FALSE(outcome.end.leftovers);
  EXPECT_FALSE(Lives(PidOf(task, "child")));
}

}  // namespace
}  // namespace muster::agent
