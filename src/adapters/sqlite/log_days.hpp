#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "adapters/sqlite/database.hpp"
#include "base/mutex.hpp"
#include "domain/log.hpp"

namespace muster::sqlite {

// No stored chunk is longer, so a reader knows how far before an offset one that covers it may
// begin.
constexpr std::size_t kMostInChunk = 256 << 10;

// How a chunk's data is stored.
enum class ChunkCodec : std::int64_t { kRaw = 0, kZstd = 1 };

// Reads the day files of a log store: one SQLite file a day, of which a task's output may span
// several. Remembers which runs each file has, so that a read opens only those that matter, and
// keeps a few of them open. Safe from any thread.
class LogDays {
 public:
  explicit LogDays(std::filesystem::path folder) : folder_(std::move(folder)) {}

  // Finds the files that are there.
  Result<> List() EXCLUDES(mutex_);
  std::filesystem::path FileOf(const std::string& day) const { return folder_ / (day + ".db"); }

  // Tells of a day that is being written, and of runs whose output is durable in it: told before
  // the commit, a look between the two would not find the run and remember that.
  void Add(const std::string& day) EXCLUDES(mutex_);
  void Saw(const std::string& day, RunId run) EXCLUDES(mutex_);

  // Forgets the days before `day` and removes their files; the number of them.
  Result<std::size_t> DropBefore(const std::string& day) EXCLUDES(mutex_);

  // Chunks that overlap [from, from + limit), cut to it, in order, without overlap.
  Result<std::vector<LogChunk>> Read(const TaskKey& task, std::uint64_t from, std::size_t limit)
      EXCLUDES(mutex_);
  // Where the output stops being whole, from 0.
  Result<std::uint64_t> DurableEnd(const TaskKey& task) EXCLUDES(mutex_);

 private:
  struct Runs {
    std::uint64_t first = UINT64_MAX;
    std::uint64_t last = 0;
  };
  struct Day {
    std::string name;
    std::optional<Runs> runs;  // not looked up yet
    std::unique_ptr<Database> reader;
    std::uint64_t used = 0;
  };
  struct Row {
    LogChunk chunk;
    std::uint64_t size = 0;
    ChunkCodec codec = ChunkCodec::kRaw;
    std::size_t came = 0;  // of chunks that begin together the oldest file's counts
  };

  Result<std::vector<Row>> Rows(const TaskKey& task, std::uint64_t from, std::uint64_t until,
                                bool with_data) EXCLUDES(mutex_);
  Result<> RowsOf(Day& day, const TaskKey& task, std::uint64_t from, std::uint64_t until,
                  bool with_data, std::vector<Row>& rows) REQUIRES(mutex_);
  Result<Database*> ReaderOf(Day& day) REQUIRES(mutex_);
  Result<bool> MayHave(Day& day, RunId run) REQUIRES(mutex_);
  Day* Find(const std::string& name) REQUIRES(mutex_);

  const std::filesystem::path folder_;
  base::Mutex mutex_;
  std::vector<Day> days_ GUARDED_BY(mutex_);  // oldest first
  std::uint64_t uses_ GUARDED_BY(mutex_) = 0;
};

}  // namespace muster::sqlite
