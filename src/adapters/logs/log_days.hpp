#pragma once

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

  // Pieces of a task that begin after `after` and before `until`, by day and then by offset;
  // without their data unless it is asked for. Safe from any thread.
  virtual Result<std::vector<LogPiece>> Read(const TaskKey& task, std::int64_t after,
                                             std::uint64_t until, bool with_data) = 0;

  // Drops the days before `day`; the number of them. For the thread that writes.
  virtual Result<std::size_t> DropBefore(const std::string& day) = 0;
};

// Chunks that overlap [from, from + limit), cut to it, in order, without overlap.
Result<std::vector<LogChunk>> ReadChunks(LogDays& days, const TaskKey& task, std::uint64_t from,
                                         std::size_t limit);
// Where the output stops being whole, from 0.
Result<std::uint64_t> DurableEndOf(LogDays& days, const TaskKey& task);

}  // namespace muster::logs
