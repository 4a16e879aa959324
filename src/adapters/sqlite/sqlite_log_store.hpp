#pragma once

#include <filesystem>
#include <memory>

#include "adapters/logs/day_log_store.hpp"

namespace muster {

// Keeps output in folder/logs/YYYY-MM-DD.db.
class SqliteLogStore final : public DayLogStore {
 public:
  // `clock` must outlive the store.
  static Result<std::unique_ptr<SqliteLogStore>> Open(const std::filesystem::path& folder,
                                                      const Clock& clock);

 private:
  SqliteLogStore(std::unique_ptr<logs::LogDays> days, const Clock& clock);
};

}  // namespace muster
