#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "adapters/logs/log_days.hpp"
#include "adapters/postgres/connection.hpp"
#include "adapters/postgres/options.hpp"
#include "adapters/postgres/reader_pool.hpp"
#include "base/mutex.hpp"

namespace muster::postgres {

// The days of a log store as tables, chunk_YYYYMMDD. Any number of servers write into them; the
// first that needs a day makes its table.
class PostgresDays final : public logs::LogDays {
 public:
  explicit PostgresDays(PostgresOptions options);

  std::string_view Name() const override { return "postgres"; }
  Result<logs::Written> Write(const std::string& day,
                              const std::vector<logs::LogPiece>& pieces) override;
  Result<logs::FoundPieces> Read(const logs::PieceQuery& query) override EXCLUDES(mutex_);
  Result<std::size_t> DropBefore(const std::string& day) override;

 private:
  // Runs of a day that is over, so that its table need not be asked about others.
  struct Runs {
    std::uint64_t first = UINT64_MAX;
    std::uint64_t last = 0;
  };

  Result<> Connect();
  Result<> MakeDay(const std::string& table);
  Result<logs::Written> Insert(const std::string& table, const std::vector<logs::LogPiece>& pieces);
  Result<std::size_t> DropTables(const std::string& first_kept);
  Result<bool> MayHave(Connection& connection, const std::string& table, RunId run)
      EXCLUDES(mutex_);

  const PostgresOptions options_;
  ReaderPool readers_;
  std::unique_ptr<Connection> connection_;  // the writing thread's
  std::string today_;                       // the table that is known to be there
  std::optional<std::uint64_t> drops_;      // as the last write found them
  base::Mutex mutex_;
  std::map<std::string, Runs> runs_ GUARDED_BY(mutex_);  // by table
};

}  // namespace muster::postgres
