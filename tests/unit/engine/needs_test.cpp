#include "unit/engine/engine_fixture.hpp"

namespace muster::engine {
namespace {

class Needs : public EngineFixture {
 protected:
  static StageSpec Limited(Resources resources) {
    auto command = std::make_shared<muster::Command>();
    command->argv = {"true"};
    command->resources = resources;
    StageSpec stage;
    stage.action = std::move(command);
    return stage;
  }
};

TEST_F(Needs, AnOrderNamesTheFeaturesOfItsLimits) {
  features_ = {Feature(Resource::kMemory), Feature(Resource::kCpu)};
  AddHosts(1);
  Start(1, Limited({.memory = 1 << 30, .cpu = 500}));
  ASSERT_EQ(frames_.size(), 1U);
  ASSERT_EQ(frames_[0].frame.orders.size(), 1U);
  EXPECT_EQ(frames_[0].frame.orders[0].needs,
            (std::vector<std::string>{"resources.memory", "resources.cpu"}));
}

TEST_F(Needs, AHostThatLacksAFeatureIsNotSentTheOrder) {
  features_ = {Feature(Resource::kCpu)};
  AddHosts(1);
  const RunId run = Start(1, Limited({.memory = 1 << 30}));
  EXPECT_TRUE(TakeOrders().empty());
  EXPECT_EQ(Find(run).state, RunState::kFailed);
  EXPECT_EQ(Find(run).stages[0].counts[TaskState::kRefused], 1U);
  const TaskRecord record = RecordOf(run, 1);
  EXPECT_FALSE(record.sent);
  EXPECT_TRUE(record.reason.starts_with("host h1 cannot limit memory")) << record.reason;
}

TEST_F(Needs, TheOtherHostsAreServed) {
  features_ = {Feature(Resource::kMemory)};
  AddHosts(2);
  features_ = {};
  SayHello(2);
  Settle();
  frames_.clear();
  const RunId run = Start(2, Limited({.memory = 1 << 30}));
  const auto orders = TakeOrders();
  ASSERT_EQ(orders.size(), 1U);
  End(orders[0]);
  EXPECT_EQ(Find(run).state, RunState::kSucceeded);
  EXPECT_EQ(Find(run).stages[0].counts[TaskState::kRefused], 1U);
}

TEST_F(Needs, WithoutLimitsNothingIsNeeded) {
  AddHosts(1);
  Start(1, Limited({}));
  EXPECT_EQ(TakeOrders().size(), 1U);
}

}  // namespace
}  // namespace muster::engine
