#pragma once

#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "adapters/memory/memory_store.hpp"
#include "adapters/postgres/postgres_store.hpp"
#include "adapters/sqlite/sqlite_store.hpp"
#include "ports/store.hpp"
#include "support/postgres.hpp"
#include "support/temp_folder.hpp"

namespace muster {

// A disk of one adapter: each Open is another server on it.
class StoreDisk {
 public:
  virtual ~StoreDisk() = default;
  virtual std::unique_ptr<Store> Open() = 0;
};

class MemoryStoreDisk final : public StoreDisk {
 public:
  std::unique_ptr<Store> Open() override { return std::make_unique<MemoryStore>(disk_); }

 private:
  std::shared_ptr<MemoryDisk> disk_ = MakeMemoryDisk();
};

class SqliteStoreDisk final : public StoreDisk {
 public:
  std::unique_ptr<Store> Open() override {
    auto store = SqliteStore::Open(folder_.Path(), {.exclusive = false});
    EXPECT_TRUE(store) << store.error().message;
    return std::move(*store);
  }

 private:
  TempFolder folder_;
};

// A schema of its own in the database of this program.
class PostgresStoreDisk final : public StoreDisk {
 public:
  std::unique_ptr<Store> Open() override {
    auto store = PostgresStore::Open({.address = address_});
    EXPECT_TRUE(store) << store.error().message;
    return std::move(*store);
  }

 private:
  std::string address_ = SharedPostgres().NewSchema();
};

struct StoreAdapter {
  std::string name;
  std::function<std::unique_ptr<StoreDisk>()> make;
};

inline Batch BatchOf(std::vector<Change> changes) { return Batch{std::move(changes)}; }

// Commits and waits for the answer.
inline Result<> CommitTo(Store& store, Batch batch, Term term, CommitNumber number) {
  auto answer = std::make_shared<std::promise<Result<>>>();
  auto future = answer->get_future();
  store.Commit(std::make_shared<const Batch>(std::move(batch)), term, number,
               [answer](Result<> result) { answer->set_value(std::move(result)); });
  if (future.wait_for(std::chrono::seconds(60)) != std::future_status::ready)
    return Fail(ErrorCode::kTimeout, "test: no answer");
  return future.get();
}

// A leader with an empty store.
class StoreContract : public testing::TestWithParam<StoreAdapter> {
 protected:
  StoreContract() { TakeTerm(); }

  void TakeTerm() {
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
  Snapshot Load() {
    auto snapshot = store_->Load(fence_.term);
    EXPECT_TRUE(snapshot) << snapshot.error().message;
    return snapshot ? std::move(*snapshot) : Snapshot();
  }
  void Reopen() {
    store_.reset();
    store_ = disk_->Open();
  }

  std::unique_ptr<StoreDisk> disk_ = GetParam().make();
  std::unique_ptr<Store> store_ = disk_->Open();
  Fence fence_;
};

// Every adapter that the suites run over.
inline auto AllStoreAdapters() {
  return testing::Values(
      StoreAdapter{"memory", [] { return std::make_unique<MemoryStoreDisk>(); }},
      StoreAdapter{"sqlite", [] { return std::make_unique<SqliteStoreDisk>(); }},
      StoreAdapter{"postgres", [] { return std::make_unique<PostgresStoreDisk>(); }});
}

#define MUSTER_STORE_ADAPTERS(suite)                            \
  INSTANTIATE_TEST_SUITE_P(Adapters, suite, AllStoreAdapters(), \
                           [](const auto& info) { return info.param.name; })

inline Run RunOf(std::uint64_t id, RunState state = RunState::kRunning) {
  Run run;
  run.id = RunId(id);
  run.state = state;
  run.by = "alice";
  run.created = {1'000'000 + static_cast<std::int64_t>(id)};
  return run;
}

inline TaskRecord TaskRow(std::uint64_t run, std::uint32_t ordinal, std::uint64_t host,
                          std::uint32_t attempt = 1, TaskState state = TaskState::kSent) {
  TaskRecord task;
  task.key = {.run = RunId(run),
              .visit = Visit(1),
              .ordinal = ordinal,
              .host = HostId(host),
              .attempt = Attempt(attempt)};
  task.state = state;
  task.sent = {5000};
  return task;
}

}  // namespace muster
