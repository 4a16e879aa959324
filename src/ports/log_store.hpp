#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/result.hpp"
#include "domain/log.hpp"

namespace muster {

// Keeps the output of tasks, apart from the records. Safe from any thread.
class LogStore {
 public:
  using Done = std::function<void(Result<>)>;
  using MarkDone = std::function<void(Result<LogMark>)>;
  virtual ~LogStore() = default;

  // Makes the chunks durable, then calls `done` (from any thread). Keyed (task, offset): writing
  // the same chunk twice, or chunks that overlap ones already there, is harmless. kUnavailable or
  // kTimeout: send them again.
  virtual void Append(std::vector<LogChunk> chunks, Done done) = 0;

  // How far a task's output is durable without a hole from 0.
  virtual Result<std::uint64_t> DurableEnd(const TaskKey& task) = 0;

  // Compares what is durable with what the node says: kComplete (kCut when bytes were dropped, kGap
  // when the node itself lost some) when every byte is there and the hashes agree. kConflict when
  // bytes are missing (DurableEnd says where to go on) or a hash differs (kGap is then the truth
  // about it, and the caller decides). Calls `done` after every Append handed in before it has
  // ended.
  virtual void Finish(const TaskKey& task, LogTotals totals, MarkDone done) = 0;

  // Chunks that overlap [from, from + limit), cut to it, in order, without overlap. At most `limit`
  // bytes of data and kMostChunksRead chunks: to get more, read on from the end of the last chunk
  // until there is none.
  static constexpr std::size_t kMostChunksRead = 16'384;
  virtual Result<std::vector<LogChunk>> Read(const TaskKey& task, std::uint64_t from,
                                             std::size_t limit) = 0;

  // Drops the output that came on UTC days that were over at `moment`, whole days at a time, and
  // calls `done` with the number of days dropped. Reads of it then find nothing.
  using DropDone = std::function<void(Result<std::size_t>)>;
  virtual void DropDays(WallTime moment, DropDone done) = 0;
};

}  // namespace muster
