#include "adapters/sqlite/schema.hpp"

#include <array>

#include "adapters/crypto/digest.hpp"
#include "adapters/sqlite/audit_reader.hpp"
#include "adapters/sqlite/migration.hpp"
#include "base/text.hpp"

namespace muster::sqlite {
namespace {

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
)";

// Named tokens, and an audit trail that is a chain and can be searched.
constexpr const char* kPeople = R"(
  CREATE TABLE token (name TEXT PRIMARY KEY, hash BLOB NOT NULL, role INTEGER NOT NULL,
                      created_by TEXT NOT NULL, created INTEGER NOT NULL, expires INTEGER NOT NULL,
                      revoked_by TEXT NOT NULL, revoked INTEGER NOT NULL) WITHOUT ROWID;
  ALTER TABLE audit ADD COLUMN client TEXT NOT NULL DEFAULT '';
  ALTER TABLE audit ADD COLUMN reason TEXT NOT NULL DEFAULT '';
  ALTER TABLE audit ADD COLUMN run INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE audit ADD COLUMN hosts INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE audit ADD COLUMN names TEXT NOT NULL DEFAULT '';
  ALTER TABLE audit ADD COLUMN command TEXT NOT NULL DEFAULT '';
  ALTER TABLE audit ADD COLUMN command_sha256 BLOB NOT NULL DEFAULT x'';
  ALTER TABLE audit ADD COLUMN previous BLOB NOT NULL DEFAULT x'';
  ALTER TABLE audit ADD COLUMN hash BLOB NOT NULL DEFAULT x'';
  CREATE INDEX audit_actor ON audit (actor);
  CREATE INDEX audit_act ON audit (act);
  CREATE INDEX audit_at ON audit (at);
  CREATE INDEX audit_run ON audit (run, act);
  CREATE TABLE audit_host (host INTEGER NOT NULL, number INTEGER NOT NULL,
                           PRIMARY KEY (host, number)) WITHOUT ROWID;
  CREATE INDEX audit_host_number ON audit_host (number);
)";

// A run's plan and visits apart from its row, which changes often; and who holds a place under a
// limit. Rows from before are `whole` until they are written again (old_runs.hpp).
constexpr const char* kFlow = R"(
  ALTER TABLE run ADD COLUMN whole INTEGER NOT NULL DEFAULT 1;
  CREATE TABLE plan (run INTEGER PRIMARY KEY, record BLOB NOT NULL);
  CREATE TABLE visit (run INTEGER NOT NULL, visit INTEGER NOT NULL, open INTEGER NOT NULL,
                      record BLOB NOT NULL, PRIMARY KEY (run, visit)) WITHOUT ROWID;
  CREATE INDEX visit_open ON visit (run) WHERE open = 1;
  CREATE TABLE hold (
    run INTEGER NOT NULL, visit INTEGER NOT NULL, ordinal INTEGER NOT NULL, host INTEGER NOT NULL,
    attempt INTEGER NOT NULL, key TEXT NOT NULL,
    PRIMARY KEY (run, visit, ordinal, host, attempt, key)) WITHOUT ROWID;
)";

// Documents that people apply: every version, and which is the latest.
constexpr const char* kDocuments = R"(
  CREATE TABLE document (kind TEXT NOT NULL, name TEXT NOT NULL, version INTEGER NOT NULL,
                         record BLOB NOT NULL, PRIMARY KEY (kind, name, version));
  CREATE TABLE document_head (kind TEXT NOT NULL, name TEXT NOT NULL, version INTEGER NOT NULL,
                              dropped INTEGER NOT NULL, record BLOB NOT NULL,
                              PRIMARY KEY (kind, name));
)";

// Sealed values, and messages that their channels have not taken yet.
constexpr const char* kSecrets = R"(
  CREATE TABLE secret (name TEXT PRIMARY KEY, record BLOB NOT NULL) WITHOUT ROWID;
  CREATE TABLE notice (run INTEGER NOT NULL, visit INTEGER NOT NULL, record BLOB NOT NULL,
                       PRIMARY KEY (run, visit)) WITHOUT ROWID;
)";

// Triggers and what became of their slots. `due` is an hour, so that most changes leave its index
// alone; `made` never changes, so growing a row leaves its index alone too.
constexpr const char* kTriggers = R"(
  CREATE TABLE trigger_row (name TEXT PRIMARY KEY, due INTEGER NOT NULL, dropped INTEGER NOT NULL,
                            record BLOB NOT NULL) WITHOUT ROWID;
  CREATE INDEX trigger_due ON trigger_row (due) WHERE due > 0;
  CREATE TABLE slot (
    trigger_name TEXT NOT NULL, first INTEGER NOT NULL, act INTEGER NOT NULL,
    last INTEGER NOT NULL, fate INTEGER NOT NULL, made INTEGER NOT NULL, record BLOB NOT NULL,
    PRIMARY KEY (trigger_name, first, act)) WITHOUT ROWID;
  CREATE INDEX slot_made ON slot (made);
)";

constexpr const char* kLogTables = R"(
  CREATE TABLE chunk (
    run INTEGER NOT NULL, visit INTEGER NOT NULL, ordinal INTEGER NOT NULL, host INTEGER NOT NULL,
    attempt INTEGER NOT NULL, offset INTEGER NOT NULL, stream INTEGER NOT NULL,
    time INTEGER NOT NULL, size INTEGER NOT NULL, codec INTEGER NOT NULL, data BLOB NOT NULL,
    PRIMARY KEY (run, visit, ordinal, host, attempt, offset)) WITHOUT ROWID;
)";

// Each brings the tables from one version to the next; only ever add at the end (migration.hpp).
constexpr std::array kRecordSteps = {
    kPeople,
    "CREATE TABLE pending_join (name TEXT PRIMARY KEY, record BLOB NOT NULL) WITHOUT ROWID",
    // Retention finds invites that are used up.
    "CREATE INDEX invite_used ON invite (id) WHERE uses_left = 0",
    kFlow,
    kDocuments,
    kSecrets,
    "CREATE TABLE freeze (id INTEGER PRIMARY KEY, record BLOB NOT NULL)",
    kTriggers,
    // Which hosts had a name before: their removals, by the name. `object` is "host NAME".
    "CREATE INDEX audit_removed ON audit (object) WHERE act = 'host.remove'",
};

}  // namespace

Result<> MakeRecordTables(Database& database) {
  const std::string cluster = ToHex(crypto::RandomBytes(16));
  auto made = BringUpToDate(
      database, {.first = kRecordTables,
                 .steps = kRecordSteps,
                 .rows = fmt::format("INSERT INTO meta VALUES ('cluster', '{}')", cluster),
                 .copy_before = true});
  if (!made) return made;
  return ChainOldAudit(database);
}

Result<> MakeLogTables(Database& database) {
  return BringUpToDate(database, {.first = kLogTables, .steps = {}, .rows = ""});
}

}  // namespace muster::sqlite
