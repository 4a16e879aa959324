#include "checks/history.hpp"

#include <algorithm>

#include <gtest/gtest.h>

namespace muster::checks {
namespace {

// A run of two stages on two hosts that went well, after a first attempt on the second host failed;
// each test spoils one thing.
class History : public testing::Test {
 protected:
  using Lines = std::vector<std::string>;

  History() {
    run_.id = RunId(12);
    run_.state = RunState::kSucceeded;
    run_.hosts = 2;
    run_.ended_commit = CommitNumber(30);
    run_.counts[TaskState::kSucceeded] = 2;
    run_.stages = {{.name = "install"}, {.name = "check"}};
    for (auto& stage : run_.stages) stage.counts[TaskState::kSucceeded] = 2;
    AddVisit(1, 0, "install");
    AddVisit(2, 1, "check");
    AddRow(1, 0, 1, 10, 12);
    AddRow(1, 1, 1, 10, 13).state = TaskState::kFailed;
    AddRow(1, 1, 2, 14, 16);
    AddRow(2, 0, 1, 16, 19);
    AddRow(2, 1, 1, 16, 30);
  }

  void AddVisit(std::uint32_t number, std::uint32_t stage, std::string name) {
    StageVisit visit;
    visit.visit = Visit(number);
    visit.stage = stage;
    visit.name = std::move(name);
    visit.state = StageState::kSucceeded;
    visit.onward = stage == 1 ? Onward::kNone : Onward::kMore;
    visit.hosts = Ordinals::All(2);
    visit.counts[TaskState::kSucceeded] = 2;
    visits_.push_back(std::move(visit));
  }
  TaskRecord& AddRow(std::uint32_t visit, std::uint32_t ordinal, std::uint32_t attempt,
                     std::uint64_t sent, std::uint64_t ended) {
    TaskRecord row;
    row.key = {run_.id, Visit(visit), ordinal, HostId(ordinal + 1), Attempt(attempt)};
    row.state = TaskState::kSucceeded;
    row.sent = row.ended = WallTime{1'800'000'000'000};
    row.sent_commit = CommitNumber(sent);
    row.ended_commit = CommitNumber(ended);
    row.sent_term = row.ended_term = Term(4);
    rows_.push_back(std::move(row));
    return rows_.back();
  }

  HistoryChecker Check() {
    HistoryChecker checker({.horizon = horizon_});
    checker.Begin(run_, visits_);
    for (const auto& row : rows_) checker.Take(row);
    checker.End();
    return checker;
  }
  // "doubled r12/1/1/h2/2"
  Lines Found() {
    Lines lines;
    for (const auto& finding : Check().findings().list())
      lines.push_back(fmt::format("{} {}", Name(finding.kind), FormatTaskKey(finding.task)));
    return lines;
  }

  muster::Run run_;
  std::vector<StageVisit> visits_;
  std::vector<TaskRecord> rows_;
  CommitNumber horizon_{100};
};

TEST_F(History, ThatIsWholeHasNoFindings) {
  const HistoryChecker checker = Check();
  EXPECT_TRUE(checker.findings().list().empty());
  EXPECT_TRUE(checker.terms().Overlaps().empty());
  EXPECT_EQ(checker.counts().runs, 1U);
  EXPECT_EQ(checker.counts().tasks, 4U);
  EXPECT_EQ(checker.counts().attempts, 5U);
  EXPECT_EQ(checker.counts().open, 0U);
  EXPECT_EQ(checker.terms().Last(), CommitNumber(30));
}

TEST_F(History, FirstAttemptThatIsGoneIsLost) {
  rows_.erase(rows_.begin() + 1);
  EXPECT_EQ(Found(), (Lines{"lost r12/1/1/h2/2"}));
}

TEST_F(History, HoleBetweenAttemptsIsLost) {
  rows_[2].key.attempt = Attempt(3);
  EXPECT_EQ(Found(), (Lines{"lost r12/1/1/h2/3"}));
}

TEST_F(History, HolesOfARestoreAreNotLost) {
  rows_[2].key.attempt = Attempt(3);
  for (std::size_t i = 2; i < rows_.size(); ++i)
    rows_[i].sent_term = rows_[i].ended_term = Term((1ULL << 32) + 5);
  EXPECT_EQ(Found(), Lines{});
}

TEST_F(History, FirstAttemptsThatARestoreTookAreNotLost) {
  rows_.erase(rows_.begin() + 1);
  for (auto& row : rows_) row.sent_term = row.ended_term = Term((1ULL << 32) + 5);
  EXPECT_EQ(Found(), Lines{});
}

TEST_F(History, HostThatNobodyCountedIsLost) {
  rows_.pop_back();
  visits_[1].counts = run_.stages[1].counts = {};
  visits_[1].counts[TaskState::kSucceeded] = run_.stages[1].counts[TaskState::kSucceeded] = 1;
  EXPECT_EQ(Found(), (Lines{"lost r12/2/0/h0/0"}));
}

TEST_F(History, TaskThatIsGoneIsLost) {
  rows_.pop_back();
  EXPECT_EQ(Found(), (Lines{"lost r12/2/0/h0/0"}));
}

TEST_F(History, TaskWithAnotherOutcomeThanItsVisitCountedIsLost) {
  rows_[3].state = TaskState::kFailed;
  EXPECT_EQ(Found(), (Lines{"lost r12/2/0/h0/0", "lost r12/0/0/h0/0"}));
}

// A host failed in a stage, and one behind it went well, as a cleanup does.
TEST_F(History, RunThatCountsHostsByTheirLastTasksIsLost) {
  rows_[0].state = TaskState::kFailed;
  for (TaskCounts* counts : {&visits_[0].counts, &run_.stages[0].counts}) {
    (*counts)[TaskState::kSucceeded] = 1;
    (*counts)[TaskState::kFailed] = 1;
  }
  EXPECT_EQ(Found(), (Lines{"lost r12/0/0/h0/0"}));
  run_.counts[TaskState::kSucceeded] = 1;
  run_.counts[TaskState::kFailed] = 1;
  EXPECT_EQ(Found(), Lines{});
  for (auto& visit : visits_) visit.onward = Onward::kUnknown;  // of an older version
  run_.counts[TaskState::kSucceeded] = 2;
  run_.counts[TaskState::kFailed] = 0;
  EXPECT_EQ(Found(), Lines{});
}

TEST_F(History, StageThatCountsOtherwiseThanItsVisitsIsLost) {
  run_.stages[0].counts[TaskState::kSucceeded] = 1;
  EXPECT_EQ(Found(), (Lines{"lost r12/0/0/h0/0"}));
}

TEST_F(History, VisitThatWasCutShortMayLackHosts) {
  visits_[1].state = StageState::kCancelled;
  visits_[1].counts = run_.stages[1].counts = {};
  rows_.resize(3);
  EXPECT_EQ(Found(), Lines{});
}

TEST_F(History, AttemptSentBeforeTheOneBeforeEndedIsDoubled) {
  rows_[2].sent_commit = CommitNumber(12);
  EXPECT_EQ(Found(), (Lines{"doubled r12/1/1/h2/2"}));
}

TEST_F(History, AttemptSentByTheCommitThatEndedTheOneBeforeIsWell) {
  rows_[2].sent_commit = CommitNumber(13);
  EXPECT_EQ(Found(), Lines{});
}

TEST_F(History, AttemptBesideAnOpenOneIsDoubled) {
  run_.state = RunState::kRunning;
  run_.ended_commit = {};
  rows_.resize(3);
  rows_[1].state = TaskState::kSent;
  rows_[1].ended_commit = {};
  rows_[1].ended_term = {};
  EXPECT_EQ(Found(), (Lines{"doubled r12/1/1/h2/2"}));
}

TEST_F(History, AttemptAfterSuccessIsDoubled) {
  rows_[1].state = TaskState::kSucceeded;
  EXPECT_EQ(Found(), (Lines{"doubled r12/1/1/h2/2"}));
}

TEST_F(History, AttemptAfterAKillIsDoubled) {
  rows_[1].state = TaskState::kKilled;
  EXPECT_EQ(Found(), (Lines{"doubled r12/1/1/h2/2"}));
}

TEST_F(History, AttemptMayFollowOneThatDidNotRunOrIsLost) {
  rows_[1].state = TaskState::kUnreachable;
  EXPECT_EQ(Found(), Lines{});
  rows_[1].state = TaskState::kLost;
  EXPECT_EQ(Found(), Lines{});
}

TEST_F(History, AttemptAfterAStopOfItsTaskIsFound) {
  rows_[1].stop_wished = true;
  EXPECT_EQ(Found(), (Lines{"stopped r12/1/1/h2/2"}));
}

TEST_F(History, EndBeforeTheOrderIsFound) {
  rows_[0].ended_commit = CommitNumber(9);
  EXPECT_EQ(Found(), (Lines{"order r12/1/0/h1/1"}));
}

TEST_F(History, EndWithoutACommitIsFound) {
  rows_[0].ended_commit = {};
  EXPECT_EQ(Found(), (Lines{"order r12/1/0/h1/1"}));
}

TEST_F(History, CommitWithoutAnEndIsFound) {
  rows_[4].state = TaskState::kSent;
  EXPECT_EQ(Found()[0], "order r12/2/1/h2/1");
}

TEST_F(History, OpenTaskOfAnEndedRunIsFound) {
  rows_[4].state = TaskState::kSent;
  rows_[4].ended_commit = {};
  EXPECT_EQ(Found()[0], "open r12/2/1/h2/1");
}

TEST_F(History, OpenVisitOfAnEndedRunIsFound) {
  visits_[1].state = StageState::kRunning;
  EXPECT_EQ(Found(), (Lines{"open r12/2/0/h0/0"}));
}

TEST_F(History, TaskSentAfterTheEndOfItsRunIsFound) {
  rows_[4].sent_commit = rows_[4].ended_commit = CommitNumber(31);
  EXPECT_EQ(Found(), (Lines{"open r12/2/1/h2/1"}));
}

TEST_F(History, TaskEndedAfterTheEndOfItsRunIsFound) {
  rows_[4].ended_commit = CommitNumber(31);
  EXPECT_EQ(Found(), (Lines{"open r12/2/1/h2/1"}));
}

TEST_F(History, TaskSentAfterAStopIsFound) {
  run_.stop = StopWish{.by = "alice"};
  run_.stop_commit = CommitNumber(15);
  EXPECT_EQ(Found(), (Lines{"stopped r12/2/0/h1/1", "stopped r12/2/1/h2/1"}));
}

TEST_F(History, TaskThatAHostBringsBackAfterARestoreMayHaveBeenSentBeforeTheStop) {
  run_.stop = StopWish{.by = "alice"};
  run_.stop_commit = CommitNumber(29);
  rows_[4].sent_commit = CommitNumber(30);
  rows_[4].sent_term = rows_[4].ended_term = Term((1ULL << 32) + 5);
  EXPECT_EQ(Found(), Lines{});
}

TEST_F(History, TaskThatAStopSkippedIsWell) {
  run_.stop = StopWish{.by = "alice"};
  run_.stop_commit = CommitNumber(29);
  rows_[4].state = TaskState::kSkipped;
  rows_[4].sent = {};
  rows_[4].sent_commit = rows_[4].ended_commit = CommitNumber(30);
  visits_[1].state = StageState::kCancelled;
  run_.counts = {};
  run_.counts[TaskState::kSucceeded] = run_.counts[TaskState::kSkipped] = 1;
  EXPECT_EQ(Found(), Lines{});
}

TEST_F(History, StageBegunBeforeTheEndOfTheOneBeforeIsFound) {
  rows_[3].sent_commit = CommitNumber(15);
  EXPECT_EQ(Found(), (Lines{"order r12/2/0/h1/1"}));
  visits_[1].needs.emplace();  // a graph, in which it waits for nothing
  EXPECT_EQ(Found(), Lines{});
  visits_[1].needs->push_back(Visit(1));
  EXPECT_EQ(Found(), (Lines{"order r12/2/0/h1/1"}));
}

TEST_F(History, StageBegunBesideOpenWorkOfTheOneBeforeIsFound) {
  run_.state = RunState::kRunning;
  run_.ended_commit = {};
  rows_[0].state = TaskState::kSent;
  rows_[0].ended_commit = {};
  EXPECT_EQ(Found(), (Lines{"order r12/2/0/h1/1"}));
}

TEST_F(History, WorkOfInnerStagesCountsForTheOneAround) {
  // 2 lies in 1; 3 follows 1.
  StageVisit inner = visits_[0];
  inner.visit = Visit(2);
  inner.parent = Visit(1);
  visits_[1].visit = Visit(3);
  visits_.insert(visits_.begin() + 1, inner);
  for (auto& row : rows_) row.key.visit = Visit(row.key.visit.value + 1);
  run_.stages = {};
  EXPECT_EQ(Found(), Lines{});
  rows_[3].sent_commit = CommitNumber(15);
  EXPECT_EQ(Found(), (Lines{"order r12/3/0/h1/1"}));
}

TEST_F(History, InnerStagesAreHeldAgainstTheirNeighbours) {
  // 2 and 3 lie in 1.
  visits_[0].visit = Visit(2);
  visits_[1].visit = Visit(3);
  visits_[0].parent = visits_[1].parent = Visit(1);
  StageVisit roll = visits_[0];
  roll.visit = Visit(1);
  roll.parent = {};
  roll.name = "roll";
  visits_.insert(visits_.begin(), roll);
  for (auto& row : rows_) row.key.visit = Visit(row.key.visit.value + 1);
  run_.stages = {};
  EXPECT_EQ(Found(), Lines{});
  rows_[3].sent_commit = CommitNumber(15);
  EXPECT_EQ(Found(), (Lines{"order r12/3/0/h1/1"}));
}

TEST_F(History, PassesAreNotHeldAgainstOneAnother) {
  visits_[1].pass = run_.pass = 2;
  run_.stages[0].counts = {};
  rows_[3].sent_commit = CommitNumber(15);
  EXPECT_EQ(Found(), Lines{});
}

TEST_F(History, TaskOfNoVisitIsStray) {
  rows_[4].key.visit = Visit(9);
  EXPECT_EQ(Found()[0], "stray r12/9/1/h2/1");
}

TEST_F(History, TaskOfNoHostOfItsVisitIsStray) {
  rows_[4].key.ordinal = 5;
  EXPECT_EQ(Found()[0], "stray r12/2/5/h2/1");
}

// Rows are read one after the other, and the record goes on meanwhile.
TEST_F(History, WhatWasWrittenAfterTheHorizonIsLeftOut) {
  horizon_ = CommitNumber(13);
  EXPECT_EQ(Found(), Lines{});
  EXPECT_EQ(Check().counts().attempts, 2U);
  horizon_ = CommitNumber(12);
  EXPECT_EQ(Check().counts().open, 1U);
}

TEST_F(History, PassThatBeganMeanwhileIsLeftOut) {
  AddVisit(3, 0, "install");
  visits_.back().pass = 2;
  visits_.back().state = StageState::kRunning;
  horizon_ = CommitNumber(30);
  AddRow(3, 0, 1, 31, 33);
  EXPECT_EQ(Found(), Lines{});
}

TEST_F(History, FindingsAreCountedBeyondTheMost) {
  rows_[0].ended_commit = rows_[1].ended_commit = {};
  HistoryChecker checker({.horizon = horizon_, .most_findings = 1});
  checker.Begin(run_, visits_);
  for (const auto& row : rows_) checker.Take(row);
  checker.End();
  EXPECT_EQ(checker.findings().list().size(), 1U);
  EXPECT_EQ(checker.findings().more(), 1U);
}

TEST(TermLedger, TermsThatFollowOneAnotherAreWell) {
  TermLedger ledger;
  ledger.Take(Term(5), CommitNumber(20), {});
  ledger.Take(Term(4), CommitNumber(3), {});
  ledger.Take(Term(4), CommitNumber(19), {});
  ledger.Take(Term(7), CommitNumber(21), {});
  EXPECT_TRUE(ledger.Overlaps().empty());
}

TEST(TermLedger, OlderTermThatWritesAfterANewerIsFound) {
  TermLedger ledger;
  ledger.Take(Term(4), CommitNumber(21), {});
  ledger.Take(Term(5), CommitNumber(20), {});
  ASSERT_EQ(ledger.Overlaps().size(), 1U);
  EXPECT_EQ(ledger.Overlaps()[0].kind, Finding::Kind::kTerms);
}

TEST(TermLedger, TermInsideAnOlderOneThatIsNotItsNeighbourIsFound) {
  TermLedger ledger;
  ledger.Take(Term(4), CommitNumber(10), {});
  ledger.Take(Term(4), CommitNumber(50), {});
  ledger.Take(Term(5), CommitNumber(30), {});
  ledger.Take(Term(6), CommitNumber(40), {});
  EXPECT_EQ(ledger.Overlaps().size(), 2U);
}

TEST(TermLedger, OneCommitOfTwoTermsIsFound) {
  TermLedger ledger;
  ledger.Take(Term(4), CommitNumber(20), {});
  ledger.Take(Term(5), CommitNumber(20), {});
  EXPECT_EQ(ledger.Overlaps().size(), 1U);
}

TEST(TermLedger, PartsAreJoined) {
  TermLedger whole;
  TermLedger part;
  part.Take(Term(4), CommitNumber(10), {});
  part.Take(Term(4), CommitNumber(12), {});
  whole.Take(Term(4), CommitNumber(30), {});
  whole.Take(Term(5), CommitNumber(20), {});
  for (const auto& [term, span] : part.terms()) whole.Take(term, span);
  EXPECT_EQ(whole.terms().at(Term(4)).first, CommitNumber(10));
  EXPECT_EQ(whole.terms().at(Term(4)).last, CommitNumber(30));
  EXPECT_EQ(whole.Overlaps().size(), 1U);
}

}  // namespace
}  // namespace muster::checks
