#include "adapters/sqlite/sqlite_log_store.hpp"

#include "adapters/sqlite/sqlite_days.hpp"

namespace muster {

SqliteLogStore::SqliteLogStore(std::unique_ptr<logs::LogDays> days, const Clock& clock)
    : DayLogStore(std::move(days), clock) {}

Result<std::unique_ptr<SqliteLogStore>> SqliteLogStore::Open(const std::filesystem::path& folder,
                                                             const Clock& clock) {
  auto days = std::make_unique<sqlite::SqliteDays>(folder / "logs");
  if (auto listed = days->List(); !listed) return Fail(listed.error());
  return std::unique_ptr<SqliteLogStore>(new SqliteLogStore(std::move(days), clock));
}

}  // namespace muster
