#include "domain/plan_bytes.hpp"

#include <gtest/gtest.h>

namespace muster {
namespace {

constexpr std::size_t kScript = 1 << 20;

RunSpec PlanWith(std::size_t stages) {
  Command command;
  command.script = std::string(kScript, '#');
  RunSpec plan;
  plan.stages.resize(stages);
  const auto shared = std::make_shared<const Command>(std::move(command));
  for (auto& stage : plan.stages) stage.action = shared;
  return plan;
}

TEST(PlanBytes, AScriptCountsForEachStageThatUsesIt) {
  EXPECT_GT(BytesOf(PlanWith(10)), 10 * kScript);
  EXPECT_TRUE(CheckPlanBytes(PlanWith(60)));
  const auto refused = CheckPlanBytes(PlanWith(65));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kInvalid);
}

TEST(PlanBytes, AJobThatManyStartCountsOnce) {
  const auto job = std::make_shared<const RunSpec>(PlanWith(40));
  RunSpec plan;
  plan.jobs = {{"a", job}, {"b", job}};
  EXPECT_TRUE(CheckPlanBytes(plan));
  plan.jobs["c"] = std::make_shared<const RunSpec>(PlanWith(40));
  EXPECT_FALSE(CheckPlanBytes(plan));
}

TEST(PlanBytes, FilesOfAPushCount) {
  FilePush push;
  push.files.assign(10'000, {.path = "file", .sha256 = std::string(32, 'x'), .size = 1});
  Command command;
  command.push = std::make_shared<const FilePush>(push);
  RunSpec plan;
  plan.stages.resize(1);
  plan.stages[0].action = std::make_shared<const Command>(std::move(command));
  EXPECT_GT(BytesOf(plan), BytesOf(push.files));
  EXPECT_GT(BytesOf(push.files), 10'000 * 36U);
}

}  // namespace
}  // namespace muster
