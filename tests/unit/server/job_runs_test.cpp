#include "server/live/job_runs.hpp"

#include <gtest/gtest.h>

#include "adapters/memory/memory_store.hpp"

namespace muster::server {
namespace {

class JobRunsTest : public testing::Test {
 protected:
  static muster::Run RunOf(std::uint64_t id, const std::string& job, RunState state) {
    muster::Run run;
    run.id = RunId(id);
    run.spec.job = job;
    run.state = state;
    run.created = WallTime{static_cast<std::int64_t>(1000 * id)};
    return run;
  }

  void Keep(const muster::Run& run) {
    auto batch = std::make_shared<Batch>();
    batch->changes.emplace_back(PutRun{run});
    if (!fence_.term) fence_ = *store_.TakeTerm();
    fence_.number = CommitNumber(fence_.number.value + 1);
    store_.Commit(batch, fence_.term, fence_.number,
                  [](const Result<>& done) { EXPECT_TRUE(done); });
  }

  void Commit(const muster::Run& run) {
    Keep(run);
    Batch batch;
    batch.changes.emplace_back(PutRun{run});
    runs_.Take(batch);
  }

  Result<> Read() {
    return runs_.ReadEarlier(store_, [] { return Result<>(); });
  }

  MemoryStore store_;
  Fence fence_;
  JobRuns runs_;
};

TEST_F(JobRunsTest, NewestRunOfAJobCounts) {
  Commit(RunOf(1, "a", RunState::kSucceeded));
  Commit(RunOf(3, "a", RunState::kRunning));
  Commit(RunOf(2, "a", RunState::kFailed));
  Commit(RunOf(4, "", RunState::kFailed));
  EXPECT_EQ(runs_.Find("a")->run, RunId(3));
  Commit(RunOf(3, "a", RunState::kFailed));
  EXPECT_EQ(runs_.Find("a")->state, RunState::kFailed);
  EXPECT_FALSE(runs_.Find(""));
}

TEST_F(JobRunsTest, RunsFromBeforeAreReadOnceAndNeverReplaceNewerOnes) {
  Keep(RunOf(1, "a", RunState::kFailed));
  Keep(RunOf(2, "b", RunState::kSucceeded));
  Keep(RunOf(3, "b", RunState::kFailed));
  EXPECT_FALSE(runs_.Find("a"));
  Commit(RunOf(5, "a", RunState::kRunning));
  ASSERT_TRUE(Read());
  EXPECT_EQ(runs_.Find("a")->run, RunId(5));
  EXPECT_EQ(runs_.Find("b")->run, RunId(3));
  EXPECT_FALSE(runs_.Since());
  Keep(RunOf(6, "b", RunState::kSucceeded));
  ASSERT_TRUE(Read());
  EXPECT_EQ(runs_.Find("b")->run, RunId(3)) << "later runs come by commits";
}

TEST_F(JobRunsTest, AnotherLeadershipReadsAgain) {
  ASSERT_TRUE(Read());
  Keep(RunOf(1, "a", RunState::kFailed));
  runs_.Forget();
  ASSERT_TRUE(Read());
  EXPECT_EQ(runs_.Find("a")->run, RunId(1));
}

TEST_F(JobRunsTest, ReadingThatIsEndedBeginsAgain) {
  Keep(RunOf(1, "a", RunState::kFailed));
  const auto over = [] { return Result<>(Fail(ErrorCode::kTimeout, "over")); };
  EXPECT_EQ(runs_.ReadEarlier(store_, over).error().code, ErrorCode::kTimeout);
  ASSERT_TRUE(Read());
  EXPECT_TRUE(runs_.Find("a"));
}

TEST_F(JobRunsTest, OnlyTheNewestAreRead) {
  for (std::uint64_t id = 1; id <= JobRuns::kMostRead + 50; ++id)
    Keep(RunOf(id, id <= 50 ? "old" : "new", RunState::kSucceeded));
  ASSERT_TRUE(Read());
  EXPECT_FALSE(runs_.Find("old"));
  EXPECT_EQ(runs_.Since(), WallTime{51'000});
}

}  // namespace
}  // namespace muster::server
