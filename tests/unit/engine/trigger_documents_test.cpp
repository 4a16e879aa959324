#include "unit/engine/trigger_fixture.hpp"

// Documents of triggers have no head in memory: their rows say which version is the latest.
namespace muster::engine {
namespace {

class TriggerDocuments : public TriggerFixture {
 protected:
  using Read = ReadAt<std::optional<Trigger>>;

  static void Add(ApplyDocuments& apply, const TriggerSpec& spec, std::string hash, Read known) {
    apply.puts.push_back(std::make_shared<const Document>(
        Document{.kind = "trigger", .name = spec.name, .hash = std::move(hash), .text = "text"}));
    apply.triggers[spec.name] = {std::make_shared<const TriggerSpec>(spec), std::move(known)};
  }
  Result<DocumentsApplied> Put(const TriggerSpec& spec, std::string hash, Read known) {
    ApplyDocuments apply;
    apply.caller.name = "ann";
    Add(apply, spec, std::move(hash), std::move(known));
    return Asked(std::move(apply));
  }
  // "created 1"
  std::string Said(const Result<DocumentsApplied>& answer) {
    if (!answer) return answer.error().message;
    const auto& one = answer->documents.front();
    const char* names[] = {"created", "changed", "unchanged", "deleted", "missing"};
    return fmt::format("{} {}", names[static_cast<int>(one.fate)], one.version);
  }
  std::string PutNow(const std::string& name, std::string hash) {
    return Said(Put(Spec(name, "0 * * * *"), std::move(hash), Known(name)));
  }
  std::string DropNow(const std::string& name) {
    ApplyDocuments apply;
    apply.drops = {{"trigger", name}};
    apply.triggers[name] = {nullptr, Known(name)};
    return Said(Asked(std::move(apply)));
  }
  // Applies far ones until more were touched than the engine remembers by name.
  void FloodWithOthers() {
    ApplyDocuments apply;
    for (int i = 0; i < 10'050; ++i)
      Add(apply, Spec(fmt::format("other{}", i), "0 0 1 1 *"), "1", {});
    Ask(std::move(apply));
    Settle();
  }
  const engine::State& Memory() const { return pipeline_->engine()->state(); }
};

TEST_F(TriggerDocuments, VersionsGrowAndWhatSaysTheSameIsLeftAlone) {
  EXPECT_EQ(PutNow("hourly", "a"), "created 1");
  EXPECT_EQ(PutNow("hourly", "a"), "unchanged 1");
  Restart();
  EXPECT_EQ(PutNow("hourly", "a"), "unchanged 1");
  EXPECT_EQ(PutNow("hourly", "b"), "changed 2");
  Restart();
  EXPECT_EQ(PutNow("hourly", "a"), "changed 3");
  EXPECT_EQ(store_.FindDocument("trigger", "hourly", 0).value()->version, 3U);
  EXPECT_EQ(Row("hourly").version, 3U);
}

TEST_F(TriggerDocuments, DeletedOneComesBackWithItsNextVersion) {
  EXPECT_EQ(DropNow("hourly"), "missing 0");
  PutNow("hourly", "a");
  EXPECT_EQ(DropNow("hourly"), "deleted 1");
  EXPECT_EQ(DropNow("hourly"), "missing 0");
  EXPECT_FALSE(*store_.FindDocument("trigger", "hourly", 0));
  Restart();
  EXPECT_EQ(PutNow("hourly", "a"), "created 2");
}

TEST_F(TriggerDocuments, EachChangeIsAudited) {
  PutNow("hourly", "a");
  PutNow("hourly", "a");
  DropNow("hourly");
  const auto trail = *store_.ReadAudit(1, 10);
  ASSERT_EQ(trail.size(), 2U);
  EXPECT_EQ(trail[0].act, "trigger.apply");
  EXPECT_EQ(trail[1].act, "trigger.delete");
}

TEST_F(TriggerDocuments, CostNoMemoryWhileTheyWait) {
  FloodWithOthers();
  EXPECT_TRUE(Memory().documents.heads.empty());
  EXPECT_TRUE(Memory().triggers.entries.empty());
  Restart();
  EXPECT_TRUE(Memory().documents.heads.empty());
  EXPECT_TRUE(Memory().triggers.entries.empty());
  EXPECT_EQ(Memory().triggers.counts.runnable, 10'050U);
}

TEST_F(TriggerDocuments, LookUpThatNoLongerHoldsIsRefused) {
  PutNow("yearly", "a");
  const Read before = Known("far");
  const TriggerSpec far = Spec("far", "0 0 1 1 *");
  ASSERT_EQ(Said(Put(far, "a", before)), "created 1");
  const auto again = Put(far, "b", before);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(Said(Put(far, "b", Known("far"))), "changed 2");
}

TEST_F(TriggerDocuments, OneThatWasNotLookedUpChangesNothing) {
  ApplyDocuments apply;
  Add(apply, Spec("known", "0 * * * *"), "a", Known("known"));
  Add(apply, Spec("stranger", "0 * * * *"), "a", Known("stranger"));
  apply.triggers.erase("stranger");
  EXPECT_FALSE(Asked(std::move(apply)));
  EXPECT_FALSE(Known("known").value);
}

TEST_F(TriggerDocuments, CountsFollowTheirStates) {
  const auto counts = [this] {
    const auto& now = Memory().triggers.counts;
    return fmt::format("{} {} {} {}", now.runnable, now.paused, now.complete, now.error);
  };
  PutNow("a", "1");
  PutNow("b", "1");
  TriggerSpec once = Spec("once", "");
  once.once = At(9);
  Put(once, "1", Known("once"));
  EXPECT_EQ(counts(), "3 0 0 0");
  ASSERT_TRUE(Steer(PauseTrigger{}, "a"));
  EXPECT_EQ(counts(), "2 1 0 0");
  plan_ = [this](const PrepareSlot& slot) -> Result<SlotPlan> {
    if (slot.trigger == "b") return Fail(ErrorCode::kNotFound, "there is no job");
    return WaitPlan();
  };
  Pass(kHour + kMinute);
  EXPECT_EQ(counts(), "0 1 1 1");
  Restart();
  EXPECT_EQ(counts(), "0 1 1 1");
  ASSERT_TRUE(Steer(ResumeTrigger{}, "a"));
  DropNow("b");
  DropNow("once");
  EXPECT_EQ(counts(), "1 0 0 0");
  Restart();
  EXPECT_EQ(counts(), "1 0 0 0");
}

TEST_F(TriggerDocuments, RowsReadBeforeManyChangesAreReadAgain) {
  TriggerSpec later = Spec("later", "30 9 * * *");
  Put(later, "1", Known("later"));
  Restart();
  // The hour comes near; the answer is held back while others change.
  now_.mono = now_.mono + 55 * kMinute;
  now_.wall = now_.wall + 55 * kMinute;
  Settle();
  ASSERT_EQ(fetches_.size(), 1U);
  const FetchTriggers fetch = fetches_.front();
  fetches_.clear();
  auto found = *store_.DueTriggers(fetch.after, fetch.until, fetch.limit);
  ASSERT_EQ(found.value.size(), 1U);
  FloodWithOthers();
  Tell(TakeTriggers{fetch.after, fetch.until, std::move(found), false});
  Pass(kHour);
  EXPECT_EQ(Ledger("later"), Lines{"09:30 started"});
}

TEST_F(TriggerDocuments, SlotsAreTalliedByOutcome) {
  const auto decided = [this](std::string_view outcome) {
    const auto& tally = Memory().triggers.tally;
    const auto found = std::ranges::find(SlotTally::kOutcomes, outcome);
    return tally.decided.at(static_cast<std::size_t>(found - SlotTally::kOutcomes.begin()));
  };
  PutNow("hourly", "a");
  Pass(2 * kHour);
  EXPECT_EQ(decided("started"), 2U);
  EXPECT_EQ(Memory().triggers.tally.late.front(), 2U);
  JumpClock(5 * kHour + 30 * kMinute);  // four are missed, the latest is made up for
  EXPECT_EQ(decided("missed"), 4U);
  EXPECT_EQ(decided("started"), 3U);
  EXPECT_EQ(Memory().triggers.tally.late.back(), 1U);
}

// A slot costs less than a microsecond: a century of seconds, visited one by one, would hold up
// everything for minutes.
TEST_F(TriggerDocuments, DeletedOneHasACenturyOfSlotsCounted) {
  TriggerSpec often = Spec("often", "* * * * * *");
  TriggerSpec grid = Spec("grid", "");
  grid.every = std::chrono::seconds(1);
  Apply(often, true);
  Apply(grid, true);
  constexpr std::uint32_t kCentury = 3'155'760'000;
  Away(std::chrono::seconds(kCentury));
  for (const auto& name : {"often", "grid"}) {
    Drop(name);
    std::uint64_t counted = 0;
    for (const auto& slot : *store_.ListSlots(name, {}, {}, 100)) counted += slot.count;
    EXPECT_EQ(counted, kCentury) << name;
    EXPECT_EQ(Row(name).skipped, kCentury) << name;
    EXPECT_EQ(Row(name).mark, now_.wall) << name;
  }
}

TEST_F(TriggerDocuments, ChangedOneHasACenturyOfSlotsCounted) {
  Apply(Spec("often", "* * * * * *"), true);
  constexpr std::uint32_t kCentury = 3'155'760'000;
  Away(std::chrono::seconds(kCentury));
  Apply(Spec("often", "*/2 * * * * *"));
  EXPECT_EQ(Row("often").skipped, kCentury);
}

}  // namespace
}  // namespace muster::engine
