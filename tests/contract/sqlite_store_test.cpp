#include <atomic>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <sqlite3.h>

#include "contract/store_fixture.hpp"

namespace muster {
namespace {

std::unique_ptr<SqliteStore> OpenAt(const TempFolder& folder) {
  auto store = SqliteStore::Open(folder.Path());
  EXPECT_TRUE(store) << store.error().message;
  return store ? std::move(*store) : nullptr;
}

TEST(SqliteStore, SecondWriterOfAFolderIsRefusedByName) {
  TempFolder folder;
  auto first = OpenAt(folder);
  const auto second = SqliteStore::Open(folder.Path());
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::kConflict);
  EXPECT_NE(second.error().message.find(std::to_string(getpid())), std::string::npos);
  first.reset();
  EXPECT_TRUE(SqliteStore::Open(folder.Path()));
}

TEST(SqliteStore, NewerSchemaIsRefused) {
  TempFolder folder;
  OpenAt(folder).reset();
  sqlite3* raw = nullptr;
  ASSERT_EQ(sqlite3_open((folder.Path() / "muster.db").c_str(), &raw), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(raw, "PRAGMA user_version = 99", nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(raw);
  const auto store = SqliteStore::Open(folder.Path());
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().code, ErrorCode::kInvalid);
}

TEST(SqliteStore, RecordsOfAnEarlierMusterdAreRefused) {
  TempFolder folder;
  OpenAt(folder).reset();
  sqlite3* raw = nullptr;
  ASSERT_EQ(sqlite3_open((folder.Path() / "muster.db").c_str(), &raw), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(raw, "PRAGMA application_id = 0", nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(raw);
  const auto store = SqliteStore::Open(folder.Path());
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().code, ErrorCode::kInvalid);
  EXPECT_NE(store.error().message.find("an earlier musterd"), std::string::npos);
}

Batch BigBatch(std::uint64_t run) {
  Batch batch;
  for (std::uint32_t i = 0; i < 5000; ++i)
    batch.changes.emplace_back(PutTask{TaskRow(run, i, i + 1)});
  return batch;
}

TEST(SqliteStore, FullDiskRefusesAndTheSameBatchGoesInLater) {
  TempFolder folder;
  auto store = OpenAt(folder);
  const Fence fence = *store->TakeTerm();
  ASSERT_TRUE(CommitTo(*store, BatchOf({PutRun{RunOf(1)}}), fence.term, CommitNumber(1)));
  ASSERT_TRUE(store->LimitPages(1));  // less than there is: not one page more
  for (int i = 0; i < 3; ++i) {
    const auto full = CommitTo(*store, BigBatch(2), fence.term, CommitNumber(2));
    ASSERT_FALSE(full);
    EXPECT_EQ(full.error().code, ErrorCode::kUnavailable);
    EXPECT_NE(full.error().message.find("batch 2: disk is full"), std::string::npos);
    EXPECT_EQ(store->ReadFence()->number, CommitNumber(1));
    EXPECT_TRUE(store->ListTasks(RunId(2), {}, {}, 1)->empty());
  }
  ASSERT_TRUE(store->LimitPages(0));
  ASSERT_TRUE(CommitTo(*store, BigBatch(2), fence.term, CommitNumber(2)));
  EXPECT_EQ(store->ListTasks(RunId(2), {}, {}, 10'000)->size(), 5000U);
}

TEST(SqliteStore, CommitsWaitingWhenItClosesAreAnswered) {
  TempFolder folder;
  auto store = OpenAt(folder);
  const Fence fence = *store->TakeTerm();
  std::atomic<int> answers = 0;
  for (std::uint64_t i = 1; i <= 50; ++i)
    store->Commit(std::make_shared<const Batch>(BigBatch(i)), fence.term, CommitNumber(i),
                  [&](Result<>) { ++answers; });
  store.reset();
  EXPECT_EQ(answers, 50);
}

// The child's whole life: commits batches and says the number of each that succeeded.
[[noreturn]] void CommitForever(const std::filesystem::path& folder, int out) {
  auto store = SqliteStore::Open(folder);
  if (!store) _exit(1);
  const auto fence = (*store)->TakeTerm();
  if (!fence) _exit(1);
  for (std::uint64_t number = fence->number.value + 1;; ++number) {
    Batch batch = BatchOf({PutRun{RunOf(number)}});
    for (std::uint32_t i = 0; i < 20; ++i)
      batch.changes.emplace_back(PutTask{TaskRow(number, i, i + 1)});
    if (!CommitTo(**store, std::move(batch), fence->term, CommitNumber(number))) _exit(1);
    if (write(out, &number, sizeof(number)) != sizeof(number)) _exit(1);
  }
}

TEST(SqliteStore, WhatWasAnsweredIsThereAfterAKill) {
  TempFolder folder;
  std::uint64_t last = 0;
  for (int round = 0; round < 5; ++round) {
    int ends[2];
    ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) CommitForever(folder.Path(), ends[1]);
    close(ends[1]);
    for (int i = 0; i < 30 + 17 * round; ++i)
      ASSERT_EQ(read(ends[0], &last, sizeof(last)), static_cast<ssize_t>(sizeof(last)));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    while (read(ends[0], &last, sizeof(last)) == static_cast<ssize_t>(sizeof(last))) {
    }
    close(ends[0]);

    auto store = OpenAt(folder);
    ASSERT_TRUE(store);
    const std::uint64_t number = store->ReadFence()->number.value;
    EXPECT_GE(number, last);
    EXPECT_LE(number, last + 1);
    for (std::uint64_t run = 1; run <= number; ++run) {
      ASSERT_TRUE(store->FindRun(RunId(run))->value) << run;
      ASSERT_EQ(store->ListTasks(RunId(run), {}, {}, 100)->size(), 20U) << run;
    }
    EXPECT_FALSE(store->FindRun(RunId(number + 1))->value);
  }
}

TEST(SqliteStore, WalIsMovedIntoTheDatabaseWhileItGrows) {
  TempFolder folder;
  auto store = OpenAt(folder);
  const Fence fence = *store->TakeTerm();
  const auto database = folder.Path() / "muster.db";
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(120);
  const auto before = std::filesystem::file_size(database);
  std::uint64_t number = 0;
  // The database file itself grows only by a checkpoint.
  while (std::filesystem::file_size(database) < before + (1 << 20)) {
    ++number;
    ASSERT_TRUE(CommitTo(*store, BigBatch(number), fence.term, CommitNumber(number)));
    ASSERT_LT(std::chrono::steady_clock::now(), deadline);
  }
}

}  // namespace
}  // namespace muster
