#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "adapters/logs/log_days.hpp"
#include "adapters/sqlite/database.hpp"
#include "base/mutex.hpp"
#include "domain/ids.hpp"

namespace muster::sqlite {

class Checkpointer;

// The days of a log store as SQLite files, folder/YYYY-MM-DD.db. Remembers which runs each file
// has, so that a read opens only those that matter, and keeps a few of them open.
class SqliteDays final : public logs::LogDays {
 public:
  explicit SqliteDays(std::filesystem::path folder);
  ~SqliteDays() override;

  // Finds the files that are there; before anything else.
  Result<> List() EXCLUDES(mutex_);

  std::string_view Name() const override { return "sqlite"; }
  Result<logs::Written> Write(const std::string& day,
                              const std::vector<logs::LogPiece>& pieces) override EXCLUDES(mutex_);
  Result<logs::FoundPieces> Read(const logs::PieceQuery& query) override EXCLUDES(mutex_);
  Result<std::size_t> DropBefore(const std::string& day) override EXCLUDES(mutex_);

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
  // The writing thread's own.
  Result<> OpenToday(const std::string& day);
  void CloseToday();
  Result<bool> WritePiece(const logs::LogPiece& piece);  // false: it was there already

  std::filesystem::path FileOf(const std::string& day) const { return folder_ / (day + ".db"); }
  void Add(const std::string& day) EXCLUDES(mutex_);
  // Told once they are durable: told before, a look between the two would not find the run and
  // remember that.
  void Saw(const std::string& day, const std::vector<logs::LogPiece>& pieces) EXCLUDES(mutex_);
  Result<> ReadDay(Day& day, const logs::PieceQuery& query, logs::FoundPieces& found)
      REQUIRES(mutex_);
  Result<Database*> ReaderOf(Day& day) REQUIRES(mutex_);
  Result<bool> MayHave(Day& day, RunId run) REQUIRES(mutex_);
  Day* Find(const std::string& name) REQUIRES(mutex_);

  const std::filesystem::path folder_;
  std::string today_;
  std::unique_ptr<Checkpointer> checkpointer_;
  std::unique_ptr<Database> database_;
  Statement* put_chunk_ = nullptr;

  base::Mutex mutex_;
  std::vector<Day> days_ GUARDED_BY(mutex_);  // oldest first
  std::uint64_t uses_ GUARDED_BY(mutex_) = 0;
};

}  // namespace muster::sqlite
