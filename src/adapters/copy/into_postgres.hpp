#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "adapters/copy/tables.hpp"
#include "adapters/postgres/connection.hpp"
#include "adapters/sqlite/database.hpp"
#include "adapters/sqlite/restore_marks.hpp"
#include "base/result.hpp"

namespace muster::copy {

class TupleWriter;

// What became of one table.
struct Copied {
  std::string table;  // its name in SQLite; output: the day
  std::uint64_t rows = 0;
};

// Told now and then how many rows of a table were copied so far.
using Progress = std::function<void(std::string_view table, std::uint64_t rows)>;

// Fills a database with the records and output of SQLite files, as one transaction: whatever
// happens before Commit has answered, the database is as it was. Servers that start meanwhile wait.
// Use from one thread.
class Filling {
 public:
  enum class Over { kNothing, kRecords };  // what may be in the database and is then replaced

  // Makes the tables where there are none, and holds them. kConflict: a server leads on the
  // database (always refused), or it holds records (kNothing). kInvalid, kUnavailable as
  // postgres::Connection and postgres::Expand say.
  static Result<std::unique_ptr<Filling>> Begin(const PostgresOptions& to, Over over);

  // Where the records stand that are replaced; zeros when there are none.
  const sqlite::Marks& Before() const { return before_; }

  // Puts every row of a file of records, whose tables must be today's, and counts what has arrived.
  // Also takes away all output that was there. Once, and before any day.
  Result<std::vector<Copied>> PutRecords(sqlite::Database& from, const Progress& progress);
  // Puts one day's output, YYYY-MM-DD.
  Result<Copied> PutDay(const std::string& day, sqlite::Database& from, const Progress& progress);

  // kTimeout: it may have been done; a second try is refused as "holds records" if so.
  Result<> Commit();

 private:
  explicit Filling(std::unique_ptr<postgres::Connection> connection)
      : connection_(std::move(connection)) {}
  Result<> Hold(Over over);
  Result<> CheckNobodyLeads();
  Result<> ReadBefore();
  Result<> Empty();
  // Sends what `rows` writes into a table; how many rows arrived.
  using Rows = std::function<Result<>(TupleWriter& to, const std::function<Result<>()>& sent)>;
  Result<std::uint64_t> Send(const CopyTable& table, std::string_view name, const Rows& rows,
                             std::string_view shown, const Progress& progress);

  std::unique_ptr<postgres::Connection> connection_;
  sqlite::Marks before_;
  std::vector<std::string> days_;  // tables of output that were there
  std::int64_t term_ = 0;          // of the records that were put
  std::int64_t number_ = 0;
};

}  // namespace muster::copy
