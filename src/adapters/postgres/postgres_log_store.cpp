#include "adapters/postgres/postgres_log_store.hpp"

#include "adapters/postgres/address.hpp"
#include "adapters/postgres/postgres_days.hpp"

namespace muster {

PostgresLogStore::PostgresLogStore(std::unique_ptr<logs::LogDays> days, const Clock& clock)
    : DayLogStore(std::move(days), clock) {}

Result<std::unique_ptr<PostgresLogStore>> PostgresLogStore::Open(PostgresOptions options,
                                                                 const Clock& clock) {
  if (auto read = postgres::ParametersOf(options, postgres::Purpose::kAppend); !read)
    return Fail(read.error());
  auto days = std::make_unique<postgres::PostgresDays>(std::move(options));
  return std::unique_ptr<PostgresLogStore>(new PostgresLogStore(std::move(days), clock));
}

}  // namespace muster
