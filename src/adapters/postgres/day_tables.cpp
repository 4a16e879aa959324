#include "adapters/postgres/day_tables.hpp"

#include "adapters/postgres/rows.hpp"

namespace muster::postgres {
namespace {

constexpr std::string_view kPrefix = "chunk_";

// Data is compressed already. Days that were dropped are counted, so that servers hear of it.
constexpr const char* kMakeTables = R"(
  CREATE TABLE IF NOT EXISTS log_drops (id bigint PRIMARY KEY CHECK (id = 1),
                                        dropped bigint NOT NULL);
  INSERT INTO log_drops VALUES (1, 0) ON CONFLICT DO NOTHING;
  CREATE TABLE IF NOT EXISTS {0} (
    run bigint NOT NULL, visit bigint NOT NULL, ordinal bigint NOT NULL, host bigint NOT NULL,
    attempt bigint NOT NULL, start bigint NOT NULL, stream bigint NOT NULL, time bigint NOT NULL,
    size bigint NOT NULL, codec bigint NOT NULL, data bytea NOT NULL,
    PRIMARY KEY (run, visit, ordinal, host, attempt, start));
  ALTER TABLE {0} ALTER COLUMN data SET STORAGE EXTERNAL)";

}  // namespace

std::string DayTable(const std::string& day) {
  std::string name(kPrefix);
  for (const char c : day)
    if (c >= '0' && c <= '9') name.push_back(c);
  return name;
}

std::string DayOf(const std::string& table) {
  std::string day = table.substr(kPrefix.size());
  if (day.size() == 8) day.insert(6, "-").insert(4, "-");
  return day;
}

std::string MakeDayTable(const std::string& table) { return fmt::format(kMakeTables, table); }

Result<std::vector<std::string>> ListDayTables(Connection& connection) {
  return ReadAll<std::string>(
      connection,
      "SELECT convert_to(relname::text, 'UTF8') FROM pg_class"
      " WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r'"
      " AND relname ~ '^chunk_[0-9]+$' ORDER BY relname",
      {}, [](const Row& row) -> Result<std::string> { return row.Text(0); });
}

}  // namespace muster::postgres
