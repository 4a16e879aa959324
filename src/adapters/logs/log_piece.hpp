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
enum class Codec : std::int64_t { kRaw = 0, kZstd = 1 };

// A chunk, or a part of a large one, as it is stored; keyed (task, offset).
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

// The output it holds. kInternal: the store is damaged.
Result<std::string> DataOf(const LogPiece& piece);

}  // namespace muster::logs
