#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "base/mutex.hpp"
#include "ports/log_store.hpp"

namespace muster {

// Keeps output in memory, for tests and simulations: deterministic, and callbacks come before the
// call returns.
class MemoryLogStore final : public LogStore {
 public:
  void Append(std::vector<LogChunk> chunks, Done done) override;
  Result<std::uint64_t> DurableEnd(const TaskKey& task) override;
  void Finish(const TaskKey& task, LogTotals totals, MarkDone done) override;
  Result<std::vector<LogChunk>> Read(const TaskKey& task, std::uint64_t from,
                                     std::size_t limit) override;
  void DropDays(WallTime moment, DropDone done) override;  // has no clock: by the chunks' own time

  // What is kept now, as a backup would take it.
  std::shared_ptr<MemoryLogStore> Copy() EXCLUDES(mutex_);

 private:
  using Output =
      std::map<std::uint64_t, LogChunk>;  // by offset; the longest of those that share one

  std::vector<LogChunk> Cut(const TaskKey& task, std::uint64_t from, std::uint64_t until,
                            std::size_t most) const REQUIRES(mutex_);

  base::Mutex mutex_;
  std::unordered_map<TaskKey, Output> tasks_ GUARDED_BY(mutex_);
};

}  // namespace muster
