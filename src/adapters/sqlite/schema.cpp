#include "adapters/sqlite/schema.hpp"

#include "adapters/crypto/digest.hpp"
#include "adapters/records/row_values.hpp"
#include "adapters/records/sql.hpp"
#include "adapters/sqlite/migration.hpp"
#include "base/text.hpp"

namespace muster::sqlite {
namespace {

// What only SQLite has: an index that holds the attempts that have ended and whose log is open.
std::string OpenLogIndex() {
  return fmt::format(
      "CREATE INDEX task_open_log ON task (run) WHERE log_state = {} AND state >= {};",
      records::kOpenLog, records::kFirstFinalTask);
}

// Rows that fresh tables have.
std::string FirstRows() {
  return fmt::format(
      "INSERT INTO fence VALUES (1, 0, 0);"
      "INSERT INTO meta VALUES ('id_space', 0, x''), ('next_run', 1, x''), ('next_host', 1, x''),"
      " ('next_audit', 1, x''), ('audit_hash', 0, x''), ('cluster', 0, CAST('{}' AS BLOB));",
      ToHex(crypto::RandomBytes(16)));
}

constexpr const char* kLogTables = R"(
  CREATE TABLE chunk (
    run INTEGER NOT NULL, visit INTEGER NOT NULL, ordinal INTEGER NOT NULL, host INTEGER NOT NULL,
    attempt INTEGER NOT NULL, offset INTEGER NOT NULL, stream INTEGER NOT NULL,
    time INTEGER NOT NULL, size INTEGER NOT NULL, codec INTEGER NOT NULL, data BLOB NOT NULL,
    PRIMARY KEY (run, visit, ordinal, host, attempt, offset)) WITHOUT ROWID;
)";

}  // namespace

Result<> MakeRecordTables(Database& database) {
  Schema schema{.first = records::CreateTables(records::Dialect::kSqlite, 1) + OpenLogIndex(),
                .steps = {},
                .rows = FirstRows(),
                .copy_before = true};
  for (std::uint32_t version = 2; version <= records::kSchemaVersion; ++version)
    schema.steps.push_back(records::CreateTables(records::Dialect::kSqlite, version));
  return BringUpToDate(database, schema);
}

Result<> MakeLogTables(Database& database) {
  return BringUpToDate(database, {.first = kLogTables, .steps = {}, .rows = ""});
}

}  // namespace muster::sqlite
