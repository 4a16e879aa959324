#include "server/gateway/join_neighbours.hpp"

#include <gtest/gtest.h>

namespace muster::server {
namespace {

LogChunk JoinPiece(std::uint64_t offset, std::string data, std::int64_t time = 1,
                   Stream stream = Stream::kStdout, std::uint64_t run = 1) {
  const TaskKey task{RunId(run), Visit(1), 0, HostId(7), Attempt(1)};
  return {.task = task, .offset = offset, .stream = stream, .time = {time}, .data = data};
}

TEST(JoinNeighbours, MakesOneOfWhatBelongsTogether) {
  std::vector<LogChunk> chunks{JoinPiece(0, "a"), JoinPiece(1, "b"), JoinPiece(2, ""),
                               JoinPiece(2, "cd")};
  JoinNeighbours(chunks);
  EXPECT_EQ(chunks, std::vector{JoinPiece(0, "abcd")});
}

TEST(JoinNeighbours, LeavesWhatDiffersApart) {
  const std::vector<LogChunk> chunks{
      JoinPiece(0, "a"),
      JoinPiece(1, "b", 2),
      JoinPiece(2, "c", 2, Stream::kStderr),
      JoinPiece(4, "e", 2, Stream::kStderr),
      JoinPiece(5, "f", 2, Stream::kStderr, 2),
      JoinPiece(6, std::string(64 << 10, 'g'), 2, Stream::kStderr, 2)};
  auto joined = chunks;
  JoinNeighbours(joined);
  EXPECT_EQ(joined, chunks);
  joined.clear();
  JoinNeighbours(joined);
  EXPECT_TRUE(joined.empty());
}

TEST(JoinNeighbours, GoesOnBehindWhatStandsAlone) {
  std::vector<LogChunk> chunks{JoinPiece(0, "a"), JoinPiece(1, "b", 2), JoinPiece(2, "c", 2),
                               JoinPiece(3, "d", 3), JoinPiece(4, "e", 3)};
  JoinNeighbours(chunks);
  EXPECT_EQ(chunks, (std::vector{JoinPiece(0, "a"), JoinPiece(1, "bc", 2), JoinPiece(3, "de", 3)}));
}

}  // namespace
}  // namespace muster::server
