#include <atomic>
#include <map>
#include <thread>

#include "base/mutex.hpp"
#include "contract/store_fixture.hpp"

namespace muster {
namespace {

constexpr const char* kWriters =
    "SELECT count(pg_terminate_backend(pid, 5000)) FROM pg_stat_activity"
    " WHERE application_name LIKE 'musterd writer of %'";

// Another session, which does as it is told.
class RawSession {
 public:
  explicit RawSession(const std::string& address) : session_(PQconnectdb(address.c_str())) {}
  ~RawSession() { PQfinish(session_); }
  RawSession(const RawSession&) = delete;
  RawSession& operator=(const RawSession&) = delete;

  bool Do(const char* sql) {
    PGresult* answer = PQexec(session_, sql);
    const auto status = PQresultStatus(answer);
    PQclear(answer);
    return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
  }

 private:
  PGconn* session_;
};

// A store on a database of its own, which tests may stop.
class PostgresFaults : public testing::Test {
 protected:
  std::unique_ptr<PostgresStore> Open() {
    auto store = PostgresStore::Open({.address = address_});
    EXPECT_TRUE(store) << store.error().message;
    return std::move(*store);
  }
  static Batch Tasks(std::uint64_t run, std::uint32_t count = 20) {
    Batch batch = BatchOf({PutRun{RunOf(run)}});
    for (std::uint32_t i = 0; i < count; ++i)
      batch.changes.emplace_back(PutTask{TaskRow(run, i, i + 1)});
    return batch;
  }
  // As the engine: the same batch again until its fate is known.
  static void CommitSurely(Store& store, Term term, std::uint64_t number) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (std::chrono::steady_clock::now() < deadline) {
      const auto done = CommitTo(store, Tasks(number), term, CommitNumber(number));
      if (done) return;
      ASSERT_TRUE(done.error().code == ErrorCode::kTimeout ||
                  done.error().code == ErrorCode::kUnavailable)
          << done.error().message;
    }
    FAIL() << "batch " << number << " does not get in";
  }
  void ExpectWhole(Store& store, std::uint64_t batches) {
    EXPECT_EQ(store.ReadFence()->number, CommitNumber(batches));
    for (std::uint64_t run = 1; run <= batches; ++run)
      EXPECT_EQ(store.ListTasks(RunId(run), {}, {}, 100)->size(), 20U) << run;
    EXPECT_TRUE(store.ListTasks(RunId(batches + 1), {}, {}, 100)->empty());
  }
  // Waits until a session waits for a lock.
  static void AwaitBlocked() {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (std::chrono::steady_clock::now() < deadline)
      if (SharedPostgres().Sql("SELECT count(*) FROM pg_locks WHERE NOT granted") != "0") return;
    FAIL() << "nobody waits";
  }

  std::string address_ = SharedPostgres().NewSchema();
};

TEST_F(PostgresFaults, OpenTransactionOfAnOlderWriterHoldsUpNobody) {
  auto first = Open();
  ASSERT_TRUE(first->TakeTerm());
  RawSession frozen(address_);
  ASSERT_TRUE(frozen.Do("BEGIN"));
  ASSERT_TRUE(frozen.Do("UPDATE fence SET number = number + 1"));
  auto second = Open();
  const auto taken = second->TakeTerm();
  ASSERT_TRUE(taken) << taken.error().message;
  EXPECT_EQ(*taken, (Fence{Term(2), CommitNumber(0)}));
  EXPECT_FALSE(frozen.Do("COMMIT"));
  EXPECT_EQ(second->ReadFence(), *taken);
}

TEST_F(PostgresFaults, LeaderStuckInsideACommitIsEndedAndWritesNothing) {
  auto first = Open();
  const Fence fence = *first->TakeTerm();
  RawSession holder(address_);
  ASSERT_TRUE(holder.Do("BEGIN"));
  ASSERT_TRUE(holder.Do("LOCK TABLE task IN ACCESS EXCLUSIVE MODE"));
  std::promise<Result<>> answer;
  first->Commit(std::make_shared<const Batch>(Tasks(1)), fence.term, CommitNumber(1),
                [&](Result<> done) { answer.set_value(std::move(done)); });
  AwaitBlocked();
  auto second = Open();
  const auto taken = second->TakeTerm();
  ASSERT_TRUE(taken) << taken.error().message;
  ASSERT_TRUE(holder.Do("COMMIT"));
  const auto stuck = answer.get_future().get();
  ASSERT_FALSE(stuck);
  EXPECT_EQ(stuck.error().code, ErrorCode::kTimeout);
  EXPECT_EQ(CommitTo(*first, Tasks(1), fence.term, CommitNumber(1)).error().code,
            ErrorCode::kFenced);
  ExpectWhole(*second, 0);
}

TEST_F(PostgresFaults, LockThatIsNotGivenInTimeIsSaidAndTheBatchGoesInLater) {
  auto store = PostgresStore::Open({.address = address_, .lock = std::chrono::milliseconds(50)});
  const Fence fence = *(*store)->TakeTerm();
  RawSession holder(address_);
  ASSERT_TRUE(holder.Do("BEGIN"));
  ASSERT_TRUE(holder.Do("LOCK TABLE task IN ACCESS EXCLUSIVE MODE"));
  const auto refused = CommitTo(**store, Tasks(1), fence.term, CommitNumber(1));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kUnavailable);
  EXPECT_EQ((*store)->ReadFence()->number, CommitNumber(0));
  ASSERT_TRUE(holder.Do("COMMIT"));
  ASSERT_TRUE(CommitTo(**store, Tasks(1), fence.term, CommitNumber(1)));
  ExpectWhole(**store, 1);
}

TEST_F(PostgresFaults, SessionEndedBetweenCommitsIsOpenedAgain) {
  auto store = Open();
  const Fence fence = *store->TakeTerm();
  for (std::uint64_t number = 1; number <= 5; ++number) {
    SharedPostgres().Sql(kWriters);
    const auto done = CommitTo(*store, Tasks(number), fence.term, CommitNumber(number));
    ASSERT_TRUE(done) << done.error().message;
  }
  ExpectWhole(*store, 5);
}

TEST_F(PostgresFaults, SessionEndedDuringCommitsLosesAndDoublesNothing) {
  auto store = Open();
  const Fence fence = *store->TakeTerm();
  constexpr std::uint64_t kBatches = 60;
  std::atomic<bool> stop = false;
  std::thread killer([&] {
    while (!stop) SharedPostgres().Sql(kWriters);
  });
  for (std::uint64_t number = 1; number <= kBatches && !HasFatalFailure(); ++number)
    CommitSurely(*store, fence.term, number);
  stop = true;
  killer.join();
  ExpectWhole(*store, kBatches);
}

// Two servers that both believe they may lead: what one was answered stays, whoever writes next.
TEST_F(PostgresFaults, LeadersThatDeposeEachOtherLoseNothingThatWasAnswered) {
  constexpr std::uint64_t kEnough = 80;
  ASSERT_TRUE(Open()->TakeTerm());
  base::Mutex mutex;
  std::map<std::uint64_t, std::string> answered;  // by batch: what it wrote
  std::atomic<bool> enough = false;
  const auto lead_once = [&](Store& store, const std::string& name) {
    const auto fence = store.TakeTerm();
    if (!fence) return;
    for (std::uint64_t number = fence->number.value + 1; !enough;) {
      muster::Run run = RunOf(number);
      run.reason = fmt::format("{} in term {}", name, fence->term.value);
      const auto done = CommitTo(store, BatchOf({PutRun{run}}), fence->term, CommitNumber(number));
      if (!done && done.error().code == ErrorCode::kFenced) return;
      if (!done) continue;  // kTimeout or kUnavailable: the same again
      base::Lock lock(mutex);
      EXPECT_TRUE(answered.emplace(number, run.reason).second) << "answered twice: " << number;
      if (answered.size() >= kEnough) enough = true;
      if (++number % 7 == 0) return;  // its lease is over
    }
  };
  std::vector<std::thread> servers;
  for (const char* name : {"one", "two"})
    servers.emplace_back([&, name] {
      auto store = Open();
      while (!enough) lead_once(*store, name);
    });
  for (auto& server : servers) server.join();
  auto store = Open();
  for (const auto& [number, reason] : answered) {
    const auto run = store->FindRun(RunId(number));
    ASSERT_TRUE(run && run->value) << number;
    EXPECT_EQ(run->value->reason, reason);
  }
  EXPECT_GE(store->ReadFence()->number.value, answered.rbegin()->first);
}

TEST_F(PostgresFaults, ReadersGoOnAfterTheirSessionsEnded) {
  auto store = Open();
  ASSERT_TRUE(store->TakeTerm());
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(store->ReadFence());
    SharedPostgres().Sql(
        "SELECT count(pg_terminate_backend(pid, 5000)) FROM pg_stat_activity"
        " WHERE application_name = 'musterd'");
  }
  EXPECT_TRUE(store->ReadFence());
}

TEST_F(PostgresFaults, CommitsWaitingWhenItClosesAreAnswered) {
  auto store = Open();
  const Fence fence = *store->TakeTerm();
  std::atomic<int> answers = 0;
  for (std::uint64_t i = 1; i <= 30; ++i)
    store->Commit(std::make_shared<const Batch>(Tasks(i, 500)), fence.term, CommitNumber(i),
                  [&](Result<>) { ++answers; });
  store.reset();
  EXPECT_EQ(answers, 30);
}

TEST_F(PostgresFaults, ClockIsTheDatabases) {
  auto store = Open();
  const auto before = SharedPostgres().Sql("SELECT floor(extract(epoch FROM clock_timestamp()))");
  const auto clock = store->ReadClock();
  ASSERT_TRUE(clock && *clock);
  EXPECT_GE((*clock)->ms, std::stoll(before) * 1000);
}

// As docs/postgresql.md sets it up.
TEST(PostgresPermissions, OwnerOfADatabaseNeedsNothingMore) {
  PrivatePostgres& server = SharedPostgres();
  server.Sql("CREATE ROLE plain LOGIN");
  server.Sql("CREATE DATABASE plain OWNER plain");
  const std::string address = server.Address() + " user=plain dbname=plain";
  auto first = PostgresStore::Open({.address = address});
  ASSERT_TRUE((*first)->TakeTerm());
  RawSession frozen(address);
  ASSERT_TRUE(frozen.Do("BEGIN"));
  ASSERT_TRUE(frozen.Do("UPDATE fence SET number = number + 1"));
  auto second = PostgresStore::Open({.address = address});
  const auto taken = (*second)->TakeTerm();
  ASSERT_TRUE(taken) << taken.error().message;
  EXPECT_TRUE(CommitTo(**second, BatchOf({PutRun{RunOf(1)}}), taken->term, CommitNumber(1)));
  EXPECT_FALSE(frozen.Do("COMMIT"));
}

TEST(PostgresRestart, StoreGoesOnByItselfAfterTheDatabaseCameBack) {
  PrivatePostgres database;
  auto opened = PostgresStore::Open({.address = database.Address()});
  Store& store = **opened;
  const Fence fence = *store.TakeTerm();
  const auto batch = [](std::uint64_t run) { return BatchOf({PutRun{RunOf(run)}}); };
  ASSERT_TRUE(CommitTo(store, batch(1), fence.term, CommitNumber(1)));
  database.Kill();
  for (int i = 0; i < 2; ++i) {
    const auto read = store.FindRun(RunId(1));
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().code, ErrorCode::kUnavailable);
    EXPECT_NE(read.error().message.find("postgres: find run: cannot connect"), std::string::npos);
    const auto done = CommitTo(store, batch(2), fence.term, CommitNumber(2));
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, ErrorCode::kUnavailable);
  }
  database.Start();
  EXPECT_TRUE(store.FindRun(RunId(1))->value);
  EXPECT_FALSE(store.FindRun(RunId(2))->value);
  ASSERT_TRUE(CommitTo(store, batch(2), fence.term, CommitNumber(2)));
  EXPECT_EQ(store.ReadFence(), (Fence{fence.term, CommitNumber(2)}));
}

TEST(PostgresRestart, NothingAnsweredIsLostWhenTheDatabaseDiesUnderLoad) {
  PrivatePostgres database;
  auto opened = PostgresStore::Open({.address = database.Address()});
  Store& store = **opened;
  const Fence fence = *store.TakeTerm();
  std::atomic<bool> stop = false;
  std::atomic<std::uint64_t> answered = 0;
  std::thread writer([&] {
    for (std::uint64_t number = 1; !stop;) {
      Batch batch = BatchOf({PutRun{RunOf(number)}});
      for (std::uint32_t i = 0; i < 50; ++i)
        batch.changes.emplace_back(PutTask{TaskRow(number, i, i + 1)});
      const auto done = CommitTo(store, std::move(batch), fence.term, CommitNumber(number));
      if (done) answered = number++;
      if (!done && done.error().code != ErrorCode::kTimeout)
        EXPECT_EQ(done.error().code, ErrorCode::kUnavailable) << done.error().message;
    }
  });
  for (int round = 0; round < 3; ++round) {
    const std::uint64_t before = answered;
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (answered < before + 20 && std::chrono::steady_clock::now() < deadline)
      std::this_thread::yield();
    EXPECT_GE(answered, before + 20);
    database.Kill();
    database.Start();
  }
  stop = true;
  writer.join();
  const auto fence_now = store.ReadFence();
  ASSERT_TRUE(fence_now) << fence_now.error().message;
  EXPECT_GE(fence_now->number.value, answered);
  EXPECT_LE(fence_now->number.value, answered + 1);
  for (std::uint64_t run = 1; run <= fence_now->number.value; ++run)
    ASSERT_EQ(store.ListTasks(RunId(run), {}, {}, 100)->size(), 50U) << run;
}

}  // namespace
}  // namespace muster
