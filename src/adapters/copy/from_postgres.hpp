#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "adapters/copy/into_postgres.hpp"
#include "adapters/postgres/connection.hpp"
#include "base/result.hpp"

namespace muster::copy {

// One moment of a database, to be taken into SQLite files while servers go on with it: all that is
// taken is of the same commit. Use from one thread.
class Moment {
 public:
  // With `output`, days that are there now are kept from retention until this is destroyed.
  // kNotFound: there are no records. kConflict: its tables are not of this release.
  static Result<std::unique_ptr<Moment>> Begin(const PostgresOptions& from, bool output);

  // Makes a file of records, which must not be there. It is not synced.
  Result<std::vector<Copied>> TakeRecords(const std::filesystem::path& file,
                                          const Progress& progress);
  // The days of output that there are, YYYY-MM-DD; and a file with one of them.
  const std::vector<std::string>& Days() const { return days_; }
  Result<Copied> TakeDay(const std::string& day, const std::filesystem::path& file,
                         const Progress& progress);

 private:
  explicit Moment(std::unique_ptr<postgres::Connection> connection)
      : connection_(std::move(connection)) {}
  Result<> Start(bool output);
  Result<std::uint64_t> Take(const CopyTable& table, std::string_view name, sqlite::Database& into,
                             std::string_view shown, const Progress& progress);

  std::unique_ptr<postgres::Connection> connection_;
  std::vector<std::string> days_;
};

}  // namespace muster::copy
