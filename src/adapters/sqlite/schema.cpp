#include "adapters/sqlite/schema.hpp"

#include "adapters/crypto/digest.hpp"
#include "base/text.hpp"

namespace muster::sqlite {
namespace {

constexpr std::int64_t kRecordVersion = 1;
constexpr std::int64_t kLogVersion = 1;

// Rows of one run lie together. What changes often has no index; the two partial indexes hold only
// what is still to be done. task_host answers who ran what on a host.
constexpr const char* kRecordTables = R"(
  CREATE TABLE fence (id INTEGER PRIMARY KEY CHECK (id = 1), term INTEGER NOT NULL,
                      number INTEGER NOT NULL);
  INSERT INTO fence VALUES (1, 0, 0);
  CREATE TABLE meta (name TEXT PRIMARY KEY, value) WITHOUT ROWID;
  INSERT INTO meta VALUES ('id_space', 0), ('next_run', 1), ('next_host', 1), ('next_audit', 1);
  CREATE TABLE host (id INTEGER PRIMARY KEY, record BLOB NOT NULL);
  CREATE TABLE invite (id TEXT PRIMARY KEY, uses_left INTEGER NOT NULL,
                       record BLOB NOT NULL) WITHOUT ROWID;
  CREATE INDEX invite_open ON invite (id) WHERE uses_left > 0;
  CREATE TABLE run (id INTEGER PRIMARY KEY, state INTEGER NOT NULL, by TEXT NOT NULL,
                    created INTEGER NOT NULL, record BLOB NOT NULL);
  CREATE INDEX run_state ON run (state);
  CREATE INDEX run_by ON run (by);
  CREATE INDEX run_created ON run (created);
  CREATE TABLE targets (run INTEGER PRIMARY KEY, record BLOB NOT NULL);
  CREATE TABLE node (id INTEGER PRIMARY KEY, store TEXT NOT NULL, boot TEXT NOT NULL,
                     UNIQUE (store, boot));
  CREATE TABLE task (
    run INTEGER NOT NULL CHECK (run <> 0), visit INTEGER NOT NULL, ordinal INTEGER NOT NULL,
    attempt INTEGER NOT NULL, host INTEGER NOT NULL, state INTEGER NOT NULL,
    sent INTEGER NOT NULL, sent_commit INTEGER NOT NULL, sent_term INTEGER NOT NULL,
    ended INTEGER NOT NULL, ended_commit INTEGER NOT NULL, ended_term INTEGER NOT NULL,
    node INTEGER NOT NULL, log_state INTEGER NOT NULL, log_bytes INTEGER NOT NULL, rest BLOB,
    PRIMARY KEY (run, visit, ordinal, attempt)) WITHOUT ROWID;
  CREATE INDEX task_host ON task (host, run);
  CREATE INDEX task_open_log ON task (run) WHERE log_state = 0 AND state >= 4;
  CREATE TABLE idempotency_key (
    caller TEXT NOT NULL, key TEXT NOT NULL, body_sha256 BLOB NOT NULL, run INTEGER NOT NULL,
    created INTEGER NOT NULL, PRIMARY KEY (caller, key)) WITHOUT ROWID;
  CREATE INDEX idempotency_key_created ON idempotency_key (created);
  CREATE TABLE wish (
    run INTEGER NOT NULL, visit INTEGER NOT NULL, ordinal INTEGER NOT NULL, host INTEGER NOT NULL,
    attempt INTEGER NOT NULL, record BLOB NOT NULL,
    PRIMARY KEY (run, visit, ordinal, host, attempt)) WITHOUT ROWID;
  CREATE TABLE audit (number INTEGER PRIMARY KEY, at INTEGER NOT NULL, actor TEXT NOT NULL,
                      address TEXT NOT NULL, act TEXT NOT NULL, object TEXT NOT NULL,
                      detail TEXT NOT NULL);
  PRAGMA user_version = 1;
)";

constexpr const char* kLogTables = R"(
  CREATE TABLE chunk (
    run INTEGER NOT NULL, visit INTEGER NOT NULL, ordinal INTEGER NOT NULL, host INTEGER NOT NULL,
    attempt INTEGER NOT NULL, offset INTEGER NOT NULL, stream INTEGER NOT NULL,
    time INTEGER NOT NULL, size INTEGER NOT NULL, codec INTEGER NOT NULL, data BLOB NOT NULL,
    PRIMARY KEY (run, visit, ordinal, host, attempt, offset)) WITHOUT ROWID;
  PRAGMA user_version = 1;
)";

// Makes the tables when there are none, in one transaction, and refuses those of a newer version.
Result<> MakeTables(Database& database, std::int64_t version, const char* tables,
                    const std::string& rows) {
  if (auto begun = database.Execute("BEGIN IMMEDIATE"); !begun) return begun;
  auto found = database.AskInt("PRAGMA user_version");
  Result<> made;
  if (!found) made = Fail(found.error());
  if (found && *found > version)
    made = Fail(ErrorCode::kInvalid,
                "sqlite: the data was written by a newer musterd (schema {}, this one knows {}); "
                "start that version",
                *found, version);
  if (found && *found == 0) {
    made = database.Execute(tables);
    if (made && !rows.empty()) made = database.Execute(rows.c_str());
  }
  if (made) made = database.Execute("COMMIT");
  if (!made) database.Rollback();
  return made;
}

}  // namespace

Result<> MakeRecordTables(Database& database) {
  const std::string cluster = ToHex(crypto::RandomBytes(16));
  return MakeTables(database, kRecordVersion, kRecordTables,
                    fmt::format("INSERT INTO meta VALUES ('cluster', '{}')", cluster));
}

Result<> MakeLogTables(Database& database) {
  return MakeTables(database, kLogVersion, kLogTables, "");
}

}  // namespace muster::sqlite
