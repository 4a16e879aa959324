#include "adapters/sqlite/record_reader.hpp"

#include "adapters/records/records.hpp"
#include "adapters/sqlite/audit_reader.hpp"
#include "adapters/sqlite/document_rows.hpp"
#include "adapters/sqlite/record_writer.hpp"
#include "adapters/sqlite/rows.hpp"
#include "adapters/sqlite/run_reader.hpp"
#include "adapters/sqlite/secret_rows.hpp"
#include "adapters/sqlite/trigger_rows.hpp"
#include "ports/clock_set_back.hpp"

namespace muster::sqlite {
namespace {

Result<std::uint64_t> Counter(Database& database, const char* name) {
  auto read = database.Prepare("SELECT value FROM meta WHERE name = ?");
  if (!read) return Fail(read.error());
  std::uint64_t value = 0;
  (*read)->Text(name);
  auto ended = EachRow(**read, [&](const Statement& row) -> Result<> {
    value = row.ColumnId(0);
    return {};
  });
  if (!ended) return Fail(ended.error());
  return value;
}

Result<> ReadRest(Database& database, Snapshot& snapshot) {
  auto hosts = ReadAll<Host>(database, "SELECT record FROM host ORDER BY id", [](const auto& row) {
    return records::DecodeHost(row.ColumnBytes(0));
  });
  if (!hosts) return Fail(hosts.error());
  snapshot.hosts = std::move(*hosts);
  auto invites =
      ReadAll<Invite>(database, "SELECT record FROM invite WHERE uses_left > 0 ORDER BY id",
                      [](const auto& row) { return records::DecodeInvite(row.ColumnBytes(0)); });
  if (!invites) return Fail(invites.error());
  snapshot.invites = std::move(*invites);
  auto tokens = ReadTokens(database);
  if (!tokens) return Fail(tokens.error());
  snapshot.tokens = std::move(*tokens);
  auto head = ReadAuditHead(database);
  if (!head) return Fail(head.error());
  snapshot.audit = std::move(*head);
  auto open_logs =
      ReadAll<TaskRecord>(database,
                          std::string(kSelectTask) +
                              " INDEXED BY task_open_log LEFT JOIN node ON node.id = t.node"
                              " WHERE t.log_state = 0 AND t.state >= 4"
                              " AND t.run NOT IN (SELECT id FROM run WHERE state < 4)"
                              " ORDER BY t.run, t.visit, t.ordinal, t.attempt",
                          TaskOf);
  if (!open_logs) return Fail(open_logs.error());
  snapshot.open_logs = std::move(*open_logs);
  auto wishes = ReadAll<OpenWish>(database,
                                  "SELECT run, visit, ordinal, host, attempt, record FROM wish"
                                  " ORDER BY run, visit, ordinal, host, attempt",
                                  WishOf);
  if (!wishes) return Fail(wishes.error());
  snapshot.wishes = std::move(*wishes);
  auto pending = ReadAll<PendingJoin>(
      database, "SELECT record FROM pending_join ORDER BY name",
      [](const auto& row) { return records::DecodePending(row.ColumnBytes(0)); });
  if (!pending) return Fail(pending.error());
  snapshot.pending = std::move(*pending);
  auto holds = ReadAll<KeyHold>(database,
                                "SELECT run, visit, ordinal, host, attempt, key FROM hold"
                                " ORDER BY run, visit, ordinal, host, attempt, key",
                                HoldOf);
  if (!holds) return Fail(holds.error());
  snapshot.holds = std::move(*holds);
  auto documents = ReadDocumentHeads(database);
  if (!documents) return Fail(documents.error());
  snapshot.documents = std::move(*documents);
  auto notices = ReadNotices(database);
  if (!notices) return Fail(notices.error());
  snapshot.notices = std::move(*notices);
  auto freezes =
      ReadAll<Freeze>(database, "SELECT record FROM freeze ORDER BY id",
                      [](const auto& row) { return records::DecodeFreeze(row.ColumnBytes(0)); });
  if (!freezes) return Fail(freezes.error());
  snapshot.freezes = std::move(*freezes);
  auto triggers = ReadTriggersOf(database, snapshot.runs);
  if (!triggers) return Fail(triggers.error());
  snapshot.triggers = std::move(*triggers);
  auto counts = ReadTriggerCounts(database);
  if (!counts) return Fail(counts.error());
  snapshot.trigger_counts = *counts;
  return {};
}

// The condition a filter puts on runs, with its parameters in order.
struct RunQuery {
  std::string sql;
  std::vector<std::int64_t> numbers;
};

RunQuery QueryOf(const RunFilter& filter, RunId before) {
  RunQuery query{"SELECT r.record FROM run r WHERE r.id < ?", {BeforeOf(before.value)}};
  if (filter.state) {
    query.sql += " AND r.state = ?";
    query.numbers.push_back(static_cast<std::int64_t>(*filter.state));
  }
  if (filter.since) {
    query.sql +=
        " AND r.created >= ? AND r.id > ifnull((SELECT id FROM run WHERE created < ?"
        " ORDER BY created DESC, id DESC LIMIT 1), 0)";
    query.numbers.insert(query.numbers.end(),
                         {filter.since.ms, (filter.since + -kClockSetBack).ms});
  }
  if (filter.until) {
    query.sql +=
        " AND r.created < ? AND r.id < ifnull((SELECT id FROM run WHERE created >= ?"
        " ORDER BY created, id LIMIT 1), 0x7fffffffffffffff)";
    query.numbers.insert(query.numbers.end(), {filter.until.ms, (filter.until + kClockSetBack).ms});
  }
  // "by" comes last, as it is the only text.
  if (!filter.by.empty()) query.sql += " AND r.by = ?";
  query.sql += " ORDER BY r.id DESC LIMIT ?";
  return query;
}

bool Matches(const Run& run, const RunFilter& filter) {
  return (!filter.state || run.state == *filter.state) &&
         (filter.by.empty() || run.by == filter.by) &&
         (!filter.since || run.created >= filter.since) &&
         (!filter.until || run.created < filter.until);
}

// A row of old carries its plan, which lists go without.
Run ListedRun(Run row) {
  row.spec.stages.clear();
  return row;
}

// Walks one host's runs from the newest, one look into the index each, and stops when it has
// enough: asking for them in one query would sort all the host ever ran.
Result<std::vector<Run>> ReadRunsOf(Database& database, HostId host, const RunFilter& filter,
                                    RunId before, std::size_t limit) {
  std::vector<Run> runs;
  std::int64_t below = BeforeOf(before.value);
  while (runs.size() < limit) {
    auto next = ReadOne<std::int64_t>(
        database,
        "SELECT run FROM task INDEXED BY task_host WHERE host = ? AND run < ?"
        " ORDER BY run DESC LIMIT 1",
        [&](Statement& statement) { statement.Id(host.value).Int(below); },
        [](const Statement& row) -> Result<std::int64_t> { return row.ColumnInt(0); });
    if (!next) return Fail(next.error());
    if (!*next) break;
    below = **next;
    auto run = ReadRunRow(database, RunId(static_cast<std::uint64_t>(below)));
    if (!run) return Fail(run.error());
    if (!*run) continue;
    if (filter.since && (*run)->created + kClockSetBack < filter.since) break;
    if (Matches(**run, filter)) runs.push_back(ListedRun(std::move(**run)));
  }
  return runs;
}

Result<std::optional<Snapshot::Restored>> ReadRestored(Database& database) {
  std::uint64_t taken = 0;
  std::uint64_t at = 0;
  std::uint64_t logs = 0;
  std::uint64_t number = 0;
  for (const auto& [name, place] :
       {std::pair("backup_taken", &taken), std::pair("restored", &at),
        std::pair("restored_logs", &logs), std::pair("restored_number", &number)}) {
    const auto value = Counter(database, name);
    if (!value) return Fail(value.error());
    *place = *value;
  }
  if (at == 0) return std::nullopt;
  return Snapshot::Restored{.taken = {static_cast<std::int64_t>(taken)},
                            .at = {static_cast<std::int64_t>(at)},
                            .logs = logs != 0,
                            .number = CommitNumber(number)};
}

}  // namespace

Result<std::vector<Token>> ReadTokens(Database& database) {
  return ReadAll<Token>(
      database,
      "SELECT name, hash, role, created_by, created, expires, revoked_by, revoked FROM token"
      " ORDER BY name",
      TokenOf);
}

Result<std::string> ReadCluster(Database& database) {
  auto cluster = ReadOne<std::string>(
      database, "SELECT value FROM meta WHERE name = 'cluster'", [](Statement&) {},
      [](const Statement& row) -> Result<std::string> { return row.ColumnText(0); });
  if (!cluster) return Fail(cluster.error());
  return cluster->value_or("");
}

Result<Snapshot> ReadSnapshot(Database& database) {
  Snapshot snapshot;
  auto fence = FenceOf(database);
  if (!fence) return Fail(fence.error());
  snapshot.fence = *fence;
  const std::pair<const char*, std::uint64_t*> counters[] = {{"id_space", &snapshot.id_space},
                                                             {"next_run", &snapshot.next_run},
                                                             {"next_host", &snapshot.next_host}};
  for (const auto& [name, place] : counters) {
    auto value = Counter(database, name);
    if (!value) return Fail(value.error());
    *place = *value;
  }
  auto cluster = ReadCluster(database);
  if (!cluster) return Fail(cluster.error());
  snapshot.cluster = std::move(*cluster);
  auto restored = ReadRestored(database);
  if (!restored) return Fail(restored.error());
  snapshot.restored = *restored;
  auto runs = ReadOpenRuns(database);
  if (!runs) return Fail(runs.error());
  snapshot.runs = std::move(*runs);
  if (auto read = ReadRest(database, snapshot); !read) return Fail(read.error());
  return snapshot;
}

Result<std::vector<Run>> ReadRuns(Database& database, const RunFilter& filter, RunId before,
                                  std::size_t limit) {
  if (filter.host) return ReadRunsOf(database, *filter.host, filter, before, limit);
  const RunQuery query = QueryOf(filter, before);
  auto statement = database.Prepare(query.sql);
  if (!statement) return Fail(statement.error());
  for (const auto number : query.numbers) (*statement)->Int(number);
  if (!filter.by.empty()) (*statement)->Text(filter.by);
  (*statement)->Int(LimitOf(limit));
  std::vector<Run> runs;
  auto ended = EachRow(**statement, [&](const Statement& row) -> Result<> {
    auto run = records::DecodeRun(row.ColumnBytes(0));
    if (!run) return Fail(run.error());
    runs.push_back(ListedRun(std::move(*run)));
    return {};
  });
  if (!ended) return Fail(ended.error());
  return runs;
}

Result<std::vector<TaskRecord>> ReadTasks(Database& database, RunId run, const TaskFilter& filter,
                                          const std::optional<TaskKey>& after, std::size_t limit) {
  std::string sql(kSelectTask);
  // The index on hosts keeps one host's tasks of a run in the same order as the table does.
  if (filter.host) sql += " INDEXED BY task_host";
  sql += " LEFT JOIN node ON node.id = t.node WHERE t.run = ?";
  std::vector<std::int64_t> numbers{static_cast<std::int64_t>(run.value)};
  if (filter.host) {
    sql += " AND t.host = ?";
    numbers.push_back(static_cast<std::int64_t>(filter.host->value));
  }
  if (after) {
    sql += " AND (t.visit, t.ordinal, t.attempt) > (?, ?, ?)";
    numbers.insert(numbers.end(), {after->visit.value, after->ordinal, after->attempt.value});
  }
  if (filter.state) {
    sql += " AND t.state = ?";
    numbers.push_back(static_cast<std::int64_t>(*filter.state));
  }
  if (filter.last_attempt_only)
    sql +=
        " AND NOT EXISTS (SELECT 1 FROM task later WHERE later.run = t.run"
        " AND later.visit = t.visit AND later.ordinal = t.ordinal AND later.attempt > t.attempt)";
  sql += " ORDER BY t.visit, t.ordinal, t.attempt LIMIT ?";
  numbers.push_back(LimitOf(limit));
  return ReadAll<TaskRecord>(database, sql, TaskOf, [&](Statement& statement) {
    for (const auto number : numbers) statement.Int(number);
  });
}

Result<std::vector<std::optional<TaskRecord>>> ReadTasks(Database& database,
                                                         const std::vector<TaskKey>& keys) {
  const std::string sql = std::string(kSelectTask) +
                          " LEFT JOIN node ON node.id = t.node WHERE t.run = ? AND t.visit = ?"
                          " AND t.ordinal = ? AND t.attempt = ? AND t.host = ?";
  std::vector<std::optional<TaskRecord>> rows;
  rows.reserve(keys.size());
  for (const auto& key : keys) {
    auto row = ReadOne<TaskRecord>(
        database, sql,
        [&](Statement& statement) {
          statement.Id(key.run.value).Int(key.visit.value).Int(key.ordinal);
          statement.Int(key.attempt.value).Id(key.host.value);
        },
        TaskOf);
    if (!row) return Fail(row.error());
    rows.push_back(std::move(*row));
  }
  return rows;
}

Result<std::optional<IdempotencyKey>> ReadKey(Database& database, std::string_view caller,
                                              std::string_view key) {
  return ReadOne<IdempotencyKey>(
      database,
      "SELECT caller, key, body_sha256, run, created FROM idempotency_key"
      " WHERE caller = ? AND key = ?",
      [&](Statement& statement) { statement.Text(caller).Text(key); }, KeyOf);
}

}  // namespace muster::sqlite
