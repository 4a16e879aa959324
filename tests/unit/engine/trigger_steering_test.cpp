#include "domain/audit_facts.hpp"
#include "unit/engine/trigger_fixture.hpp"

namespace muster::engine {
namespace {

// What people and runs do to triggers.
using TriggerSteering = TriggerFixture;

TEST_F(TriggerSteering, PausedSlotsAreOneRowWhenItGoesOn) {
  Apply(Spec("hourly", "0 * * * *"));
  Pass(kHour + kMinute);
  ASSERT_TRUE(Steer(PauseTrigger{.reason = "holidays"}, "hourly"));
  EXPECT_EQ(State("hourly"), TriggerState::kPaused);
  EXPECT_EQ(DueHour(Row("hourly")), 0);
  Pass(3 * kHour);
  EXPECT_EQ(Ledger("hourly"), Lines{"09:00 started"});
  const auto answer = Steer(ResumeTrigger{}, "hourly");
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->state, TriggerState::kRunnable);
  Pass(kHour);
  EXPECT_EQ(Ledger("hourly"), (Lines{"09:00 started", "10:00-12:00 3 paused", "13:00 started"}));
}

TEST_F(TriggerSteering, DocumentSaysHowANewTriggerBeginsAndNoMore) {
  Apply(Spec("hourly", "0 * * * *"), true);
  EXPECT_EQ(State("hourly"), TriggerState::kPaused);
  EXPECT_EQ(Row("hourly").paused_by, "ann");
  Pass(2 * kHour + kMinute);
  ASSERT_TRUE(Steer(ResumeTrigger{}, "hourly"));
  auto changed = Spec("hourly", "30 * * * *");
  Apply(changed, true);
  EXPECT_EQ(State("hourly"), TriggerState::kRunnable);
  Pass(kHour);
  EXPECT_EQ(Ledger("hourly"), (Lines{"09:00-10:00 2 paused", "10:30 started"}));
  // What somebody paused stays so, whatever the document says.
  ASSERT_TRUE(Steer(PauseTrigger{}, "hourly"));
  changed.cron = "15 * * * *";
  Apply(changed, false);
  EXPECT_EQ(State("hourly"), TriggerState::kPaused);
  // A name that comes back is a new trigger.
  Drop("hourly");
  Apply(changed, false);
  EXPECT_EQ(State("hourly"), TriggerState::kRunnable);
  Drop("hourly");
  Apply(changed, true);
  EXPECT_EQ(State("hourly"), TriggerState::kPaused);
}

TEST_F(TriggerSteering, PauseHoldsWhatWasJustPrepared) {
  Apply(Spec("hourly", "0 * * * *"));
  answers_ = false;
  Pass(kHour);
  const auto slot = slots_.front();
  ASSERT_TRUE(Steer(PauseTrigger{}, "hourly"));
  Fire(slot);
  answers_ = true;
  slots_.clear();
  Serve();
  EXPECT_EQ(Ledger("hourly"), Lines{});
  ASSERT_TRUE(Steer(ResumeTrigger{}, "hourly"));
  EXPECT_EQ(Ledger("hourly"), Lines{"09:00 paused"});
}

TEST_F(TriggerSteering, PauseEndsNoRun) {
  Apply(Spec("hourly", "0 * * * *"));
  run_for_ = 30 * kMinute;
  Pass(kHour + kMinute);
  ASSERT_TRUE(Steer(PauseTrigger{}, "hourly"));
  EXPECT_EQ(OpenRuns(), 1U);
  Pass(kHour);
  EXPECT_EQ(Find(Row("hourly").last_run).state, RunState::kSucceeded);
}

TEST_F(TriggerSteering, SkippedSlotIsLeftOutAndNoOther) {
  Apply(Spec("hourly", "0 * * * *"));
  EXPECT_EQ(Steer(SkipSlot{.slot = At(10, 30)}, "hourly").error().code, ErrorCode::kNotFound);
  ASSERT_TRUE(Steer(SkipSlot{.slot = At(10), .reason = "move"}, "hourly"));
  Restart();
  Pass(3 * kHour + kMinute);
  EXPECT_EQ(Ledger("hourly"), (Lines{"09:00 started", "10:00 by_hand", "11:00 started"}));
  EXPECT_TRUE(Row("hourly").skips.empty());
}

TEST_F(TriggerSteering, FireNowStartsARunBesideTheSchedule) {
  Apply(Spec("hourly", "0 * * * *"));
  ASSERT_TRUE(Steer(PauseTrigger{}, "hourly"));
  const auto answer = Steer(FireTrigger{.plan = WaitPlan(), .reason = "now"}, "hourly");
  ASSERT_TRUE(answer) << answer.error().message;
  const RunId run = std::get<RunStarted>(*answer).run;
  EXPECT_EQ(Find(run).trigger, "hourly");
  EXPECT_EQ(Find(run).by, "ann");
  Pass(kMinute);
  ASSERT_TRUE(Steer(ResumeTrigger{}, "hourly"));
  Pass(kHour);
  EXPECT_EQ(Ledger("hourly"), (Lines{"08:00:00 started by hand", "09:00 started"}));
}

TEST_F(TriggerSteering, FireNowRespectsOverlapUnlessTold) {
  Apply(Spec("hourly", "0 * * * *"));
  run_for_ = kHour;
  ASSERT_TRUE(Steer(FireTrigger{.plan = WaitPlan()}, "hourly"));
  EXPECT_EQ(Steer(FireTrigger{.plan = WaitPlan()}, "hourly").error().code, ErrorCode::kConflict);
  ASSERT_TRUE(Steer(FireTrigger{.plan = WaitPlan(), .despite_overlap = true}, "hourly"));
  EXPECT_EQ(OpenRuns(), 2U);
  EXPECT_EQ(Ledger("hourly").size(), 2U);
}

TEST_F(TriggerSteering, FireThatPassesSomethingOverTellsTheTrail) {
  Apply(Spec("hourly", "0 * * * *"));
  run_for_ = kHour;
  const auto fire = [&] {
    return Steer(FireTrigger{.plan = WaitPlan(), .despite_overlap = true, .during_freeze = true},
                 "hourly");
  };
  // What the entries of the act and of its run say.
  const auto said = [&] {
    const auto entries = *store_.ReadAudit(1, 1000);
    Lines lines;
    for (const auto& entry : {entries.at(entries.size() - 2), entries.back()})
      lines.emplace_back(SplitDetail(entry.detail).sentence);
    return lines;
  };
  const auto answer = fire();
  ASSERT_TRUE(answer);
  EXPECT_EQ(said().front(), "");
  ASSERT_TRUE(Asked(FreezeRuns{}));
  ASSERT_TRUE(fire());
  const std::string passed_over =
      "during a freeze; despite the overlap with " + FormatRunId(std::get<RunStarted>(*answer).run);
  EXPECT_EQ(said().front(), passed_over);
  EXPECT_TRUE(said().back().ends_with("; " + passed_over));
}

TEST_F(TriggerSteering, SlotsRowSaysWhatWasLeftOutOfItsPlan) {
  Apply(Spec("hourly", "0 * * * *"));
  plan_ = [this](const PrepareSlot&) -> Result<SlotPlan> {
    SlotPlan plan = WaitPlan();
    plan.note = "left out";
    return plan;
  };
  const auto detail = [&] { return store_.ListSlots("hourly", {}, {}, 1)->front().detail; };
  Pass(kHour);
  EXPECT_EQ(detail(), "left out");
  Pass(kMinute);
  SlotPlan plan = WaitPlan();
  plan.note = "left out";
  ASSERT_TRUE(Steer(FireTrigger{.plan = plan, .reason = "now"}, "hourly"));
  EXPECT_EQ(detail(), "now; left out");
}

TEST_F(TriggerSteering, BackfillStartsThePastOneAfterTheOther) {
  Apply(Spec("hourly", "0 * * * *"));
  run_for_ = 10 * kMinute;
  Away(3 * kHour + 30 * kMinute);
  Pass(15 * kMinute);
  ASSERT_EQ(Ledger("hourly"), (Lines{"09:00-10:00 2 missed", "11:00 started"}));
  ASSERT_TRUE(Steer(BackfillTrigger{.from = At(9), .to = At(10)}, "hourly"));
  EXPECT_EQ(OpenRuns(), 1U);
  EXPECT_EQ(Steer(BackfillTrigger{.from = At(9), .to = At(10)}, "hourly").error().code,
            ErrorCode::kConflict);
  Restart();
  Pass(5 * kHour);
  const auto lines = Ledger("hourly");
  EXPECT_EQ(std::ranges::count(lines, "09:00 started by hand"), 1);
  EXPECT_EQ(std::ranges::count(lines, "10:00 started by hand"), 1);
  EXPECT_EQ(std::ranges::count(lines, "09:00-10:00 2 missed"), 1);
  EXPECT_FALSE(Row("hourly").backfill);
}

TEST_F(TriggerSteering, BackfillIsRefusedDuringAFreezeUnlessTold) {
  Apply(Spec("hourly", "0 * * * *"));
  Away(3 * kHour + 30 * kMinute);
  Pass(15 * kMinute);
  BackfillTrigger backfill{.from = At(9), .to = At(10), .plan = WaitPlan()};
  Freeze freeze;
  freeze.scope = FreezeScope::kTriggers;
  ASSERT_TRUE(Asked(FreezeRuns{.freeze = freeze}));
  ASSERT_TRUE(Asked(FreezeRuns{}));
  const auto refused = Steer(backfill, "hourly");
  ASSERT_TRUE(refused);
  ASSERT_TRUE(std::holds_alternative<GateClosed>(*refused));
  EXPECT_EQ(std::get<GateClosed>(*refused).gate, "frozen");
  EXPECT_FALSE(Row("hourly").backfill);
  backfill.during_freeze = true;
  ASSERT_TRUE(std::holds_alternative<TriggerAnswer>(*Steer(backfill, "hourly")));
  Restart();
  Pass(5 * kHour);
  const auto lines = Ledger("hourly");
  EXPECT_EQ(std::ranges::count(lines, "09:00 started by hand"), 1);
  EXPECT_EQ(std::ranges::count(lines, "10:00 started by hand"), 1);
}

TEST_F(TriggerSteering, FreezeOfWhatTriggersStartHoldsNeitherFireNorBackfill) {
  Apply(Spec("hourly", "0 * * * *"));
  Away(3 * kHour + 30 * kMinute);
  Pass(15 * kMinute);
  Freeze freeze;
  freeze.scope = FreezeScope::kTriggers;
  ASSERT_TRUE(Asked(FreezeRuns{.freeze = freeze}));
  ASSERT_TRUE(Steer(BackfillTrigger{.from = At(9), .to = At(9), .plan = WaitPlan()}, "hourly"));
  Pass(kMinute);
  EXPECT_EQ(std::ranges::count(Ledger("hourly"), "09:00 started by hand"), 1);
  const auto fired = Steer(FireTrigger{.plan = WaitPlan(), .despite_overlap = true}, "hourly");
  ASSERT_TRUE(fired);
  EXPECT_TRUE(std::holds_alternative<RunStarted>(*fired));
}

TEST_F(TriggerSteering, SlotOfABackfillThatAFreezeHoldsBackIsFrozen) {
  Apply(Spec("hourly", "0 * * * *"));
  run_for_ = 10 * kMinute;
  Away(3 * kHour + 30 * kMinute);
  Pass(15 * kMinute);
  ASSERT_TRUE(Steer(BackfillTrigger{.from = At(9), .to = At(10), .plan = WaitPlan()}, "hourly"));
  ASSERT_TRUE(Asked(FreezeRuns{}));
  Pass(20 * kMinute);
  const auto lines = Ledger("hourly");
  EXPECT_EQ(std::ranges::count(lines, "09:00 started by hand"), 1);
  EXPECT_EQ(std::ranges::count(lines, "10:00 frozen by hand"), 1);
  EXPECT_EQ(Row("hourly").error, "");
}

TEST_F(TriggerSteering, DryBackfillCountsItsSlotsAndStartsNothing) {
  Apply(Spec("hourly", "0 * * * *"));
  Away(3 * kHour + 30 * kMinute);
  Pass(15 * kMinute);
  const auto lines = Ledger("hourly");
  const auto runs = OpenRuns();
  const auto answer =
      Steer(BackfillTrigger{.from = At(9), .to = At(10), .dry_run = true}, "hourly");
  ASSERT_TRUE(answer);
  EXPECT_EQ(std::get<BackfillPlanned>(*answer).slots, 2U);
  EXPECT_FALSE(Row("hourly").backfill);
  EXPECT_EQ(OpenRuns(), runs);
  EXPECT_EQ(Ledger("hourly"), lines);
}

TEST_F(TriggerSteering, BackfillOfWhatIsToComeIsRefused) {
  Apply(Spec("hourly", "0 * * * *"));
  EXPECT_EQ(Steer(BackfillTrigger{.from = At(9), .to = At(10)}, "hourly").error().code,
            ErrorCode::kInvalid);
  Pass(2 * kHour);
  EXPECT_EQ(Steer(BackfillTrigger{.from = At(9, 10), .to = At(9, 20)}, "hourly").error().code,
            ErrorCode::kInvalid);
}

TEST_F(TriggerSteering, UnknownTriggerIsNotFound) {
  EXPECT_EQ(Steer(PauseTrigger{}, "nobody").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(Steer(FireTrigger{.plan = WaitPlan()}, "nobody").error().code, ErrorCode::kNotFound);
}

TEST_F(TriggerSteering, LookUpFromBeforeAChangeIsNotTrusted) {
  Apply(Spec("daily", "0 20 * * *"));
  PauseTrigger late{.caller = {}, .name = "daily", .known = Known("daily"), .reason = {}};
  ASSERT_TRUE(Steer(SkipSlot{.slot = At(20)}, "daily"));
  EXPECT_EQ(Asked(late).error().code, ErrorCode::kUnavailable);
  late.known = Known("daily");
  ASSERT_TRUE(Asked(late));
  EXPECT_EQ(Row("daily").skips.size(), 1U);
}

TEST_F(TriggerSteering, ChangedScheduleBeginsNowAndTheMarkNeverGoesBack) {
  Apply(Spec("job", "0 * * * *"));
  Pass(90 * kMinute);
  Apply(Spec("job", "*/15 * * * *"));
  Pass(31 * kMinute);
  EXPECT_EQ(Ledger("job"), (Lines{"09:00 started", "09:45 started", "10:00 started"}));
  JumpClock(-kHour);
  Apply(Spec("job", "*/10 * * * *"));
  Pass(75 * kMinute);
  EXPECT_EQ(Ledger("job"),
            (Lines{"09:00 started", "09:45 started", "10:00 started", "10:10 started"}));
}

TEST_F(TriggerSteering, ChangeBesideTheScheduleKeepsWhatIsDue) {
  TriggerSpec spec = Spec("hourly", "0 * * * *");
  Apply(spec);
  answers_ = false;
  Pass(kHour);
  ASSERT_EQ(slots_.size(), 1U);
  const auto old = slots_.front();
  spec.params["level"] = "2";
  Apply(spec);
  Fire(old);  // planned for the version before
  answers_ = true;
  slots_.erase(slots_.begin());
  Serve();
  EXPECT_EQ(Ledger("hourly"), Lines{"09:00 started"});
}

TEST_F(TriggerSteering, DroppedTriggerStartsNothingAndItsNameKeepsItsMark) {
  Apply(Spec("hourly", "0 * * * *"));
  Pass(2 * kHour + kMinute);
  Drop("hourly");
  Pass(2 * kHour);
  EXPECT_EQ(Steer(PauseTrigger{}, "hourly").error().code, ErrorCode::kNotFound);
  JumpClock(-3 * kHour);
  Apply(Spec("hourly", "0 * * * *"));
  Pass(3 * kHour);
  EXPECT_EQ(Ledger("hourly"),
            (Lines{"09:00 started", "10:00 started", "11:00 started", "12:00 started"}));
}

class TriggerWords : public TriggerFixture {
 protected:
  TriggerWords() {
    AddHosts(1);
    plan_ = [this](const PrepareSlot& slot) -> Result<SlotPlan> {
      data_ = slot.data;
      SlotPlan plan = WaitPlan();
      plan.spec.stages = {Named("work")};
      return plan;
    };
    Apply(Spec("hourly", "0 * * * *"));
  }
  // Lets the run of the next slot say something.
  void Say(const Outputs& outputs) {
    ASSERT_EQ(Sent(), Hosts{1});
    EndWith(outputs);
    Serve();
  }

  std::map<std::string, std::string> data_;
};

TEST_F(TriggerWords, DataIsCarriedToTheNextFiring) {
  Pass(kHour);
  EXPECT_TRUE(data_.empty());
  Say({{"muster.data.cursor", "17"}, {"muster.data.page", "2"}, {"other", "x"}});
  Restart();
  SayHello(1);
  Pass(kHour);
  EXPECT_EQ(data_, (std::map<std::string, std::string>{{"cursor", "17"}, {"page", "2"}}));
  Say({{"muster.data.page", ""}});
  EXPECT_EQ(Row("hourly").data, (std::map<std::string, std::string>{{"cursor", "17"}}));
}

TEST_F(TriggerWords, NextMovesTheNextSlot) {
  Pass(kHour);
  Say({{"muster.next", "2027-01-15T11:30:00Z"}});
  EXPECT_EQ(Row("hourly").asked, At(11, 30));
  Pass(2 * kHour + 31 * kMinute);
  EXPECT_EQ(Ledger("hourly"), (Lines{"09:00 started", "10:00-11:00 2 by_hand", "11:30 started"}));
  EXPECT_TRUE(store_.ListSlots("hourly", {}, {}, 1)->front().asked);
  Say({});
  Pass(30 * kMinute);
  EXPECT_EQ(Ledger("hourly").back(), "12:00 started");
}

TEST_F(TriggerWords, NextMayComeBeforeTheSchedule) {
  Pass(kHour);
  Say({{"muster.next", "20m"}});
  Pass(21 * kMinute);
  ASSERT_EQ(Ledger("hourly").size(), 2U);
  Say({});
  Pass(40 * kMinute);
  EXPECT_EQ(Ledger("hourly").back(), "10:00 started");
}

TEST_F(TriggerWords, StatusCompleteIsTheEnd) {
  Pass(kHour);
  Say({{"muster.status", "complete"}});
  EXPECT_EQ(State("hourly"), TriggerState::kComplete);
  Pass(3 * kHour);
  EXPECT_EQ(Ledger("hourly"), Lines{"09:00 started"});
  Apply(Spec("hourly", "0 * * * *"));  // until a document says otherwise
  Pass(kHour);
  EXPECT_EQ(Ledger("hourly"), (Lines{"09:00 started", "13:00 started"}));
  EXPECT_EQ(Schedules("hourly"), (Lines{"08:00 v1", "09:00 v0 complete", "12:00 v2"}));
}

class TriggerWordsOfTwo : public TriggerWords {
 protected:
  void SetUp() override {
    TriggerWords::SetUp();
    AddHosts(2);
    plan_ = [this](const PrepareSlot&) -> Result<SlotPlan> {
      SlotPlan plan = WaitPlan();
      plan.targets = std::make_shared<Targets>(Targets{{HostId(1), "h1"}, {HostId(2), "h2"}});
      plan.spec.stages = {Named("work")};
      return plan;
    };
  }
  // Lets the first host say something, and the other one the same or nothing.
  void SayAs(const Outputs& outputs, bool alike) {
    ASSERT_EQ(Sent(), (Hosts{1, 2}));
    const auto both = std::exchange(orders_, {});
    orders_ = {both.front()};
    EndWith(outputs);
    orders_ = {both.back()};
    EndWith(alike ? outputs : Outputs{});
    Serve();
  }
};

TEST_F(TriggerWordsOfTwo, OneHostOfSeveralDecidesNothing) {
  Pass(kHour);
  SayAs({{"muster.status", "complete"}, {"muster.next", "1m"}, {"muster.data.cursor", "5"}}, false);
  EXPECT_EQ(State("hourly"), TriggerState::kRunnable);
  EXPECT_EQ(Row("hourly").asked, WallTime{});
  EXPECT_EQ(Row("hourly").data, (std::map<std::string, std::string>{{"cursor", "5"}}));
  Pass(kHour);
  SayAs({{"muster.status", "complete"}}, true);
  EXPECT_EQ(State("hourly"), TriggerState::kComplete) << "they agree";
}

}  // namespace
}  // namespace muster::engine
