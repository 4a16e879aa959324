#include <atomic>
#include <thread>

#include "contract/store_fixture.hpp"
#include "support/random_records.hpp"

namespace muster {
namespace {

class StoreReads : public StoreContract {
 protected:
  std::vector<std::uint64_t> Runs(const RunFilter& filter, std::uint64_t before = 0,
                                  std::size_t limit = 100) {
    auto list = store_->ListRuns(filter, RunId(before), limit);
    EXPECT_TRUE(list) << list.error().message;
    std::vector<std::uint64_t> ids;
    if (list)
      for (const auto& run : *list) ids.push_back(run.id.value);
    return ids;
  }
  std::vector<TaskRecord> Tasks(const TaskFilter& filter, std::optional<TaskKey> after = {},
                                std::size_t limit = 100) {
    auto list = store_->ListTasks(RunId(1), filter, after, limit);
    EXPECT_TRUE(list) << list.error().message;
    return list ? std::move(*list) : std::vector<TaskRecord>();
  }
};

using Ids = std::vector<std::uint64_t>;

TEST_P(StoreReads, RunsComeNewestFirstPageByPage) {
  for (std::uint64_t id = 1; id <= 7; ++id) Commit({PutRun{RunOf(id)}});
  EXPECT_EQ(Runs({}, 0, 3), (Ids{7, 6, 5}));
  EXPECT_EQ(Runs({}, 5, 3), (Ids{4, 3, 2}));
  EXPECT_EQ(Runs({}, 2, 3), (Ids{1}));
  EXPECT_EQ(Runs({}, 1, 3), (Ids{}));
  EXPECT_EQ(Runs({}, 0, 0), (Ids{}));
}

TEST_P(StoreReads, RunsAreFilteredByStateCallerAndTime) {
  for (std::uint64_t id = 1; id <= 6; ++id) {
    muster::Run run = RunOf(id, id % 2 == 0 ? RunState::kFailed : RunState::kRunning);
    run.by = id <= 3 ? "alice" : "bob";
    Commit({PutRun{run}});
  }
  EXPECT_EQ(Runs({.state = RunState::kFailed}), (Ids{6, 4, 2}));
  EXPECT_EQ(Runs({.by = "alice"}), (Ids{3, 2, 1}));
  EXPECT_EQ(Runs({.state = RunState::kFailed, .by = "bob"}, 6), (Ids{4}));
  EXPECT_EQ(Runs({.since = {1'000'004}}), (Ids{6, 5, 4}));
  EXPECT_EQ(Runs({.until = {1'000'004}}), (Ids{3, 2, 1}));
  EXPECT_EQ(Runs({.by = "bob", .since = {1'000'002}, .until = {1'000'006}}), (Ids{5, 4}));
  EXPECT_EQ(Runs({.since = {9'000'000'000'000}}), (Ids{}));
  EXPECT_EQ(Runs({.until = {1}}), (Ids{}));
  EXPECT_EQ(Runs({.by = "carol"}), (Ids{}));
}

TEST_P(StoreReads, RunsAreFoundByTimeThoughTheClockWasSetBack) {
  constexpr std::int64_t kHour = 3'600'000;
  const std::int64_t hours[] = {100, 101, 99, 102, 120, 119};
  for (std::uint64_t id = 1; id <= 6; ++id) {
    muster::Run run = RunOf(id);
    run.created = {hours[id - 1] * kHour};
    Commit({PutRun{run}});
  }
  EXPECT_EQ(Runs({.since = {101 * kHour}, .until = {120 * kHour}}), (Ids{6, 4, 2}));
  EXPECT_EQ(Runs({.until = {100 * kHour}}), (Ids{3}));
}

TEST_P(StoreReads, RunsAreFoundByHost) {
  for (std::uint64_t id = 1; id <= 6; ++id) {
    Commit({PutRun{RunOf(id)}, PutTask{TaskRow(id, 0, 1)}, PutTask{TaskRow(id, 0, 1, 2)},
            PutTask{TaskRow(id, 1, id % 2 == 0 ? 7 : 8)}});
  }
  EXPECT_EQ(Runs({.host = HostId(1)}, 0, 2), (Ids{6, 5}));
  EXPECT_EQ(Runs({.host = HostId(7)}), (Ids{6, 4, 2}));
  EXPECT_EQ(Runs({.host = HostId(7)}, 6, 1), (Ids{4}));
  EXPECT_EQ(Runs({.by = "alice", .host = HostId(8), .since = {1'000'002}}), (Ids{5, 3}));
  EXPECT_EQ(Runs({.host = HostId(99)}), (Ids{}));
}

TEST_P(StoreReads, StateFilterFollowsTheRun) {
  Commit({PutRun{RunOf(1)}});
  Commit({PutRun{RunOf(1, RunState::kSucceeded)}});
  EXPECT_EQ(Runs({.state = RunState::kRunning}), (Ids{}));
  EXPECT_EQ(Runs({.state = RunState::kSucceeded}), (Ids{1}));
}

TEST_P(StoreReads, TasksComeInOrderPageByPage) {
  std::vector<Change> changes;
  for (std::uint32_t ordinal = 0; ordinal < 5; ++ordinal)
    changes.emplace_back(PutTask{TaskRow(1, ordinal, 10 + ordinal)});
  changes.emplace_back(PutTask{TaskRow(1, 2, 12, 2)});
  auto second_visit = TaskRow(1, 0, 10);
  second_visit.key.visit = Visit(2);
  changes.emplace_back(PutTask{second_visit});
  changes.emplace_back(PutTask{TaskRow(2, 0, 10)});
  Commit(std::move(changes));
  std::vector<TaskKey> keys;
  std::optional<TaskKey> after;
  while (true) {
    const auto page = Tasks({.last_attempt_only = false}, after, 2);
    if (page.empty()) break;
    for (const auto& task : page) keys.push_back(task.key);
    after = keys.back();
  }
  EXPECT_EQ(keys, (std::vector{TaskRow(1, 0, 10).key, TaskRow(1, 1, 11).key, TaskRow(1, 2, 12).key,
                               TaskRow(1, 2, 12, 2).key, TaskRow(1, 3, 13).key,
                               TaskRow(1, 4, 14).key, second_visit.key}));
  EXPECT_EQ(Tasks({}).size(), 6U);
}

TEST_P(StoreReads, TasksAreFilteredByTheirLastAttempt) {
  const auto failed = TaskRow(1, 0, 10, 1, TaskState::kFailed);
  const auto retried = TaskRow(1, 0, 10, 2, TaskState::kSucceeded);
  const auto other = TaskRow(1, 1, 11, 1, TaskState::kFailed);
  Commit({PutTask{failed}, PutTask{retried}, PutTask{other}});
  EXPECT_EQ(Tasks({.state = TaskState::kFailed}), std::vector{other});
  EXPECT_EQ(Tasks({.state = TaskState::kFailed, .last_attempt_only = false}),
            (std::vector{failed, other}));
  EXPECT_EQ(Tasks({.host = HostId(10)}), std::vector{retried});
  EXPECT_EQ(Tasks({.host = HostId(10), .last_attempt_only = false}),
            (std::vector{failed, retried}));
  EXPECT_EQ(Tasks({.host = HostId(10), .last_attempt_only = false}, failed.key),
            std::vector{retried});
}

TEST_P(StoreReads, FindTasksAnswersKeyByKeyAndNamesItsCommit) {
  Commit({PutTask{TaskRow(1, 0, 10)}});
  Commit({PutTask{TaskRow(1, 1, 11)}});
  const auto found = store_->FindTasks(
      {TaskRow(1, 1, 11).key, TaskRow(1, 5, 11).key, TaskRow(1, 0, 99).key, TaskRow(1, 0, 10).key});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->commit, CommitNumber(2));
  ASSERT_EQ(found->value.size(), 4U);
  EXPECT_EQ(found->value[0], TaskRow(1, 1, 11));
  EXPECT_FALSE(found->value[1]);
  EXPECT_FALSE(found->value[2]);  // that place is another host's
  EXPECT_EQ(found->value[3], TaskRow(1, 0, 10));
}

TEST_P(StoreReads, RunsAndTargetsAreFoundById) {
  EXPECT_EQ(store_->FindTargets(RunId(1)).error().code, ErrorCode::kNotFound);
  EXPECT_FALSE(store_->FindRun(RunId(1))->value);
  const Targets targets = RandomRecords(1).SomeTargets();
  Commit({PutRun{RunOf(1)}, PutTargets{RunId(1), std::make_shared<const Targets>(targets)}});
  EXPECT_EQ(**store_->FindTargets(RunId(1)), targets);
  const auto run = store_->FindRun(RunId(1));
  ASSERT_TRUE(run && run->value);
  EXPECT_EQ(run->commit, CommitNumber(1));
}

TEST_P(StoreReads, KeysBelongToTheirCallerAndLastSevenDays) {
  const auto key_at = [](std::string caller, std::int64_t ms) {
    return IdempotencyKey{.caller = std::move(caller),
                          .key = "k",
                          .body_sha256 = std::string("\0\xff", 2),
                          .run = RunId(4),
                          .created = {ms}};
  };
  constexpr std::int64_t kDay = 24 * 3'600'000;
  Commit({PutKey{key_at("alice", kDay)}});
  const auto found = store_->FindKey("alice", "k");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->value, key_at("alice", kDay));
  EXPECT_EQ(found->commit, CommitNumber(1));
  EXPECT_FALSE(store_->FindKey("bob", "k")->value);
  EXPECT_FALSE(store_->FindKey("alice", "other")->value);
  Commit({PutKey{key_at("bob", 8 * kDay)}});
  EXPECT_TRUE(store_->FindKey("alice", "k")->value);
  Commit({PutKey{key_at("carol", 8 * kDay + 1)}});
  EXPECT_FALSE(store_->FindKey("alice", "k")->value);
  EXPECT_TRUE(store_->FindKey("bob", "k")->value);
}

// Every commit writes the run's reason and one task together, so a reader that sees one without the
// other, or names another commit, did not read one moment.
TEST_P(StoreReads, ReadersSeeOneMomentWhileTheWriterGoesOn) {
  std::atomic<bool> stop = false;
  std::atomic<int> torn = 0;
  std::atomic<int> reads = 0;
  std::thread reader([&] {
    while (!stop) {
      const auto run = store_->FindRun(RunId(1));
      if (!run)
        ++torn;
      else if (run->value && run->value->reason != std::to_string(run->commit.value))
        ++torn;
      const auto tasks = store_->FindTasks({TaskRow(1, 0, 1).key, TaskRow(1, 1, 2).key});
      if (!tasks)
        ++torn;
      else if (tasks->value[0].has_value() != tasks->value[1].has_value())
        ++torn;
      else if (tasks->value[0] && (tasks->value[0]->ended_commit != tasks->commit ||
                                   tasks->value[1]->ended_commit != tasks->commit))
        ++torn;
      ++reads;
    }
  });
  for (std::uint64_t i = 1; i <= 200 || reads < 20; ++i) {
    muster::Run run = RunOf(1);
    run.reason = std::to_string(i);
    TaskRecord one = TaskRow(1, 0, 1);
    TaskRecord two = TaskRow(1, 1, 2);
    one.ended_commit = two.ended_commit = CommitNumber(i);
    Commit({PutRun{run}, PutTask{one}, PutTask{two}});
  }
  stop = true;
  reader.join();
  EXPECT_EQ(torn, 0);
}

MUSTER_STORE_ADAPTERS(StoreReads);

}  // namespace
}  // namespace muster
