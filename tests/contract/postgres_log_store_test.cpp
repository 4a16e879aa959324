#include <atomic>
#include <thread>

#include "contract/log_store_fixture.hpp"

namespace muster {
namespace {

constexpr Duration kOneDay = std::chrono::hours(24);

std::string DayTables(const PostgresLogDisk& disk) {
  return PrivatePostgres::Sql(
      "SELECT string_agg(relname, ' ' ORDER BY relname) FROM pg_class WHERE relkind = 'r'"
      " AND relnamespace = current_schema()::regnamespace AND relname LIKE 'chunk%'",
      disk.Address());
}

Result<std::size_t> DropFrom(LogStore& store, WallTime moment) {
  std::promise<Result<std::size_t>> answer;
  store.DropDays(moment, [&](Result<std::size_t> done) { answer.set_value(std::move(done)); });
  return answer.get_future().get();
}

TEST(PostgresLogStore, OutputOverSeveralDaysIsOne) {
  PostgresLogDisk disk;
  LogStore* store = disk.Open();
  std::string text;
  for (int day = 0; day < 5; ++day) {
    const std::string data = "day " + std::to_string(day) + "\n";
    // Each day sends the end of the day before once more.
    const std::size_t back = std::min<std::size_t>(text.size(), 3);
    ASSERT_TRUE(
        AppendTo(*store, {Out(text.size() - back, text.substr(text.size() - back) + data)}));
    text += data;
    disk.Clock().wall = disk.Clock().wall + kOneDay;
    if (day % 2 == 1) store = disk.Open();
  }
  EXPECT_EQ(DayTables(disk),
            "chunk_20251115 chunk_20251116 chunk_20251117 chunk_20251118 chunk_20251119");
  EXPECT_EQ(TextOf(*store, kTask), text);
  store = disk.Open();
  EXPECT_EQ(store->DurableEnd(kTask), text.size());
  EXPECT_TRUE(FinishIn(*store, kTask, TotalsOf(text, "")));
}

TEST(PostgresLogStore, ServersThatNeedADayAtOnceMakeItOnce) {
  PostgresLogDisk disk;
  for (int round = 0; round < 5; ++round) {
    std::vector<std::thread> threads;
    for (std::uint32_t server = 0; server < 4; ++server)
      threads.emplace_back([&, server] {
        auto store = disk.OpenAnother();
        LogChunk chunk = Out(0, "hello");
        chunk.task.ordinal = server;
        const auto done = AppendTo(*store, {chunk});
        EXPECT_TRUE(done) << done.error().message;
      });
    for (auto& thread : threads) thread.join();
    disk.Clock().wall = disk.Clock().wall + kOneDay;
  }
}

// An agent that loses its server goes on with another, and may come back.
TEST(PostgresLogStore, OutputThatWentToSeveralServersIsOne) {
  PostgresLogDisk disk;
  auto one = disk.OpenAnother();
  auto two = disk.OpenAnother();
  ASSERT_TRUE(AppendTo(*one, {Out(0, "one ")}));
  ASSERT_TRUE(AppendTo(*two, {Out(2, "e two ")}));
  EXPECT_EQ(two->DurableEnd(kTask), 8U);
  ASSERT_TRUE(AppendTo(*one, {Out(8, "one again ")}));
  EXPECT_EQ(one->DurableEnd(kTask), 18U);
  ASSERT_TRUE(AppendTo(*two, {Out(18, "two again")}));
  EXPECT_EQ(TextOf(*one, kTask), "one two one again two again");
  for (LogStore* store : {one.get(), two.get()}) {
    const auto mark = FinishIn(*store, kTask, TotalsOf("one two one again two again", ""));
    ASSERT_TRUE(mark) << mark.error().message;
    EXPECT_EQ(mark->state, LogState::kComplete);
  }
}

TEST(PostgresLogStore, WhatOneServerDroppedAnotherDoesNotBelieveDurable) {
  PostgresLogDisk disk;
  auto one = disk.OpenAnother();
  auto two = disk.OpenAnother();
  ASSERT_TRUE(AppendTo(*two, {Out(0, "old")}));
  disk.Clock().wall = disk.Clock().wall + kOneDay;
  EXPECT_EQ(DropFrom(*one, disk.Clock().wall), 1U);
  EXPECT_EQ(DropFrom(*one, disk.Clock().wall), 0U);
  ASSERT_TRUE(AppendTo(*two, {Out(0, "old and new")}));
  EXPECT_EQ(TextOf(*one, kTask), "old and new");
  EXPECT_EQ(two->DurableEnd(kTask), 11U);
  EXPECT_EQ(DayTables(disk), "chunk_20251116");
}

TEST(PostgresLogStore, DroppedDayIsMadeAgainForAServerThatStillWritesIt) {
  PostgresLogDisk disk;
  auto store = disk.OpenAnother();
  ASSERT_TRUE(AppendTo(*store, {Out(0, "a")}));
  EXPECT_EQ(DropFrom(*disk.OpenAnother(), disk.Clock().wall + kOneDay), 1U);
  ASSERT_TRUE(AppendTo(*store, {Out(1, "b")}));
  const auto left = store->Read(kTask, 0, 10);
  ASSERT_TRUE(left);
  ASSERT_FALSE(left->empty());
  // Small chunks that this server still knows of are written again with what follows them.
  EXPECT_EQ(left->back(), Out(1, "b"));
}

// A row is some two hundred bytes with its key, and one that is written again leaves the shorter
// one behind until its page is needed.
TEST(PostgresLogStore, SingleBytesTakeAFewBytesOfDisk) {
  constexpr std::size_t kBytes = 20'000;
  std::mt19937_64 random(1);
  PostgresLogDisk disk;
  LogStore* store = disk.Open();
  for (std::size_t at = 0; at < kBytes;) {
    std::vector<LogChunk> chunks;
    for (; chunks.size() < 7 && at < kBytes; ++at) {
      const std::string byte(1, static_cast<char>(random()));
      chunks.push_back(at % 2 == 0 ? Out(at, byte) : Err(at, byte));
      chunks.back().time = {static_cast<std::int64_t>(random() >> 30)};
    }
    ASSERT_TRUE(AppendTo(*store, std::move(chunks)));
  }
  EXPECT_EQ(TextOf(*store, kTask).size(), kBytes);
  const auto size = PrivatePostgres::Sql("SELECT pg_total_relation_size('" + DayTables(disk) + "')",
                                         disk.Address());
  EXPECT_LT(std::stoull(size), 20 * kBytes);
}

TEST(PostgresLogStore, SilentTasksTouchNoDatabase) {
  PostgresLogDisk disk;
  LogStore* store = disk.Open();
  ASSERT_TRUE(FinishIn(*store, kTask, TotalsOf("", "")));
  EXPECT_EQ(DayTables(disk), "");
}

TEST(PostgresLogStore, GoesOnAfterARestartOfTheDatabase) {
  PrivatePostgres database;
  StandingClock clock;
  auto opened = PostgresLogStore::Open({.address = database.Address()}, clock);
  LogStore& store = **opened;
  ASSERT_TRUE(AppendTo(store, {Out(0, "before ")}));
  database.Kill();
  const auto away = AppendTo(store, {Out(7, "after")});
  ASSERT_FALSE(away);
  EXPECT_EQ(away.error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(store.Read(kTask, 0, 10).error().code, ErrorCode::kUnavailable);
  database.Start();
  ASSERT_TRUE(AppendTo(store, {Out(7, "after")}));
  EXPECT_EQ(TextOf(store, kTask), "before after");
  EXPECT_TRUE(FinishIn(store, kTask, TotalsOf("before after", "")));
}

}  // namespace
}  // namespace muster
