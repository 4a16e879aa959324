#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "adapters/logs/log_piece.hpp"
#include "base/result.hpp"
#include "domain/log.hpp"

namespace muster::logs {

// Small chunks of a task that follow each other, packed into one piece. A row costs a store some
// forty bytes whatever it holds, so a host that cuts its output to single bytes would else take
// forty times what its task may have. Packed, a chunk of up to 63 bytes costs at most six bytes
// more than its data, a longer one at most eight:
//
//   1 byte    bit 0: stderr; bit 1: its time is another than that of the chunk before it;
//             the other six: its size less one, 63 when the size follows
//   varint    its size less one, if it follows
//   varint    how many milliseconds later it is, in zigzag, if its time is another
//   bytes     its data
//
// The first chunk's time is that of the piece. A step in time of more than half a year is shortened
// to that.
class OpenRow {
 public:
  // A larger chunk is a piece of its own.
  static constexpr std::size_t kMostInChunk = 4 << 10;
  // A row this small is written again, longer, when the next chunk comes.
  static constexpr std::size_t kSmall = 512;

  // Begins with `size` bytes of a chunk from `at`; at least one and at most kMostInChunk.
  OpenRow(const LogChunk& chunk, std::size_t at, std::size_t size);

  std::uint64_t Begin() const { return offset_; }
  std::uint64_t End() const { return offset_ + size_; }

  // False, and nothing changed: the chunk does not begin where this ends, or the row is full.
  bool Add(const LogChunk& chunk, std::size_t at, std::size_t size);

  bool Small() const { return packed_.size() < kSmall; }

  // As it is stored: a chunk alone is stored as any other.
  LogPiece Piece() const;

 private:
  void Put(const LogChunk& chunk, std::size_t at, std::size_t size);

  TaskKey task_;
  std::uint64_t offset_ = 0;
  std::uint64_t size_ = 0;  // of the output it holds
  Stream stream_ = Stream::kStdout;
  WallTime time_;
  WallTime last_time_;
  std::size_t chunks_ = 0;
  std::string packed_;
};

// The chunks that a piece holds, in order, without their task. kInternal: the store is damaged.
Result<std::vector<LogChunk>> ChunksOf(const LogPiece& piece);

}  // namespace muster::logs
