#include <algorithm>
#include <limits>

#include "contract/log_store_fixture.hpp"

namespace muster {
namespace {

TEST_P(LogStoreContract, WhatWasAppendedIsRead) {
  Append({Out(0, "hello "), Err(6, "oops"), Out(10, "world")});
  const auto chunks = store_->Read(kTask, 0, 100);
  ASSERT_TRUE(chunks);
  EXPECT_EQ(*chunks, (std::vector{Out(0, "hello "), Err(6, "oops"), Out(10, "world")}));
  EXPECT_EQ(store_->DurableEnd(kTask), 15U);
}

TEST_P(LogStoreContract, ReadsAreCutToWhatWasAskedFor) {
  Append({Out(0, "abcdef"), Err(6, "ghij")});
  EXPECT_EQ(*store_->Read(kTask, 2, 3), std::vector{Out(2, "cde")});
  EXPECT_EQ(*store_->Read(kTask, 4, 4), (std::vector{Out(4, "ef"), Err(6, "gh")}));
  EXPECT_EQ(*store_->Read(kTask, 8, SIZE_MAX), std::vector{Err(8, "ij")});
  EXPECT_TRUE(store_->Read(kTask, 10, 5)->empty());
  EXPECT_TRUE(store_->Read(kTask, 0, 0)->empty());
}

TEST_P(LogStoreContract, TasksAreApart) {
  TaskKey other = kTask;
  other.attempt = Attempt(2);
  LogChunk chunk = Out(0, "other");
  chunk.task = other;
  Append({Out(0, "one"), chunk});
  EXPECT_EQ(Text(kTask), "one");
  EXPECT_EQ(Text(other), "other");
  EXPECT_EQ(store_->DurableEnd(TaskKey{}), 0U);
}

TEST_P(LogStoreContract, DuplicatesAndOverlapsAreHarmless) {
  Append({Out(0, "abcd"), Out(4, "efgh")});
  Append({Out(0, "abcd"), Out(2, "cdef"), Out(0, "abcdefghij"), Out(9, "j")});
  EXPECT_EQ(Text(kTask), "abcdefghij");
  EXPECT_EQ(store_->DurableEnd(kTask), 10U);
  EXPECT_EQ(Finish(TotalsOf("abcdefghij", ""))->state, LogState::kComplete);
}

TEST_P(LogStoreContract, LongerChunkAtTheSameOffsetAddsItsBytes) {
  Append({Out(5, "fg")});
  Append({Out(5, "fghij")});
  Append({Out(5, "f")});
  Append({Out(0, "abcde")});
  EXPECT_EQ(Text(kTask), "abcdefghij");
  EXPECT_EQ(Finish(TotalsOf("abcdefghij", ""))->state, LogState::kComplete);
}

TEST_P(LogStoreContract, DurableEndStopsAtAHole) {
  Append({Out(0, "abc"), Out(5, "fg")});
  EXPECT_EQ(store_->DurableEnd(kTask), 3U);
  Append({Out(9, "j")});
  Append({Out(3, "de")});
  EXPECT_EQ(store_->DurableEnd(kTask), 7U);
  Append({Out(7, "hi")});
  EXPECT_EQ(store_->DurableEnd(kTask), 10U);
  EXPECT_EQ(Text(kTask), "abcdefghij");
}

TEST_P(LogStoreContract, DaysAreDroppedWhole) {
  // The adapters' day is that of the server's clock or of the chunk, which agree here.
  LogChunk chunk = Out(0, "old");
  chunk.time = {1'763'200'000'000};
  Append({chunk});
  const auto drop = [&](std::int64_t moment) {
    std::promise<Result<std::size_t>> answer;
    store_->DropDays({moment},
                     [&](Result<std::size_t> days) { answer.set_value(std::move(days)); });
    return answer.get_future().get();
  };
  EXPECT_EQ(drop(1'763'200'000'000), 0U) << "its day is not over";
  EXPECT_EQ(Text(kTask), "old");
  EXPECT_EQ(drop(1'763'200'000'000 + 24LL * 3600 * 1000), 1U);
  EXPECT_EQ(Text(kTask), "");
  EXPECT_EQ(drop(1'763'200'000'000 + 24LL * 3600 * 1000), 0U);
  Append({chunk});
  EXPECT_EQ(Text(kTask), "old") << "the day can be written again";
}

TEST_P(LogStoreContract, FinishMarksWholeOutputComplete) {
  Append({Out(0, "hello "), Err(6, "oops"), Out(10, "world")});
  const auto totals = TotalsOf("hello world", "oops");
  const auto mark = Finish(totals);
  ASSERT_TRUE(mark) << mark.error().message;
  EXPECT_EQ(*mark, (LogMark{.state = LogState::kComplete,
                            .bytes = 15,
                            .stdout_sha256 = totals.stdout_sha256,
                            .stderr_sha256 = totals.stderr_sha256}));
  // The answer may be lost and the question come again.
  EXPECT_EQ(Finish(totals), mark);
}

TEST_P(LogStoreContract, FinishSaysWhatTheNodeDroppedOrLost) {
  Append({Out(0, "abc")});
  auto totals = TotalsOf("abc", "");
  totals.dropped = 5;
  EXPECT_EQ(Finish(totals)->state, LogState::kCut);
  totals.gap = true;
  EXPECT_EQ(Finish(totals)->state, LogState::kGap);
}

TEST_P(LogStoreContract, FinishConflictsWhileBytesAreMissing) {
  Append({Out(0, "abc"), Out(5, "fg")});
  const auto totals = TotalsOf("abcdefg", "");
  EXPECT_EQ(Finish(totals).error().code, ErrorCode::kConflict);
  EXPECT_EQ(store_->DurableEnd(kTask), 3U);
  Append({Out(3, "de")});
  EXPECT_TRUE(Finish(totals));
}

TEST_P(LogStoreContract, FinishConflictsWhenAHashDiffers) {
  Append({Out(0, "abc")});
  EXPECT_EQ(Finish(TotalsOf("abd", "")).error().code, ErrorCode::kConflict);
  auto on_other_stream = TotalsOf("", "abc");
  EXPECT_EQ(Finish(on_other_stream).error().code, ErrorCode::kConflict);
  EXPECT_EQ(Finish(TotalsOf("ab", "")).error().code, ErrorCode::kConflict);
  EXPECT_EQ(store_->DurableEnd(kTask), 3U);
  EXPECT_TRUE(Finish(TotalsOf("abc", "")));
}

TEST_P(LogStoreContract, WrongTotalsDoNotSpoilWhatFollows) {
  Append({Out(0, "abc")});
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(Finish(TotalsOf("abd", "")).error().code, ErrorCode::kConflict);
  Append({Out(3, "def")});
  EXPECT_EQ(Finish(TotalsOf("abcdeg", "")).error().code, ErrorCode::kConflict);
  EXPECT_EQ(Finish(TotalsOf("abcdefg", "")).error().code, ErrorCode::kConflict);
  const auto totals = TotalsOf("abcdef", "");
  for (int i = 0; i < 3; ++i) EXPECT_EQ(Finish(totals)->state, LogState::kComplete);
  Append({Out(6, "g")});
  EXPECT_EQ(Finish(totals).error().code, ErrorCode::kConflict);
  EXPECT_TRUE(Finish(TotalsOf("abcdefg", "")));
}

TEST_P(LogStoreContract, SilentTaskFinishesComplete) {
  const auto mark = Finish(TotalsOf("", ""));
  ASSERT_TRUE(mark);
  EXPECT_EQ(mark->state, LogState::kComplete);
  EXPECT_EQ(mark->stdout_sha256, kEmptySha256);
  EXPECT_EQ(Finish(LogTotals{})->stderr_sha256, kEmptySha256);
  auto lost = TotalsOf("", "");
  lost.gap = true;
  EXPECT_EQ(Finish(lost)->state, LogState::kGap);
  EXPECT_EQ(Finish(TotalsOf("a", "")).error().code, ErrorCode::kConflict);
}

TEST_P(LogStoreContract, EmptyAppendIsAnswered) {
  Append({});
  Append({Out(0, "")});
  EXPECT_EQ(store_->DurableEnd(kTask), 0U);
}

TEST_P(LogStoreContract, FinishAnswersAfterTheAppendsBeforeIt) {
  std::mutex mutex;
  std::vector<int> order;
  const auto note = [&](int what) {
    const std::lock_guard lock(mutex);
    order.push_back(what);
  };
  constexpr int kAppends = 50;
  std::string text;
  for (int i = 0; i < kAppends; ++i) {
    store_->Append({Out(text.size(), "x")}, [&, i](Result<> done) { note(done ? i : -1); });
    text += "x";
  }
  std::promise<Result<LogMark>> mark;
  store_->Finish(kTask, TotalsOf(text, ""), [&](Result<LogMark> result) {
    note(kAppends);
    mark.set_value(std::move(result));
  });
  EXPECT_TRUE(mark.get_future().get());
  const std::lock_guard lock(mutex);
  ASSERT_EQ(order.size(), kAppends + 1U);
  EXPECT_EQ(order.back(), kAppends);
  EXPECT_EQ(std::ranges::count(order, -1), 0);
}

TEST_P(LogStoreContract, GoesOnAfterAReopen) {
  Append({Out(0, "abc"), Out(9, "j")});
  Reopen();
  EXPECT_EQ(store_->DurableEnd(kTask), 3U);
  Append({Out(3, "defghi")});
  EXPECT_EQ(store_->DurableEnd(kTask), 10U);
  Reopen();
  EXPECT_TRUE(Finish(TotalsOf("abcdefghij", "")));
  Reopen();
  EXPECT_EQ(Text(kTask), "abcdefghij");
}

TEST_P(LogStoreContract, ResendingFromTheStartAfterAReopenIsHarmless) {
  Append({Out(0, "abc"), Err(3, "de")});
  Reopen();
  Append({Out(0, "abc")});
  Append({Err(3, "de"), Out(5, "f")});
  EXPECT_EQ(Text(kTask), "abcdef");
  EXPECT_TRUE(Finish(TotalsOf("abcf", "de")));
}

TEST_P(LogStoreContract, BytesOfAnyValueSurvive) {
  std::string all;
  for (int i = 0; i < 256; ++i) all.push_back(static_cast<char>(i));
  std::string text;
  for (int i = 0; i < 20; ++i) {
    Append({Out(text.size(), all)});
    text += all;
  }
  EXPECT_EQ(Text(kTask), text);
  EXPECT_TRUE(Finish(TotalsOf(text, "")));
}

TEST_P(LogStoreContract, TenMegabytesInManyChunks) {
  std::mt19937_64 random(1);
  std::string text;
  std::vector<LogChunk> chunks;
  while (text.size() < (10U << 20)) {
    // Every third chunk is longer than the store keeps in one row, every second compresses well.
    const std::size_t size = chunks.size() % 3 == 0 ? 300'000 : 1 + random() % 60'000;
    std::string data(size, static_cast<char>('a' + chunks.size() % 26));
    if (chunks.size() % 2 == 0)
      for (auto& byte : data) byte = static_cast<char>(random());
    chunks.push_back(Out(text.size(), data));
    text += data;
  }
  for (std::size_t i = 0; i < chunks.size(); i += 5)
    Append({chunks.begin() + static_cast<std::ptrdiff_t>(i),
            chunks.begin() + static_cast<std::ptrdiff_t>(std::min(i + 5, chunks.size()))});
  const auto totals = TotalsOf(text, "");
  EXPECT_TRUE(Finish(totals));
  EXPECT_TRUE(Text(kTask) == text);
  Reopen();
  EXPECT_TRUE(Finish(totals));
}

// Output as a program writes it that flushes each byte: streams and times of any kind.
std::vector<LogChunk> SingleBytes(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<LogChunk> chunks;
  std::int64_t time = 1'763'200'000'000;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string byte(1, static_cast<char>(random()));
    chunks.push_back(random() % 2 == 0 ? Out(i, byte) : Err(i, byte));
    if (random() % 4 == 0) time += static_cast<std::int64_t>(random() % 100'000) - 1'000;
    chunks.back().time = {time};
  }
  return chunks;
}

std::pair<std::string, std::string> StreamsOf(const std::vector<LogChunk>& chunks) {
  std::pair<std::string, std::string> streams;
  for (const auto& chunk : chunks)
    (chunk.stream == Stream::kStdout ? streams.first : streams.second) += chunk.data;
  return streams;
}

TEST_P(LogStoreContract, SmallChunksKeepTheirStreamAndTime) {
  const auto chunks = SingleBytes(3'000, 1);
  // Together, one by one, and as they come.
  Append({chunks.begin(), chunks.begin() + 1'000});
  for (std::size_t i = 1'000; i < 1'200; ++i) Append({chunks[i]});
  for (std::size_t i = 1'200; i < 2'000; ++i)
    store_->Append({chunks[i]}, [](Result<> done) { EXPECT_TRUE(done); });
  Append({chunks.begin() + 2'000, chunks.end()});
  EXPECT_EQ(*store_->Read(kTask, 0, SIZE_MAX), chunks);
  EXPECT_EQ(*store_->Read(kTask, 1'100, 7),
            std::vector(chunks.begin() + 1'100, chunks.begin() + 1'107));
  EXPECT_EQ(store_->DurableEnd(kTask), 3'000U);
  Reopen();
  EXPECT_EQ(*store_->Read(kTask, 0, SIZE_MAX), chunks);
  EXPECT_EQ(store_->DurableEnd(kTask), 3'000U);
  const auto [out, err] = StreamsOf(chunks);
  EXPECT_TRUE(Finish(TotalsOf(out, err)));
}

TEST_P(LogStoreContract, SmallAndLargeChunksFollowEachOther) {
  std::vector<LogChunk> chunks;
  std::string text;
  for (const std::size_t size : {1, 62, 63, 64, 65, 4096, 4097, 1, 70'000, 1, 1, 4096, 1}) {
    chunks.push_back(Out(text.size(), std::string(size, static_cast<char>('a' + chunks.size()))));
    text += chunks.back().data;
  }
  for (const auto& chunk : chunks) Append({chunk});
  EXPECT_EQ(Text(kTask), text);
  for (auto& chunk : chunks) chunk.task.run = RunId(13);
  Append(chunks);
  EXPECT_EQ(*store_->Read(chunks.front().task, 0, SIZE_MAX), chunks);
  EXPECT_TRUE(Finish(TotalsOf(text, "")));
}

TEST_P(LogStoreContract, TimesThatCannotBeAreTaken) {
  constexpr auto kLatest = std::numeric_limits<std::int64_t>::max();
  constexpr auto kEarliest = std::numeric_limits<std::int64_t>::min();
  std::string text;
  for (const std::int64_t time : {kLatest, kEarliest, kLatest, std::int64_t{0}, kLatest}) {
    LogChunk chunk = Out(text.size(), "x");
    chunk.time = {time};
    Append({chunk});
    text += "x";
  }
  EXPECT_EQ(Text(kTask), text);
  EXPECT_TRUE(Finish(TotalsOf(text, "")));
}

TEST_P(LogStoreContract, AReadHasABoundOfChunks) {
  const auto chunks = SingleBytes(LogStore::kMostChunksRead + 100, 2);
  Append(chunks);
  const auto first = store_->Read(kTask, 50, SIZE_MAX);
  ASSERT_TRUE(first);
  ASSERT_EQ(first->size(), LogStore::kMostChunksRead);
  EXPECT_EQ(first->front(), chunks[50]);
  const auto rest = store_->Read(kTask, first->back().offset + 1, SIZE_MAX);
  ASSERT_TRUE(rest);
  EXPECT_EQ(rest->size(), 50U);
  EXPECT_EQ(rest->back(), chunks.back());
}

TEST_P(LogStoreContract, AnyOrderWithRepeatsAndReopensGivesTheBytes) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    const TaskKey task{
        .run = RunId(100 + seed), .visit = Visit(1), .host = HostId(3), .attempt = Attempt(1)};
    std::string text;
    std::string out;
    std::string err;
    std::vector<LogChunk> chunks;
    for (std::size_t left = 1 + random() % 40; left > 0; --left) {
      std::string data(1 + random() % 500, '\0');
      for (auto& byte : data) byte = static_cast<char>('a' + random() % 4);
      LogChunk chunk = random() % 2 == 0 ? Out(text.size(), data) : Err(text.size(), data);
      chunk.task = task;
      (chunk.stream == Stream::kStdout ? out : err) += data;
      text += data;
      chunks.push_back(chunk);
      // Also pieces of it, as a sender with another idea of where chunks begin would send.
      LogChunk piece = chunk;
      const std::size_t skip = random() % chunk.data.size();
      piece.offset += skip;
      piece.data = chunk.data.substr(skip, 1 + random() % 300);
      chunks.push_back(piece);
    }
    const auto repeats = chunks;
    for (const auto& chunk : repeats)
      if (random() % 3 == 0) chunks.push_back(chunk);
    std::ranges::shuffle(chunks, random);
    for (std::size_t i = 0; i < chunks.size();) {
      const std::size_t size = std::min<std::size_t>(1 + random() % 6, chunks.size() - i);
      Append({chunks.begin() + static_cast<std::ptrdiff_t>(i),
              chunks.begin() + static_cast<std::ptrdiff_t>(i + size)});
      i += size;
      if (random() % 8 == 0) Reopen();
    }
    EXPECT_EQ(store_->DurableEnd(task), text.size());
    EXPECT_EQ(Text(task), text);
    const auto mark = Finish(TotalsOf(out, err), task);
    EXPECT_TRUE(mark) << mark.error().message;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Adapters, LogStoreContract,
    testing::Values(LogAdapter{"memory", [] { return std::make_unique<MemoryLogDisk>(); }},
                    LogAdapter{"sqlite", [] { return std::make_unique<SqliteLogDisk>(); }},
                    LogAdapter{"postgres", [] { return std::make_unique<PostgresLogDisk>(); }}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace muster
