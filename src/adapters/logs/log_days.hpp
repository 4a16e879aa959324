#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "adapters/logs/log_piece.hpp"
#include "base/result.hpp"

namespace muster::logs {

// What a write found.
struct Written {
  std::vector<bool> added;  // for each piece: it, or more of it, was not there
  // Other servers dropped days since the last write: what is remembered of tasks may rest on what
  // is gone.
  bool dropped = false;
};

// Which pieces to read: those that hold something of [from, until).
struct PieceQuery {
  TaskKey task;
  std::uint64_t from = 0;
  std::uint64_t until = 0;
  bool with_data = true;
  std::size_t most = 256;  // of a day

  // Pieces that begin at or before this hold nothing from `from` on.
  std::int64_t After() const {
    return from < kMostInPiece ? -1 : static_cast<std::int64_t>(from - kMostInPiece);
  }
};

// What was read, by day and then by offset.
struct FoundPieces {
  std::vector<LogPiece> pieces;
  // Every byte before this that is durable is in one of the pieces: where to read on when a day has
  // more than was asked for, else the query's end.
  std::uint64_t until = 0;

  // After the pieces of a day, the first of which is at `first`.
  void EndDay(const PieceQuery& query, std::size_t first) {
    if (pieces.size() - first < query.most) return;
    until = std::min(until, pieces.back().offset + pieces.back().size);
  }
};

// Where a log store keeps its pieces: one place for each UTC day ("2026-11-16"), so that old output
// goes a day at a time. A task's output may span several.
class LogDays {
 public:
  virtual ~LogDays() = default;

  virtual std::string_view Name() const = 0;  // of the adapter, for messages

  // Makes the pieces durable in the day's place, all or none. Of two pieces that begin together the
  // longer one stays: no byte that came is ever lost. kUnavailable: nothing was written. kTimeout:
  // it may have been. For one thread.
  virtual Result<Written> Write(const std::string& day, const std::vector<LogPiece>& pieces) = 0;

  // Safe from any thread.
  virtual Result<FoundPieces> Read(const PieceQuery& query) = 0;

  // Drops the days before `day`; the number of them. For the thread that writes.
  virtual Result<std::size_t> DropBefore(const std::string& day) = 0;
};

// Chunks that overlap [from, from + limit), cut to it, in order, without overlap; at most
// LogStore::kMostChunksRead of them.
Result<std::vector<LogChunk>> ReadChunks(LogDays& days, const TaskKey& task, std::uint64_t from,
                                         std::size_t limit);
// Where the output stops being whole, from 0.
Result<std::uint64_t> DurableEndOf(LogDays& days, const TaskKey& task);

}  // namespace muster::logs
