// Tasks with limits under the kernel's own control groups. Where this machine lets us have a
// controller, the limit holds; where not, the task is refused: each test sees one of the two.
#include <filesystem>
#include <unistd.h>

#include "runner_fixture.hpp"

namespace muster::agent {
namespace {

using std::chrono::milliseconds;

class ShimLimits : public RunnerTest {
 protected:
  void SetUp() override {
    options_.cgroups = Cgroups::Open({});
    options_.cgroups.UsePrefix(prefix_);
    OpenRunner();
  }
  void TearDown() override {
    runner_.reset();
    options_.cgroups.Tidy({});
  }

  static Command Limited(Resources limits, std::string script) {
    Command command = Script(std::move(script));
    command.resources = limits;
    return command;
  }

  // Whether the limits can be set here; if not, that such a task is refused and leaves nothing.
  bool CanLimit(const Resources& limits) {
    for (const auto resource : LimitedOf(limits)) {
      if (!options_.cgroups.WhyNot(resource)) continue;
      const auto refused = runner_->Start(MakeOrder(Limited(limits, "echo ran")));
      EXPECT_FALSE(refused);
      EXPECT_EQ(refused.error().code, ErrorCode::kUnavailable);
      EXPECT_NE(refused.error().message.find(Name(resource)), std::string::npos);
      EXPECT_TRUE(std::filesystem::is_empty(folder_.Path() + "/tasks"));
      return false;
    }
    return true;
  }

  std::vector<TaskGroup::Part> PartsOf(const TaskKey& task, const Resources& limits) {
    return options_.cgroups.GroupOf(FolderName(task), limits)->Parts();
  }
  static std::string Get(const TaskGroup::Part& part, const char* v1, const char* v2) {
    const auto text = ReadFile(part.path + (part.version == GroupVersion::kV1 ? v1 : v2));
    return text ? text->substr(0, text->find('\n')) : text.error().message;
  }

  // Each test has its own groups, as it has its own folder.
  const std::string prefix_ =
      fmt::format("{}-", std::filesystem::path(folder_.Path()).filename().string());
  // Grows until something stops it: past any limit used here, and by itself at 1 GB.
  const std::string fill_ = "head -c 1000000000 /dev/zero | tail";
};

TEST_F(ShimLimits, ATaskThatFillsItsMemoryFailsWithTheReason) {
  const Resources limits{.memory = 64 << 20};
  if (!CanLimit(limits)) return;
  const auto task = Start(Limited(limits, fill_));
  const auto outcome = Await(task);
  EXPECT_EQ(outcome.end.state, TaskState::kFailed);
  EXPECT_EQ(outcome.end.reason, "out of memory: limit 64 MiB");
  EXPECT_GT(outcome.end.peak_memory, 32U << 20);
  EXPECT_LE(outcome.end.peak_memory, 64U << 20);
  EXPECT_TRUE(WaitFor([&] { return !Exists(PartsOf(task, limits)[0].path); }));
}

TEST_F(ShimLimits, ATaskInsideItsMemoryDoesNot) {
  const Resources limits{.memory = 512 << 20};
  if (!CanLimit(limits)) return;
  const auto outcome = Run(Limited(limits, "echo fine"));
  EXPECT_EQ(outcome.end.state, TaskState::kSucceeded);
  EXPECT_EQ(outcome.out, "fine\n");
  EXPECT_GT(outcome.end.peak_memory, 0U);
}

TEST_F(ShimLimits, AScriptThatHidesTheDeadProcessStillFails) {
  const Resources limits{.memory = 64 << 20};
  if (!CanLimit(limits)) return;
  const auto outcome = Run(Limited(limits, fill_ + "; exit 0"));
  EXPECT_EQ(outcome.end.state, TaskState::kFailed);
  EXPECT_EQ(outcome.end.reason, "out of memory: limit 64 MiB");
}

TEST_F(ShimLimits, ProcessesEndAForkBomb) {
  const Resources limits{.processes = 20};
  if (!CanLimit(limits)) return;
  Command command = Limited(
      limits, "i=0; while [ $i -lt 100 ]; do sleep 300 & i=$((i+1)); done 2>&1; echo all started");
  command.kill_leftovers = true;
  command.grace = {};
  const auto task = Start(command);
  const auto outcome = Await(task);
  EXPECT_EQ(outcome.end.state, TaskState::kFailed);
  EXPECT_EQ(outcome.out.find("all started"), std::string::npos) << outcome.out;
  EXPECT_FALSE(outcome.end.leftovers);
  EXPECT_TRUE(WaitFor([&] { return !Exists(PartsOf(task, limits)[0].path); }));
}

TEST_F(ShimLimits, KillEndsWhateverIsInTheGroup) {
  const Resources limits{.processes = 20};
  if (!CanLimit(limits)) return;
  Command command = Limited(
      limits, "i=0; while [ $i -lt 10 ]; do setsid sleep 300 & i=$((i+1)); done; echo up; wait");
  command.grace = {};
  const auto task = Start(command);
  ASSERT_TRUE(WaitForOutput(task, "up"));
  const auto part = PartsOf(task, limits)[0];
  runner_->Kill(task, {});
  const auto outcome = Await(task);
  EXPECT_EQ(outcome.end.state, TaskState::kKilled);
  EXPECT_FALSE(outcome.end.leftovers);
  EXPECT_TRUE(WaitFor([&] { return !Exists(part.path); }));
}

TEST_F(ShimLimits, CpuIsWrittenAndTheProcessIsInside) {
  const Resources limits{.cpu = 250};
  if (!CanLimit(limits)) return;
  const auto task = Start(Limited(limits, "echo up; sleep 300"));
  ASSERT_TRUE(WaitForOutput(task, "up"));
  const auto part = PartsOf(task, limits)[0];
  EXPECT_EQ(Get(part, "/cpu.cfs_quota_us", "/cpu.max").substr(0, 5), "25000");
  EXPECT_NE(Get(part, "/cgroup.procs", "/cgroup.procs"), "");
  runner_->Kill(task, {});
  Await(task);
}

TEST_F(ShimLimits, ARestartedAgentSetsTheLimitsOfWhatRunsAgain) {
  const Resources limits{.processes = 20};
  if (!CanLimit(limits)) return;
  const auto task = Start(Limited(limits, "echo up; sleep 300"));
  ASSERT_TRUE(WaitForOutput(task, "up"));
  const auto part = PartsOf(task, limits)[0];
  ASSERT_TRUE(WriteFile(part.path + "/pids.max", "max"));
  OpenRunner();
  ASSERT_EQ(held_.size(), 1U);
  EXPECT_EQ(held_[0].task.state, link::HeldState::kRunning);
  EXPECT_EQ(Get(part, "/pids.max", "/pids.max"), "20");
  runner_->Kill(task, {});
  EXPECT_EQ(Await(task).end.state, TaskState::kKilled);
}

TEST_F(ShimLimits, AGroupWithLeftoversStaysUntilTheyAreGone) {
  const Resources limits{.processes = 20};
  if (!CanLimit(limits)) return;
  const auto task = Start(Limited(limits, "sleep 300 >/dev/null 2>&1 & echo pid=$!"));
  const auto outcome = Await(task);
  ASSERT_TRUE(outcome.end.leftovers);
  const auto part = PartsOf(task, limits)[0];
  EXPECT_TRUE(Exists(part.path));
  ::kill(std::stoi(outcome.out.substr(4)), SIGKILL);
  EXPECT_TRUE(WaitFor([&] {
    options_.cgroups.Tidy({});
    return !Exists(part.path);
  }));
}

TEST_F(ShimLimits, ATaskWithoutLimitsHasNoGroup) {
  const auto task = Start(Script("echo up"));
  Await(task);
  EXPECT_FALSE(Exists(TaskPath(task) + "/cgroup"));
}

}  // namespace
}  // namespace muster::agent
