#include <algorithm>

#include "contract/store_fixture.hpp"
#include "domain/plan_bytes.hpp"
#include "support/random_records.hpp"

namespace muster {
namespace {

class StoreFlow : public StoreContract {
 protected:
  static std::shared_ptr<const RunSpec> PlanOf(std::string stage) {
    RunSpec plan{.title = "deploy", .targets = "web*", .stages = {}};
    plan.job = "deploy-web";
    plan.version = 3;
    plan.params = {{.name = "version", .value = "6.1"}};
    plan.stages.emplace_back().name = std::move(stage);
    return std::make_shared<const RunSpec>(std::move(plan));
  }
  static muster::Run Planned(std::uint64_t id, const RunSpec& plan,
                             RunState state = RunState::kRunning) {
    muster::Run run = RunOf(id, state);
    run.spec = plan;
    return run;
  }
  static StageVisit VisitOf(std::uint32_t number, StageState state = StageState::kSucceeded) {
    StageVisit visit;
    visit.visit = Visit(number);
    visit.stage = number % 3;
    visit.name = "stage";
    visit.state = state;
    visit.hosts = Ordinals::All(100);
    visit.dropped = Ordinals::Of({7, 8, 50});
    return visit;
  }
  static KeyHold HoldOf(std::uint64_t run, std::uint32_t ordinal, std::string key) {
    return {.key = std::move(key), .task = TaskRow(run, ordinal, ordinal + 1).key};
  }
  std::vector<std::uint32_t> Visits(std::uint64_t run, std::uint32_t after = 0,
                                    std::size_t limit = 100) {
    const auto list = store_->ListVisits(RunId(run), Visit(after), limit);
    EXPECT_TRUE(list) << list.error().message;
    std::vector<std::uint32_t> numbers;
    if (list)
      for (const auto& visit : *list) numbers.push_back(visit.visit.value);
    return numbers;
  }
  std::optional<muster::Run> Find(std::uint64_t id) {
    auto found = store_->FindRun(RunId(id));
    EXPECT_TRUE(found) << found.error().message;
    return found ? std::move(found->value) : std::nullopt;
  }
};

using Numbers = std::vector<std::uint32_t>;

TEST_P(StoreFlow, RunPutAgainKeepsItsPlan) {
  const auto plan = PlanOf("drain");
  muster::Run run = Planned(1, *plan);
  Commit({PutRun{run}, PutPlan{RunId(1), plan}});
  run.spec = RowSpecOf(run.spec);
  run.reason = "later";
  Commit({PutRun{run}});
  const auto found = Find(1);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->reason, "later");
  EXPECT_TRUE(SamePlan(found->spec, *plan));
}

// A plan whose stages share a script of 1 MiB, which is written out for each.
std::shared_ptr<const RunSpec> LargePlan(std::size_t stages) {
  muster::Command command;
  command.script = std::string(1 << 20, '#');
  RunSpec plan;
  plan.stages.resize(stages);
  const auto shared = std::make_shared<const muster::Command>(std::move(command));
  for (auto& stage : plan.stages) stage.action = shared;
  return std::make_shared<const RunSpec>(std::move(plan));
}

TEST_P(StoreFlow, WhatCommitTookLoadGivesBack) {
  for (const std::size_t stages : {kMostPlanBytes >> 20, std::size_t{300}}) {
    const auto plan = LargePlan(stages);
    const CommitNumber next(fence_.number.value + 1);
    const RunId id(stages);
    const auto done = CommitTo(
        *store_, BatchOf({PutRun{Planned(id.value, *plan)}, PutPlan{id, plan}}), fence_.term, next);
    if (done) fence_.number = next;
    if (!done) EXPECT_EQ(done.error().code, ErrorCode::kInternal);
    if (stages << 20 <= kMostPlanBytes) EXPECT_TRUE(done) << "a run may have such a plan";
    const auto loaded = store_->Load(fence_.term);
    ASSERT_TRUE(loaded) << loaded.error().message;
    const auto found =
        std::ranges::find(loaded->runs, id, [](const auto& one) { return one.run.id; });
    ASSERT_EQ(found != loaded->runs.end(), done.has_value());
    if (done) EXPECT_TRUE(SamePlan(found->run.spec, *plan));
  }
}

TEST_P(StoreFlow, RunKeepsWhichCommitsStoppedAndEndedIt) {
  muster::Run run = RunOf(1, RunState::kCancelled);
  run.stop_commit = CommitNumber(71);
  run.ended_commit = CommitNumber(73);
  Commit({PutRun{run}});
  Reopen();
  const auto list = store_->ListRuns({}, RunId(), 10);
  ASSERT_TRUE(list && list->size() == 1);
  EXPECT_EQ(list->front().stop_commit, CommitNumber(71));
  EXPECT_EQ(list->front().ended_commit, CommitNumber(73));
}

TEST_P(StoreFlow, RunWithoutAPlanKeepsOnlyWhatARowSays) {
  const auto plan = PlanOf("drain");
  Commit({PutRun{Planned(1, *plan)}});
  const auto found = Find(1);
  ASSERT_TRUE(found);
  EXPECT_TRUE(SamePlan(found->spec, RowSpecOf(*plan)));
}

TEST_P(StoreFlow, PlanPutAgainTakesThePlaceOfTheOld) {
  Commit({PutRun{Planned(1, *PlanOf("drain"))}, PutPlan{RunId(1), PlanOf("drain")}});
  Commit({PutPlan{RunId(1), PlanOf("corrected")}});
  Reopen();
  EXPECT_EQ(Find(1)->spec.stages.at(0).name, "corrected");
}

TEST_P(StoreFlow, RowsWordsHoldOverThePlans) {
  const auto plan = PlanOf("drain");
  muster::Run run = Planned(1, *plan);
  run.spec.targets = "web[1-3]";
  run.spec.priority = Priority::kHigh;
  Commit({PutRun{run}, PutPlan{RunId(1), plan}});
  const auto found = Find(1);
  ASSERT_TRUE(found);
  EXPECT_TRUE(SamePlan(found->spec, run.spec));
}

TEST_P(StoreFlow, ListsOfRunsGoWithoutPlans) {
  const auto plan = PlanOf("drain");
  Commit({PutRun{Planned(1, *plan)}, PutPlan{RunId(1), plan}, PutTask{TaskRow(1, 0, 7)}});
  for (const RunFilter& filter : {RunFilter{}, RunFilter{.host = HostId(7)}}) {
    const auto list = store_->ListRuns(filter, RunId(), 10);
    ASSERT_TRUE(list && list->size() == 1);
    EXPECT_TRUE(SamePlan(list->front().spec, RowSpecOf(*plan)));
  }
}

TEST_P(StoreFlow, VisitsComeInOrderPageByPage) {
  Commit({PutRun{RunOf(1)}, PutVisit{RunId(1), VisitOf(3)}, PutVisit{RunId(1), VisitOf(1)},
          PutVisit{RunId(2), VisitOf(9)}, PutVisit{RunId(1), VisitOf(12)}});
  Commit({PutVisit{RunId(1), VisitOf(2)}});
  EXPECT_EQ(Visits(1), (Numbers{1, 2, 3, 12}));
  EXPECT_EQ(Visits(1, 0, 3), (Numbers{1, 2, 3}));
  EXPECT_EQ(Visits(1, 3, 3), (Numbers{12}));
  EXPECT_EQ(Visits(1, 12), (Numbers{}));
  EXPECT_EQ(Visits(1, 0, 0), (Numbers{}));
  EXPECT_EQ(Visits(3), (Numbers{}));
}

TEST_P(StoreFlow, VisitPutAgainIsTheNewOne) {
  StageVisit visit = VisitOf(1, StageState::kRunning);
  Commit({PutRun{RunOf(1)}, PutVisit{RunId(1), visit}});
  visit.state = StageState::kAwaitingApproval;
  visit.phase = VisitPhase::kApprove;
  visit.message = "go on?";
  Commit({PutVisit{RunId(1), visit}});
  EXPECT_EQ(store_->ListVisits(RunId(1), Visit(), 10), std::vector{visit});
  visit.state = StageState::kSucceeded;
  visit.decision = Decision{.approved = true, .by = "eve", .at = {5}, .comment = "yes"};
  Commit({PutVisit{RunId(1), visit}});
  EXPECT_EQ(store_->ListVisits(RunId(1), Visit(), 10), std::vector{visit});
}

TEST_P(StoreFlow, LoadBringsOpenRunsWhole) {
  const auto plan = PlanOf("drain");
  const auto targets = std::make_shared<const Targets>(Targets{{HostId(1), "a"}});
  const StageVisit ended = VisitOf(1);
  const StageVisit open = VisitOf(2, StageState::kRunning);
  Commit({PutRun{Planned(1, *plan)}, PutPlan{RunId(1), plan}, PutTargets{RunId(1), targets},
          PutVisit{RunId(1), open}, PutVisit{RunId(1), ended}, PutTask{TaskRow(1, 0, 1)},
          PutRun{RunOf(2, RunState::kFailed)}, PutVisit{RunId(2), VisitOf(1)}});
  Reopen();
  const Snapshot snapshot = Load();
  ASSERT_EQ(snapshot.runs.size(), 1U);
  const Snapshot::OpenRun& run = snapshot.runs[0];
  EXPECT_TRUE(SameRun(run.run, Planned(1, *plan)));
  EXPECT_EQ(*run.targets, *targets);
  EXPECT_EQ(run.tasks, std::vector{TaskRow(1, 0, 1)});
  EXPECT_EQ(run.visits, (std::vector{ended, open}));
}

TEST_P(StoreFlow, WholeRunIsReadAfterItsEnd) {
  const auto plan = PlanOf("drain");
  const auto targets = std::make_shared<const Targets>(Targets{{HostId(1), "a"}});
  const auto failed = TaskRow(1, 0, 1, 1, TaskState::kFailed);
  const auto retried = TaskRow(1, 0, 1, 2, TaskState::kFailed);
  const muster::Run run = Planned(1, *plan, RunState::kFailed);
  Commit({PutRun{run}, PutPlan{RunId(1), plan}, PutTargets{RunId(1), targets}, PutTask{failed},
          PutTask{retried}, PutVisit{RunId(1), VisitOf(1)}, PutVisit{RunId(1), VisitOf(2)}});
  Commit({});
  const auto whole = store_->ReadWholeRun(RunId(1));
  ASSERT_TRUE(whole) << whole.error().message;
  EXPECT_EQ(whole->commit, CommitNumber(2));
  ASSERT_TRUE(whole->value);
  EXPECT_TRUE(SameRun(whole->value->run, run));
  EXPECT_EQ(*whole->value->targets, *targets);
  EXPECT_EQ(whole->value->tasks, (std::vector{failed, retried}));
  EXPECT_EQ(whole->value->visits, (std::vector{VisitOf(1), VisitOf(2)}));
}

TEST_P(StoreFlow, RunThatIsNotThereIsReadAsNothing) {
  Commit({});
  const auto whole = store_->ReadWholeRun(RunId(1));
  ASSERT_TRUE(whole) << whole.error().message;
  EXPECT_FALSE(whole->value);
  EXPECT_EQ(whole->commit, CommitNumber(1));
}

TEST_P(StoreFlow, HoldsStayUntilDropped) {
  const KeyHold first = HoldOf(1, 0, "db");
  const KeyHold other_key = HoldOf(1, 0, "zone a");
  const KeyHold of_run{.key = "db", .task = {.run = RunId(1)}};
  Commit({PutHold{other_key}, PutHold{first}, PutHold{of_run}, PutHold{first}});
  Commit({PutHold{first}});  // again, harmless
  Reopen();
  EXPECT_EQ(Load().holds, (std::vector{of_run, first, other_key}));
  Commit({DropHold{first}, DropHold{first}, DropHold{HoldOf(1, 5, "db")}});
  Commit({DropHold{first}});
  EXPECT_EQ(Load().holds, (std::vector{of_run, other_key}));
}

TEST_P(StoreFlow, DroppedRunTakesItsPlanVisitsAndHoldsAlong) {
  const auto plan = PlanOf("drain");
  for (const std::uint64_t id : {1, 2})
    Commit({PutRun{Planned(id, *plan, RunState::kSucceeded)}, PutPlan{RunId(id), plan},
            PutVisit{RunId(id), VisitOf(1)}, PutVisit{RunId(id), VisitOf(2)},
            PutHold{HoldOf(id, 0, "db")}});
  Commit({DropRun{.run = RunId(1)}});
  EXPECT_FALSE(store_->ReadWholeRun(RunId(1))->value);
  EXPECT_EQ(Visits(1), (Numbers{}));
  EXPECT_EQ(Load().holds, std::vector{HoldOf(2, 0, "db")});
  EXPECT_EQ(Visits(2), (Numbers{1, 2}));
  // Nothing of it shines through a row of the same number.
  Commit({PutRun{RunOf(1)}});
  EXPECT_TRUE(Find(1)->spec.stages.empty());
  EXPECT_FALSE(Find(2)->spec.stages.empty());
}

TEST_P(StoreFlow, BatchSentAgainUnderItsNumberIsWrittenOnce) {
  const auto plan = PlanOf("drain");
  Commit({PutRun{Planned(1, *plan)}, PutPlan{RunId(1), plan}, PutVisit{RunId(1), VisitOf(1)},
          PutHold{HoldOf(1, 0, "db")}});
  // Under the same number, something else: it would show if it were written.
  const Batch other = BatchOf({PutPlan{RunId(1), PlanOf("other")}, PutVisit{RunId(1), VisitOf(2)},
                               PutHold{HoldOf(1, 1, "db")}, DropHold{HoldOf(1, 0, "db")}});
  EXPECT_TRUE(CommitTo(*store_, other, fence_.term, fence_.number));
  EXPECT_EQ(Find(1)->spec.stages.at(0).name, "drain");
  EXPECT_EQ(Visits(1), (Numbers{1}));
  EXPECT_EQ(Load().holds, std::vector{HoldOf(1, 0, "db")});
}

MUSTER_STORE_ADAPTERS(StoreFlow);

TEST(MemoryDisk, CopyHasPlansVisitsAndHolds) {
  auto disk = MakeMemoryDisk();
  MemoryStore store(disk);
  const Fence fence = *store.TakeTerm();
  const auto plan = std::make_shared<const RunSpec>(RandomRecords(3).SomePlan());
  const StageVisit visit = RandomRecords(4).SomeVisit();
  const KeyHold hold{.key = "db", .task = TaskRow(1, 0, 1).key};
  muster::Run run = RunOf(1);
  run.spec = *plan;
  ASSERT_TRUE(CommitTo(
      store,
      BatchOf({PutRun{run}, PutPlan{RunId(1), plan}, PutVisit{RunId(1), visit}, PutHold{hold}}),
      fence.term, CommitNumber(1)));
  MemoryStore copy(CopyOf(*disk, std::nullopt, {}));
  const auto snapshot = copy.Load(fence.term);
  ASSERT_TRUE(snapshot) << snapshot.error().message;
  ASSERT_EQ(snapshot->runs.size(), 1U);
  EXPECT_TRUE(SameRun(snapshot->runs[0].run, run));
  EXPECT_EQ(snapshot->runs[0].visits, std::vector{visit});
  EXPECT_EQ(snapshot->holds, std::vector{hold});
}

}  // namespace
}  // namespace muster
