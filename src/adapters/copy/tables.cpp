#include "adapters/copy/tables.hpp"

#include "adapters/records/records.hpp"
#include "base/text.hpp"

namespace muster::copy {
namespace {

// SQLite's column says of what type each value is, PostgreSQL's are two.
constexpr std::string_view kReadMeta =
    "SELECT name, iif(typeof(value) = 'integer', value, 0),"
    " iif(typeof(value) = 'integer', x'', value) FROM meta";
constexpr std::string_view kWriteMeta =
    "INSERT INTO meta (name, value) VALUES (?1, CASE ?1 WHEN 'cluster' THEN CAST(?3 AS TEXT)"
    " WHEN 'audit_hash' THEN ?3 ELSE ?2 END)";

// Rows of before there were jobs are none of today's (old_runs.hpp); the copy adds them by hand.
constexpr std::string_view kReadRun =
    "SELECT id, state, by, created, record FROM run WHERE whole = 0";
constexpr std::string_view kWriteRun =
    "INSERT INTO run (id, state, by, created, record, whole) VALUES (?, ?, ?, ?, ?, 0)";

constexpr std::string_view kWriteVisit =
    "INSERT INTO visit (run, visit, record, open) VALUES (?, ?, ?, ?)";

Result<> BindOpen(std::span<const Cell> row, sqlite::Statement& statement) {
  const auto visit = records::DecodeVisit(row[2].bytes);
  if (!visit) return Fail(visit.error());
  statement.Int(IsFinal(visit->state) ? 0 : 1);
  return {};
}

constexpr CopyTable kRecords[] = {
    {"host", "host", "id record", "ib"},
    {"invite", "invite", "id uses_left record", "tib"},
    {"token", "token", "name hash role created_by created expires revoked_by revoked", "tbitiiti"},
    {"pending_join", "pending_join", "name record", "tb"},
    {"run", "run", "id state by created record", "iitib", kReadRun, kWriteRun},
    {"plan", "plan", "run record", "ib"},
    {"targets", "targets", "run record", "ib"},
    {"visit", "visit", "run visit record", "iib", {}, kWriteVisit, BindOpen},
    {"node", "node", "id store boot", "itt"},
    {"task", "task",
     "run visit ordinal attempt host state sent sent_commit sent_term ended ended_commit ended_term"
     " node log_state log_bytes rest",
     "iiiiiiiiiiiiiiin"},
    {"idempotency_key", "idempotency_key", "caller key body_sha256 run created", "ttbii"},
    {"wish", "wish", "run visit ordinal host attempt record", "iiiiib"},
    {"hold", "hold", "run visit ordinal host attempt key", "iiiiit"},
    {"audit", "audit",
     "number at actor address client act object detail reason run hosts names command"
     " command_sha256 previous hash",
     "iitttttttiittbbb"},
    {"audit_host", "audit_host", "host number", "ii"},
    {"document", "document", "kind name version record", "ttib"},
    {"document_head", "document_head", "kind name version dropped record", "ttiib"},
    {"secret", "secret", "name record", "tb"},
    {"notice", "notice", "run visit record", "iib"},
    {"freeze", "freeze_row", "id record", "ib"},
    {"trigger_row", "trigger_row", "name due dropped record", "tiib"},
    {"slot", "slot", "trigger_name first act last fate made record", "tiiiiib"},
    {"meta", "meta", "name number bytes", "tib", kReadMeta, kWriteMeta},
    {"fence", "fence", "id term number", "iii"},
};

constexpr std::string_view kReadDay =
    "SELECT run, visit, ordinal, host, attempt, offset, stream, time, size, codec, data FROM chunk";
constexpr std::string_view kWriteDay =
    "INSERT INTO chunk (run, visit, ordinal, host, attempt, offset, stream, time, size, codec,"
    " data) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
constexpr CopyTable kDay = {
    "chunk",       "",       "run visit ordinal host attempt start stream time size codec data",
    "iiiiiiiiiib", kReadDay, kWriteDay};

// Some names are words of SQL.
std::string Quoted(const CopyTable& table) {
  std::string list;
  for (const auto& column : ColumnsOf(table))
    list += fmt::format("{}\"{}\"", list.empty() ? "" : ", ", column);
  return list;
}

}  // namespace

std::span<const CopyTable> RecordTables() { return kRecords; }

const CopyTable& DayTable() { return kDay; }

std::vector<std::string> ColumnsOf(const CopyTable& table) {
  std::vector<std::string> columns;
  for (const auto& column : Split(table.columns, ' ')) columns.emplace_back(column);
  return columns;
}

std::string SqliteRead(const CopyTable& table) {
  if (!table.read.empty()) return std::string(table.read);
  return fmt::format("SELECT {} FROM {}", Quoted(table), table.sqlite);
}

std::string SqliteWrite(const CopyTable& table) {
  if (!table.write.empty()) return std::string(table.write);
  std::string values = "?";
  for (std::size_t i = 1; i < table.types.size(); ++i) values += ", ?";
  return fmt::format("INSERT INTO {} ({}) VALUES ({})", table.sqlite, Quoted(table), values);
}

std::string PostgresRead(const CopyTable& table, std::string_view name) {
  return fmt::format("COPY {} ({}) TO STDOUT (FORMAT binary)", name, Quoted(table));
}

std::string PostgresWrite(const CopyTable& table, std::string_view name) {
  return fmt::format("COPY {} ({}) FROM STDIN (FORMAT binary)", name, Quoted(table));
}

}  // namespace muster::copy
