#pragma once

#include <memory>

#include "adapters/logs/day_log_store.hpp"
#include "adapters/postgres/options.hpp"

namespace muster {

// Keeps output in a PostgreSQL database, one table a day. Several servers may write the output of
// one task, as its agent moves between them.
class PostgresLogStore final : public DayLogStore {
 public:
  // Does not connect yet; it makes its tables when it needs them. `clock` must outlive the store.
  // kInvalid: the address cannot be read.
  static Result<std::unique_ptr<PostgresLogStore>> Open(PostgresOptions options,
                                                        const Clock& clock);

 private:
  PostgresLogStore(std::unique_ptr<logs::LogDays> days, const Clock& clock);
};

}  // namespace muster
