#include "server/gateway/held_outputs.hpp"

#include <gtest/gtest.h>

#include "adapters/memory/memory_store.hpp"

namespace muster::server {
namespace {

constexpr TaskKey kHeldTask{RunId(1), Visit(1), 0, HostId(7), Attempt(1)};

// A store with one run, whose two stages allow their tasks 100 and 300 bytes of output.
class HeldOutputs : public ::testing::Test {
 protected:
  void KeepRun(std::uint32_t pass) {
    muster::Run run;
    run.id = kHeldTask.run;
    run.hosts = 1;
    run.pass = pass;
    auto plan = std::make_shared<RunSpec>();
    for (const std::uint64_t most : {100, 300}) {
      Command command;
      command.max_output = most;
      plan->stages.emplace_back();
      plan->stages.back().action = std::make_shared<const Command>(std::move(command));
    }
    const auto fence = store_.TakeTerm();
    ASSERT_TRUE(fence);
    Batch batch{{PutRun{run}, PutPlan{run.id, plan}}};
    store_.Commit(std::make_shared<const Batch>(std::move(batch)), fence->term,
                  CommitNumber(fence->number.value + 1),
                  [](const Result<>& kept) { ASSERT_TRUE(kept); });
  }
  OutputRooms Rooms(std::optional<TaskRecord> record) {
    auto rooms = RoomsOnRecord(store_, {kHeldTask}, {std::move(record)});
    EXPECT_TRUE(rooms);
    return std::move(*rooms);
  }
  static TaskRecord Ended(LogState log) {
    TaskRecord record;
    record.key = kHeldTask;
    record.state = TaskState::kLost;
    record.log.state = log;
    return record;
  }

  MemoryStore store_;
};

TEST_F(HeldOutputs, TaskWithoutARecordSendsNothing) {
  EXPECT_EQ(Rooms(std::nullopt), (OutputRooms{{kHeldTask, std::nullopt}}));
}

TEST_F(HeldOutputs, TaskWhoseOutputIsCompleteSendsNothing) {
  for (const auto log : {LogState::kComplete, LogState::kCut, LogState::kExpired})
    EXPECT_EQ(Rooms(Ended(log)), (OutputRooms{{kHeldTask, std::nullopt}}));
}

TEST_F(HeldOutputs, TaskThatIsOverSendsWhatItsRunAllows) {
  KeepRun(1);
  EXPECT_EQ(Rooms(Ended(LogState::kOpen)), (OutputRooms{{kHeldTask, 300}}));
  EXPECT_EQ(Rooms(Ended(LogState::kGap)), (OutputRooms{{kHeldTask, 300}}));
}

TEST_F(HeldOutputs, PlanOfAnEarlierPassMayHaveAllowedMore) {
  KeepRun(2);
  EXPECT_EQ(Rooms(Ended(LogState::kOpen)), (OutputRooms{{kHeldTask, Command().max_output}}));
}

TEST_F(HeldOutputs, TaskThatIsNotOverIsTheEnginesBusiness) {
  TaskRecord open = Ended(LogState::kOpen);
  open.state = TaskState::kSent;
  EXPECT_TRUE(Rooms(open).empty());
}

}  // namespace
}  // namespace muster::server
