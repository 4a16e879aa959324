#include "adapters/logs/open_row.hpp"

#include <random>

#include <gtest/gtest.h>

namespace muster::logs {
namespace {

constexpr TaskKey kTask{RunId(1), Visit(1), 0, HostId(7), Attempt(1)};

LogChunk Chunk(std::uint64_t offset, std::string data, Stream stream = Stream::kStdout,
               std::int64_t time = 5000) {
  return {.task = kTask, .offset = offset, .stream = stream, .time = {time}, .data = data};
}

// As a store gives them back: without their task.
std::vector<LogChunk> Without(std::vector<LogChunk> chunks) {
  for (auto& chunk : chunks) chunk.task = {};
  return chunks;
}

TEST(OpenRow, GivesItsChunksBack) {
  const std::vector<LogChunk> chunks = {
      Chunk(10, "a"), Chunk(11, std::string(64, 'b'), Stream::kStderr, 4000),
      Chunk(75, std::string(OpenRow::kMostInChunk, 'c'), Stream::kStdout, 9'000'000)};
  OpenRow row(chunks[0], 0, 1);
  for (std::size_t i = 1; i < chunks.size(); ++i)
    ASSERT_TRUE(row.Add(chunks[i], 0, chunks[i].data.size()));
  const LogPiece piece = row.Piece();
  EXPECT_EQ(piece.task, kTask);
  EXPECT_EQ(piece.offset, 10U);
  EXPECT_EQ(piece.size, row.End() - row.Begin());
  EXPECT_EQ(ChunksOf(piece), Without(chunks));
}

TEST(OpenRow, AChunkAloneIsStoredAsAnyOther) {
  const LogChunk chunk = Chunk(3, "some words");
  const LogPiece piece = OpenRow(chunk, 5, 5).Piece();
  EXPECT_EQ(piece.codec, Codec::kRaw);
  EXPECT_EQ(piece.data, "words");
  EXPECT_EQ(ChunksOf(piece), Without({Chunk(8, "words")}));
}

TEST(OpenRow, TakesOnlyWhatFollows) {
  OpenRow row(Chunk(0, "abc"), 0, 3);
  EXPECT_FALSE(row.Add(Chunk(2, "c"), 0, 1));
  EXPECT_FALSE(row.Add(Chunk(4, "e"), 0, 1));
  EXPECT_TRUE(row.Add(Chunk(2, "cd"), 1, 1));
  EXPECT_EQ(row.End(), 4U);
}

TEST(OpenRow, IsFullAtSomeSize) {
  const std::string data(OpenRow::kMostInChunk, 'x');
  OpenRow row(Chunk(0, data), 0, data.size());
  EXPECT_FALSE(row.Small());
  while (row.Add(Chunk(row.End(), data), 0, data.size())) ASSERT_LT(row.End(), kMostInPiece);
  EXPECT_TRUE(ChunksOf(row.Piece()));
}

TEST(OpenRow, AByteCostsAtMostSevenWhateverItClaims) {
  std::mt19937_64 random(1);
  OpenRow row(Chunk(0, "x"), 0, 1);
  while (row.End() < 5'000) {
    LogChunk chunk = Chunk(row.End(), std::string(1, static_cast<char>(random())));
    chunk.stream = random() % 2 == 0 ? Stream::kStdout : Stream::kStderr;
    chunk.time = {static_cast<std::int64_t>(random() >> (random() % 2 == 0 ? 0 : 30))};
    ASSERT_TRUE(row.Add(chunk, 0, 1));
  }
  const LogPiece piece = row.Piece();
  EXPECT_LE(piece.data.size(), 7 * piece.size);
  const auto chunks = ChunksOf(piece);
  ASSERT_TRUE(chunks);
  EXPECT_EQ(chunks->size(), 5'000U);
}

TEST(OpenRow, DamageIsFound) {
  OpenRow row(Chunk(0, "abc"), 0, 3);
  ASSERT_TRUE(row.Add(Chunk(3, "de", Stream::kStderr, 6000), 0, 2));
  const LogPiece whole = row.Piece();
  ASSERT_EQ(whole.codec, Codec::kPacked);
  for (std::size_t size = 0; size < whole.data.size(); ++size) {
    LogPiece cut = whole;
    cut.data.resize(size);
    EXPECT_FALSE(ChunksOf(cut)) << size;
  }
  std::mt19937_64 random(2);
  for (int i = 0; i < 10'000; ++i) {
    LogPiece changed = whole;
    changed.data[random() % changed.data.size()] = static_cast<char>(random());
    const auto chunks = ChunksOf(changed);
    std::uint64_t bytes = 0;
    if (chunks)
      for (const auto& chunk : *chunks) bytes += chunk.data.size();
    EXPECT_TRUE(!chunks || bytes == whole.size);
  }
}

TEST(ChunksOf, RefusesFormsItDoesNotKnow) {
  // Of the compressed form, so that reading it as if it were known would succeed.
  LogPiece piece = PieceOf(Chunk(0, std::string(1'000, 'a')), 0, 1'000);
  ASSERT_EQ(piece.codec, Codec::kZstd);
  ASSERT_TRUE(ChunksOf(piece));
  for (const std::int64_t form : {4, 5, 255, -1}) {
    piece.codec = static_cast<Codec>(form);
    const auto chunks = ChunksOf(piece);
    ASSERT_FALSE(chunks) << form;
    EXPECT_EQ(chunks.error().code, ErrorCode::kInternal);
  }
}

TEST(ChunksOf, RefusesAPieceOfAnotherSizeThanItSays) {
  for (const auto& data : {std::string("abc"), std::string(1'000, 'a')}) {
    LogPiece piece = PieceOf(Chunk(0, data), 0, data.size());
    ++piece.size;
    EXPECT_FALSE(ChunksOf(piece)) << data.size();
  }
}

}  // namespace
}  // namespace muster::logs
