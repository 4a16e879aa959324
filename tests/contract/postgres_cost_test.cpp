#include <thread>

#include "contract/store_fixture.hpp"

namespace muster {
namespace {

constexpr std::uint64_t kRuns = 1500;
constexpr std::uint32_t kTasks = 1000;  // of the last one
constexpr std::uint64_t kRunsInABatch = 300;
constexpr std::int64_t kHour = 3'600'000;

// A store with a history in which what is asked for is rare and old, which tempts a planner to walk
// the newer part of another index, or the whole table. Once without statistics, as a young database
// is, and once with them.
class PostgresCost : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    std::string& address = addresses_[GetParam() ? 1 : 0];
    const bool fresh = address.empty();
    if (fresh) address = SharedPostgres().NewSchema();
    address_ = address;
    if (!fresh) return;
    auto store = Open();
    const Fence fence = *store->TakeTerm();
    Batch batch = BatchOf({PutTriggerCounts{{.runnable = kRuns}}});
    std::uint64_t number = 0;
    for (std::uint64_t id = 1; id <= kRuns; ++id) {
      Fill(id, batch);
      if (id % kRunsInABatch != 0) continue;
      const auto done =
          CommitTo(*store, std::exchange(batch, {}), fence.term, CommitNumber(++number));
      ASSERT_TRUE(done) << done.error().message;
    }
    if (GetParam()) PrivatePostgres::Sql("ANALYZE", address);
  }

  std::unique_ptr<PostgresStore> Open() {
    auto store = PostgresStore::Open({.address = address_});
    EXPECT_TRUE(store) << store.error().message;
    return std::move(*store);
  }
  static void Fill(std::uint64_t id, Batch& batch) {
    const bool rare = id <= 10;
    muster::Run run = RunOf(id, rare ? RunState::kFailed : RunState::kSucceeded);
    run.by = rare ? "rare" : "usual";
    run.created = {static_cast<std::int64_t>(id) * kHour};
    run.ended = run.created;
    batch.changes.emplace_back(PutRun{run});
    TaskRecord task = TaskRow(id, 0, rare ? 1 : 2, 1, TaskState::kSucceeded);
    task.log.state = id == 7 ? LogState::kOpen : LogState::kComplete;
    batch.changes.emplace_back(PutTask{task});
    if (id == kRuns)
      for (std::uint32_t i = 1; i < kTasks; ++i)
        batch.changes.emplace_back(PutTask{TaskRow(id, i, 10 + i)});
    AuditEntry entry;
    entry.number = id;
    entry.at = run.created;
    entry.actor = run.by;
    entry.act = rare ? "rare.act" : std::string(kActRunStart);
    entry.run = run.id;
    batch.changes.emplace_back(AddAudit{entry, {HostId(rare ? 1 : 2)}});
    Trigger trigger;
    trigger.spec.name = fmt::format("t{:05}", id);
    trigger.next = {static_cast<std::int64_t>(id) * kHour};
    batch.changes.emplace_back(PutTrigger{trigger});
    SlotRecord slot;
    slot.trigger = rare ? "rare" : "usual";
    slot.first = slot.last = slot.at = run.created;
    batch.changes.emplace_back(PutSlot{slot});
  }

  // Rows that tables and indexes gave, as the server counts them once all sessions have ended.
  long Touched() {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (SharedPostgres().Sql("SELECT count(*) FROM pg_stat_activity"
                                " WHERE application_name LIKE 'musterd%'") != "0" &&
           std::chrono::steady_clock::now() < deadline)
      std::this_thread::yield();
    return std::stol(
        PrivatePostgres::Sql("SELECT coalesce((SELECT sum(seq_tup_read) FROM pg_stat_user_tables"
                             " WHERE schemaname = current_schema()), 0)"
                             " + coalesce((SELECT sum(idx_tup_read) FROM pg_stat_user_indexes"
                             " WHERE schemaname = current_schema()), 0)",
                             address_));
  }
  // How many rows `read` touches.
  template <typename Read>
  long CostOf(Read read) {
    auto store = Open();
    const long before = Touched();
    read(*store);
    store.reset();
    return Touched() - before;
  }

  static inline std::string addresses_[2];
  std::string address_;
};

TEST_P(PostgresCost, ListsOfRunsCostWhatTheyFind) {
  const auto runs = [&](const RunFilter& filter, std::size_t want) {
    return CostOf([&](Store& store) {
      const auto found = store.ListRuns(filter, RunId(), 20);
      ASSERT_TRUE(found) << found.error().message;
      EXPECT_EQ(found->size(), want);
    });
  };
  EXPECT_LE(runs({}, 20), 50);
  EXPECT_LE(runs({.by = "rare"}, 10), 50);
  EXPECT_LE(runs({.state = RunState::kFailed}, 10), 50);
  EXPECT_LE(runs({.state = RunState::kRunning}, 0), 50);
  EXPECT_LE(runs({.since = {(kRuns - 5) * kHour}}, 6), 100);
  EXPECT_LE(runs({.until = {8 * kHour}}, 7), 100);
  EXPECT_LE(runs({.host = HostId(1)}, 10), 100);
}

TEST_P(PostgresCost, ListsOfTasksCostWhatTheyFind) {
  EXPECT_LE(CostOf([](Store& store) {
              EXPECT_EQ(store.ListTasks(RunId(kRuns), {}, TaskRow(kRuns, 700, 0).key, 20)->size(),
                        20U);
            }),
            200);
  EXPECT_LE(CostOf([](Store& store) {
              EXPECT_EQ(store.ListTasks(RunId(kRuns), {.host = HostId(800)}, {}, 20)->size(), 1U);
            }),
            20);
  EXPECT_LE(
      CostOf([](Store& store) { EXPECT_TRUE(store.FindTasks({TaskRow(5, 0, 1).key})->value[0]); }),
      20);
}

TEST_P(PostgresCost, AuditCostsWhatItFinds) {
  const auto audit = [&](const AuditFilter& filter, std::size_t want) {
    return CostOf([&](Store& store) {
      const auto found = store.ListAudit(filter, 0, 20);
      ASSERT_TRUE(found) << found.error().message;
      EXPECT_EQ(found->entries.size(), want);
    });
  };
  EXPECT_LE(audit({}, 20), 300);
  EXPECT_LE(audit({.by = "rare"}, 10), 100);
  EXPECT_LE(audit({.act = "rare.act"}, 10), 100);
  EXPECT_LE(audit({.host = HostId(1)}, 10), 200);
}

TEST_P(PostgresCost, TriggersAndSlotsCostWhatTheyFind) {
  EXPECT_LE(CostOf([](Store& store) { EXPECT_EQ(store.DueTriggers({}, 5, 20)->value.size(), 5U); }),
            50);
  EXPECT_LE(CostOf([](Store& store) { EXPECT_EQ(store.ListTriggers("t01000", 20)->size(), 20U); }),
            50);
  EXPECT_LE(CostOf([](Store& store) { EXPECT_EQ(store.ListSlots("rare", {}, {}, 5)->size(), 5U); }),
            50);
}

TEST_P(PostgresCost, LeaderLoadsWithoutTheHistory) {
  EXPECT_LE(CostOf([](Store& store) {
              const auto loaded = store.Load(store.ReadFence()->term);
              ASSERT_TRUE(loaded) << loaded.error().message;
              EXPECT_TRUE(loaded->runs.empty());
              EXPECT_EQ(loaded->open_logs.size(), 1U);
            }),
            100);
  EXPECT_LE(
      CostOf([](Store& store) {
        EXPECT_EQ(
            store.FindExpired({.runs = {5 * kHour}, .audit = {}, .invites = {}}, 100)->runs.size(),
            4U);
      }),
      50);
}

INSTANTIATE_TEST_SUITE_P(Statistics, PostgresCost, testing::Values(false, true),
                         [](const auto& info) { return info.param ? "known" : "unknown"; });

}  // namespace
}  // namespace muster
