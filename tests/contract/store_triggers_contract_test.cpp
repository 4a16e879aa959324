#include "contract/store_fixture.hpp"
#include "support/random_records.hpp"

namespace muster {
namespace {

constexpr std::int64_t kHour = 3'600'000;

class StoreTriggers : public StoreContract {
 protected:
  static Trigger Due(std::string name, std::int64_t hour) {
    Trigger trigger;
    trigger.spec.name = std::move(name);
    trigger.spec.cron = "@hourly";
    trigger.next = {hour * kHour + 17};
    return trigger;
  }
  static SlotRecord Slot(std::string trigger, std::int64_t first, std::int64_t last,
                         std::uint64_t act = 0) {
    SlotRecord slot;
    slot.trigger = std::move(trigger);
    slot.first = {first};
    slot.last = {last};
    slot.act = act;
    slot.fate = first == last ? SlotFate::kStarted : SlotFate::kSkipped;
    slot.at = {last};
    return slot;
  }
  std::vector<std::string> DueBy(std::int64_t until, const DueCursor& after = {},
                                 std::size_t limit = 100) {
    const auto found = store_->DueTriggers(after, until, limit);
    EXPECT_TRUE(found) << found.error().message;
    EXPECT_EQ(found->commit, fence_.number);
    std::vector<std::string> names;
    for (const auto& trigger : found->value) names.push_back(trigger.spec.name);
    return names;
  }
  std::vector<std::string> Names(const std::string& after, std::size_t limit) {
    std::vector<std::string> names;
    for (const auto& trigger : *store_->ListTriggers(after, limit))
      names.push_back(trigger.spec.name);
    return names;
  }
  // "first-last/act" of each row.
  std::vector<std::string> Rows(const std::string& trigger, const SlotFilter& filter = {},
                                std::optional<SlotCursor> before = {}, std::size_t limit = 100) {
    const auto found = store_->ListSlots(trigger, filter, before, limit);
    EXPECT_TRUE(found) << found.error().message;
    std::vector<std::string> rows;
    for (const auto& slot : *found)
      rows.push_back(fmt::format("{}-{}/{}", slot.first.ms, slot.last.ms, slot.act));
    return rows;
  }
  using Strings = std::vector<std::string>;
};

TEST_P(StoreTriggers, RowIsKeptWholeAndReplaced) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Trigger trigger = RandomRecords(seed).SomeTrigger();
    trigger.spec.name = "nightly";
    Commit({PutTrigger{trigger}});
    Reopen();
    const auto found = store_->FindTrigger("nightly");
    ASSERT_TRUE(found) << found.error().message;
    EXPECT_EQ(found->value, trigger);
    EXPECT_EQ(found->commit, fence_.number);
  }
  EXPECT_EQ(store_->FindTrigger("other")->value, std::nullopt);
}

TEST_P(StoreTriggers, DroppedOneIsNotListedButKeepsItsMark) {
  Trigger trigger = Due("nightly", 5);
  trigger.mark = {77};
  Commit({PutTrigger{trigger}, PutTrigger{Due("other", 5)}});
  Trigger dropped = trigger;
  dropped.dropped = true;
  Commit({PutTrigger{dropped}});
  EXPECT_EQ(Names("", 10), Strings{"other"});
  EXPECT_EQ(DueBy(100), Strings{"other"});
  const auto found = store_->FindTrigger("nightly");
  ASSERT_TRUE(found->value);
  EXPECT_TRUE(found->value->dropped);
  EXPECT_EQ(found->value->mark, WallTime{77});
  Commit({PutTrigger{trigger}});
  EXPECT_EQ(Names("", 10), (Strings{"nightly", "other"}));
}

TEST_P(StoreTriggers, ListGoesByNameAndOnFromOne) {
  Commit({PutTrigger{Due("c", 0)}, PutTrigger{Due("a", 9)}, PutTrigger{Due("b", 1)}});
  EXPECT_EQ(Names("", 2), (Strings{"a", "b"}));
  EXPECT_EQ(Names("b", 2), Strings{"c"});
}

TEST_P(StoreTriggers, DueOnesAreFoundByTheHourAndFollowTheirRow) {
  Commit({PutTrigger{Due("b", 7)}, PutTrigger{Due("a", 8)}, PutTrigger{Due("c", 7)},
          PutTrigger{Due("d", 9)}});
  EXPECT_EQ(DueBy(6), Strings{});
  EXPECT_EQ(DueBy(8), (Strings{"b", "c", "a"}));
  EXPECT_EQ(DueBy(8, {.hour = 7, .name = "b"}, 1), Strings{"c"});
  EXPECT_EQ(DueBy(8, {.hour = 7, .name = "c"}), Strings{"a"});
  Trigger paused = Due("b", 7);
  paused.paused = true;
  Commit({PutTrigger{paused}, PutTrigger{Due("c", 9)}});
  EXPECT_EQ(DueBy(9), (Strings{"a", "c", "d"}));
  Trigger settling = paused;
  settling.settling = Settling{.until = {1}, .why = "paused", .detail = {}};
  Commit({PutTrigger{settling}});
  EXPECT_EQ(DueBy(1), Strings{"b"});
}

TEST_P(StoreTriggers, LeaderLoadsThoseWithAnOpenRun) {
  muster::Run open = RunOf(1);
  open.trigger = "a";
  muster::Run ended = RunOf(2, RunState::kSucceeded);
  ended.trigger = "b";
  Commit({PutTrigger{Due("a", 99)}, PutTrigger{Due("b", 99)}, PutRun{open}, PutRun{ended},
          PutRun{RunOf(3)}});
  const auto snapshot = Load();
  ASSERT_EQ(snapshot.triggers.size(), 1U);
  EXPECT_EQ(snapshot.triggers.front(), Due("a", 99));
}

TEST_P(StoreTriggers, LeaderLoadsNoHeadsOfThem) {
  const auto put = [](std::string kind, std::string name) {
    auto document = std::make_shared<Document>();
    document->kind = std::move(kind);
    document->name = std::move(name);
    document->version = 1;
    return PutDocument{std::move(document)};
  };
  Commit({put("job", "a"), put("trigger", "b"), put("zone", "c"), put("trigger", "d")});
  const auto heads = Load().documents;
  ASSERT_EQ(heads.size(), 2U);
  EXPECT_EQ(heads[0].name, "a");
  EXPECT_EQ(heads[1].name, "c");
  EXPECT_EQ(store_->ListDocumentHeads("trigger", "", 10)->size(), 2U);
}

TEST_P(StoreTriggers, CountsAreKeptAndCountedWhenNobodyDid) {
  Trigger paused = Due("b", 7);
  paused.paused = true;
  Trigger failed = Due("c", 7);
  failed.failed = true;
  Trigger dropped = Due("d", 7);
  dropped.dropped = true;
  Commit({PutTrigger{Due("a", 7)}, PutTrigger{paused}, PutTrigger{failed}, PutTrigger{dropped},
          PutTrigger{Due("e", 7)}});
  TriggerCounts counts{.runnable = 2, .paused = 1, .error = 1};
  EXPECT_EQ(Load().trigger_counts, counts);
  counts = {.runnable = 70, .paused = 8, .complete = 9, .error = 1};
  Commit({PutTriggerCounts{counts}});
  Reopen();
  EXPECT_EQ(Load().trigger_counts, counts);
}

TEST_P(StoreTriggers, RunSaysWhatStartedIt) {
  muster::Run run = RunOf(1);
  run.trigger = "nightly";
  run.slot = {1'234'000};
  Commit({PutRun{run}});
  EXPECT_EQ(store_->FindRun(RunId(1))->value->trigger, "nightly");
  EXPECT_EQ(store_->FindRun(RunId(1))->value->slot, WallTime{1'234'000});
}

TEST_P(StoreTriggers, SlotsAreListedFromTheLatest) {
  Commit({PutSlot{Slot("a", 10, 10)}, PutSlot{Slot("a", 20, 40)}, PutSlot{Slot("a", 50, 50)},
          PutSlot{Slot("a", 10, 10, 7)}, PutSlot{Slot("b", 30, 30)}, PutSlot{Slot("a0", 30, 30)}});
  EXPECT_EQ(Rows("a"), (Strings{"50-50/0", "20-40/0", "10-10/7", "10-10/0"}));
  EXPECT_EQ(Rows("a", {}, SlotCursor{.first = {50}}, 2), (Strings{"20-40/0", "10-10/7"}));
  EXPECT_EQ(Rows("a", {}, SlotCursor{.first = {10}, .act = 7}), Strings{"10-10/0"});
  EXPECT_EQ(Rows("a", {.since = {30}, .until = {50}}), Strings{"20-40/0"});
  EXPECT_EQ(Rows("a", {.since = {41}, .until = {}}), Strings{"50-50/0"});
  EXPECT_EQ(Rows("a", {.since = {}, .until = {20}}), (Strings{"10-10/7", "10-10/0"}));
  EXPECT_EQ(Rows("a", {.since = {}, .until = {}, .fate = SlotFate::kSkipped}), Strings{"20-40/0"});
  EXPECT_EQ(Rows("c"), Strings{});
}

TEST_P(StoreTriggers, SlotRowIsKeptWholeAndGrows) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SlotRecord slot = RandomRecords(seed).SomeSlot();
    slot.trigger = "a";
    slot.first = {100};
    slot.act = 0;
    slot.last = {200 + static_cast<std::int64_t>(seed)};
    Commit({PutSlot{slot}});
    const auto found = store_->ListSlots("a", {}, {}, 10);
    ASSERT_EQ(found->size(), 1U);
    EXPECT_EQ(found->front(), slot);
  }
}

TEST_P(StoreTriggers, OldSlotsAreFoundAndDropped) {
  SlotRecord grown = Slot("a", 20, 900);
  grown.at = {20};
  Commit({PutSlot{Slot("a", 10, 10)}, PutSlot{grown}, PutSlot{Slot("b", 30, 30, 5)},
          PutSlot{Slot("b", 800, 800)}});
  const auto expired =
      store_->FindExpired({.runs = {}, .audit = {}, .invites = {}, .slots = {500}}, 10);
  ASSERT_TRUE(expired) << expired.error().message;
  ASSERT_EQ(expired->slots.size(), 2U);
  std::vector<Change> drops;
  for (const auto& old : expired->slots)
    drops.emplace_back(DropSlot{old.trigger, old.first, old.act});
  Commit(std::move(drops));
  EXPECT_EQ(Rows("a"), Strings{"20-900/0"});
  EXPECT_EQ(Rows("b"), Strings{"800-800/0"});
  EXPECT_TRUE(store_->FindExpired({.runs = {}, .audit = {}, .invites = {}}, 10)->slots.empty());
}

MUSTER_STORE_ADAPTERS(StoreTriggers);

}  // namespace
}  // namespace muster
