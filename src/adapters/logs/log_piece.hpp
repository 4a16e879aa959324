#pragma once

#include <cstdint>
#include <string>

#include "base/result.hpp"
#include "domain/log.hpp"

namespace muster::logs {

// No piece holds more bytes, so a reader knows how far before an offset one that covers it may
// begin.
constexpr std::size_t kMostInPiece = 256 << 10;

// How a piece's data is stored.
//   kRaw         one chunk, as it is
//   kZstd        one chunk, compressed
//   kPacked      several chunks (open_row.hpp)
//   kPackedZstd  the same, compressed
enum class Codec : std::int64_t { kRaw = 0, kZstd = 1, kPacked = 2, kPackedZstd = 3 };

// A chunk, a part of a large one, or several small ones, as it is stored; keyed (task, offset).
// Stream and time are the first one's.
struct LogPiece {
  TaskKey task;
  std::uint64_t offset = 0;
  Stream stream = Stream::kStdout;
  WallTime time;
  std::uint64_t size = 0;  // of the output it holds
  Codec codec = Codec::kRaw;
  std::string data;
};

// `size` bytes of the chunk from `at`, compressed where that pays.
LogPiece PieceOf(const LogChunk& chunk, std::size_t at, std::size_t size);

// The output that a piece of one chunk holds. kInternal: the store is damaged, or a newer server
// wrote the piece in a way that this one does not know.
Result<std::string> DataOf(const LogPiece& piece);

}  // namespace muster::logs
