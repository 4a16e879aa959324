#include "base/text.hpp"
#include "contract/old_schema.hpp"
#include "contract/store_fixture.hpp"
#include "support/old_runs.hpp"

namespace muster {
namespace {

// A folder that a musterd of schema 1 left: r1 is open, r2 failed (its host 0 succeeded, host 1
// failed at its second attempt, host 2 was never sent anything).
class SqliteOldRuns : public testing::Test {
 protected:
  SqliteOldRuns() {
    Open();
    store_.reset();
    BackToSchema1(folder_.Path(),
                  fmt::format("INSERT INTO run VALUES (1, 2, 'alice', 1700000000000, x'{}'),"
                              " (2, 5, 'alice', 1700000000000, x'{}');"
                              "UPDATE meta SET value = 3 WHERE name = 'next_run';"
                              "INSERT INTO task VALUES"
                              " (1, 1, 0, 1, 7, 2, 5000, 1, 1, 0, 0, 0, 0, 0, 0, NULL),"
                              " (2, 1, 0, 1, 7, 4, 5000, 1, 1, 6000, 2, 1, 0, 1, 0, NULL),"
                              " (2, 1, 1, 1, 8, 4, 5000, 1, 1, 6000, 2, 1, 0, 1, 0, NULL),"
                              " (2, 1, 1, 2, 8, 5, 5000, 1, 1, 6000, 2, 1, 0, 1, 0, NULL),"
                              " (2, 1, 2, 1, 9, 11, 0, 0, 0, 6000, 2, 1, 0, 1, 0, NULL);",
                              ToHex(OldOpenRun()), ToHex(OldEndedRun())));
    Open();
  }

  void Open() {
    store_.reset();
    auto store = SqliteStore::Open(folder_.Path());
    ASSERT_TRUE(store) << store.error().message;
    store_ = std::move(*store);
    auto fence = store_->TakeTerm();
    ASSERT_TRUE(fence) << fence.error().message;
    fence_ = *fence;
  }
  void Commit(std::vector<Change> changes) {
    const CommitNumber next(fence_.number.value + 1);
    auto done = CommitTo(*store_, BatchOf(std::move(changes)), fence_.term, next);
    ASSERT_TRUE(done) << done.error().message;
    fence_.number = next;
  }
  Snapshot::OpenRun Whole(std::uint64_t id) {
    auto whole = store_->ReadWholeRun(RunId(id));
    EXPECT_TRUE(whole && whole->value);
    return whole && whole->value ? std::move(*whole->value) : Snapshot::OpenRun();
  }
  static StageVisit VisitOfTheOpenRun() {
    StageVisit visit;
    visit.visit = Visit(1);
    visit.name = "command";
    visit.started = {1'700'000'000'000};
    visit.hosts = Ordinals::All(3);
    return visit;
  }

  TempFolder folder_;
  std::unique_ptr<SqliteStore> store_;
  Fence fence_;
};

TEST_F(SqliteOldRuns, OpenRunIsLoadedWithItsPlanAndItsOneVisit) {
  for (int opened = 0; opened < 2; ++opened) {
    const auto snapshot = store_->Load(fence_.term);
    ASSERT_TRUE(snapshot) << snapshot.error().message;
    ASSERT_EQ(snapshot->runs.size(), 1U);
    const Snapshot::OpenRun& run = snapshot->runs[0];
    EXPECT_EQ(run.run.id, RunId(1));
    EXPECT_EQ(run.run.next_visit, 2U);
    ASSERT_EQ(run.run.spec.stages.size(), 1U);
    EXPECT_EQ(CommandOf(run.run.spec.stages[0])->argv.at(0), "systemctl");
    ASSERT_EQ(run.run.stages.size(), 1U);
    EXPECT_EQ(run.run.stages[0].state, StageState::kRunning);
    EXPECT_EQ(run.visits, std::vector{VisitOfTheOpenRun()});
    EXPECT_EQ(run.tasks.size(), 1U);
    Open();
  }
}

TEST_F(SqliteOldRuns, RunWrittenAgainKeepsItsPlanAndVisit) {
  Snapshot::OpenRun before = Whole(1);
  before.run.reason = "touched";
  Commit({PutRun{before.run}});
  Open();
  const Snapshot::OpenRun after = Whole(1);
  EXPECT_EQ(after.run.reason, "touched");
  EXPECT_EQ(after.run.spec.stages, before.run.spec.stages);
  EXPECT_EQ(after.visits, std::vector{VisitOfTheOpenRun()});
}

TEST_F(SqliteOldRuns, VisitWrittenAgainIsTheNewOne) {
  StageVisit visit = VisitOfTheOpenRun();
  visit.state = StageState::kSucceeded;
  Commit({PutVisit{RunId(1), visit}});
  const Snapshot::OpenRun after = Whole(1);
  EXPECT_EQ(after.visits, std::vector{visit});
  EXPECT_EQ(after.run.spec.stages.size(), 1U);
}

TEST_F(SqliteOldRuns, EndedRunHasAllARetryNeeds) {
  const Snapshot::OpenRun before = Whole(2);
  ASSERT_EQ(before.visits.size(), 1U);
  const StageVisit first = before.visits[0];
  EXPECT_EQ(first.state, StageState::kFailed);
  EXPECT_EQ(first.touched, Ordinals::Of({0, 1}));
  EXPECT_EQ(first.dropped, Ordinals::Of({1, 2}));
  EXPECT_EQ(first.counts.Total(), 3U);

  muster::Run run = before.run;
  run.state = RunState::kRunning;
  run.pass = 2;
  RunSpec corrected = run.spec;
  corrected.stages[0].name = "corrected";
  StageVisit second = VisitOfTheOpenRun();
  second.visit = Visit(2);
  second.pass = 2;
  Commit({PutPlan{RunId(2), std::make_shared<const RunSpec>(corrected)}, PutRun{run},
          PutVisit{RunId(2), second}});
  const Snapshot::OpenRun after = Whole(2);
  EXPECT_EQ(after.run.pass, 2U);
  EXPECT_EQ(after.run.spec.stages, corrected.stages);
  EXPECT_EQ(after.visits, (std::vector{first, second}));
}

TEST_F(SqliteOldRuns, ListsGoWithoutPlansAndVisitsByCursor) {
  for (const RunFilter& filter : {RunFilter{}, RunFilter{.host = HostId(7)}}) {
    const auto runs = store_->ListRuns(filter, RunId(), 10);
    ASSERT_TRUE(runs && runs->size() == 2);
    for (const auto& run : *runs) EXPECT_TRUE(run.spec.stages.empty());
  }
  EXPECT_EQ(store_->ListVisits(RunId(1), Visit(), 10), std::vector{VisitOfTheOpenRun()});
  EXPECT_TRUE(store_->ListVisits(RunId(1), Visit(1), 10)->empty());
  EXPECT_TRUE(store_->ListVisits(RunId(1), Visit(), 0)->empty());
  EXPECT_FALSE(store_->FindRun(RunId(2))->value->spec.stages.empty());
}

TEST_F(SqliteOldRuns, DroppedRunIsGone) {
  Commit({DropRun{.run = RunId(2)}});
  EXPECT_FALSE(store_->ReadWholeRun(RunId(2))->value);
  EXPECT_TRUE(store_->ListVisits(RunId(2), Visit(), 10)->empty());
}

}  // namespace
}  // namespace muster
