#include "adapters/postgres/snapshot_reader.hpp"

#include "adapters/postgres/audit_reader.hpp"
#include "adapters/postgres/document_rows.hpp"
#include "adapters/postgres/rows.hpp"
#include "adapters/postgres/run_reader.hpp"
#include "adapters/postgres/task_reader.hpp"
#include "adapters/postgres/trigger_rows.hpp"
#include "adapters/records/records.hpp"

namespace muster::postgres {
namespace {

// Puts what was read in its place, or says why not.
template <typename T>
Result<> Fill(T& place, Result<T> read) {
  if (!read) return Fail(read.error());
  place = std::move(*read);
  return {};
}

template <typename T, typename Decode>
Result<std::vector<T>> Records(Connection& connection, std::string_view sql, Decode decode) {
  return ReadAll<T>(connection, sql, {},
                    [&](const Row& row) -> Result<T> { return decode(row.Bytes(0)); });
}

Result<> ReadMeta(Connection& connection, Snapshot& snapshot) {
  auto rows = connection.Ask("SELECT name, number, bytes FROM meta");
  if (!rows) return Fail(rows.error());
  Snapshot::Restored restored{};
  for (int i = 0; i < rows->Count(); ++i) {
    const Row row = rows->At(i);
    const std::string_view name = row.Bytes(0);
    if (name == "id_space") snapshot.id_space = row.Id(1);
    if (name == "next_run") snapshot.next_run = row.Id(1);
    if (name == "next_host") snapshot.next_host = row.Id(1);
    if (name == "cluster") snapshot.cluster = row.Text(2);
    if (name == "backup_taken") restored.taken = {row.Int(1)};
    if (name == "restored") restored.at = {row.Int(1)};
    if (name == "restored_logs") restored.logs = row.Int(1) != 0;
    if (name == "restored_number") restored.number = CommitNumber(row.Id(1));
  }
  if (restored.at) snapshot.restored = restored;
  return {};
}

Result<> ReadPeople(Connection& connection, Snapshot& snapshot) {
  auto read = Fill(snapshot.hosts, Records<Host>(connection, "SELECT record FROM host ORDER BY id",
                                                 records::DecodeHost));
  if (read)
    read = Fill(
        snapshot.invites,
        Records<Invite>(connection, "SELECT record FROM invite WHERE uses_left > 0 ORDER BY id",
                        records::DecodeInvite));
  if (read) read = Fill(snapshot.tokens, ReadTokens(connection));
  if (read) read = Fill(snapshot.audit, ReadAuditHead(connection));
  if (read)
    read = Fill(snapshot.pending,
                Records<PendingJoin>(connection, "SELECT record FROM pending_join ORDER BY name",
                                     records::DecodePending));
  return read;
}

Result<> ReadWork(Connection& connection, Snapshot& snapshot) {
  auto read = Fill(snapshot.runs, ReadOpenRuns(connection));
  if (read) read = Fill(snapshot.open_logs, ReadOpenLogs(connection));
  if (read)
    read = Fill(snapshot.wishes,
                ReadAll<OpenWish>(connection,
                                  "SELECT run, visit, ordinal, host, attempt, record FROM wish"
                                  " ORDER BY run, visit, ordinal, host, attempt",
                                  {}, WishOf));
  if (read)
    read = Fill(snapshot.holds,
                ReadAll<KeyHold>(connection,
                                 "SELECT run, visit, ordinal, host, attempt, key FROM hold"
                                 " ORDER BY run, visit, ordinal, host, attempt, key",
                                 {}, HoldOf));
  if (read) read = Fill(snapshot.notices, ReadNotices(connection));
  return read;
}

Result<> ReadRules(Connection& connection, Snapshot& snapshot) {
  auto read = Fill(snapshot.documents, ReadDocumentHeads(connection));
  if (read)
    read = Fill(snapshot.freezes,
                Records<Freeze>(connection, "SELECT record FROM freeze_row ORDER BY id",
                                records::DecodeFreeze));
  if (read) read = Fill(snapshot.triggers, ReadTriggersOf(connection, snapshot.runs));
  if (read) read = Fill(snapshot.trigger_counts, ReadTriggerCounts(connection));
  return read;
}

}  // namespace

Result<std::vector<Token>> ReadTokens(Connection& connection) {
  return ReadAll<Token>(connection,
                        "SELECT name, hash, role, created_by, created, expires, revoked_by, revoked"
                        " FROM token ORDER BY name",
                        {}, TokenOf);
}

Result<std::string> ReadCluster(Connection& connection) {
  auto cluster =
      ReadOne<std::string>(connection, "SELECT bytes FROM meta WHERE name = 'cluster'", {},
                           [](const Row& row) -> Result<std::string> { return row.Text(0); });
  if (!cluster) return Fail(cluster.error());
  if (!*cluster) return Fail(ErrorCode::kInternal, "the cluster's id is missing");
  return **cluster;
}

Result<Fence> ReadFence(Connection& connection) {
  auto fence = ReadOne<Fence>(connection, "SELECT term, number FROM fence", {},
                              [](const Row& row) -> Result<Fence> {
                                return Fence{Term(row.Id(0)), CommitNumber(row.Id(1))};
                              });
  if (!fence) return Fail(fence.error());
  if (!*fence) return Fail(ErrorCode::kInternal, "the fence row is missing");
  return **fence;
}

Result<Snapshot> ReadSnapshot(Connection& connection, Term term) {
  Snapshot snapshot;
  auto read = Fill(snapshot.fence, ReadFence(connection));
  if (read && snapshot.fence.term != term)
    return Fail(ErrorCode::kFenced, "term {} holds the store, not {}", snapshot.fence.term.value,
                term.value);
  if (read) read = ReadMeta(connection, snapshot);
  if (read) read = ReadPeople(connection, snapshot);
  if (read) read = ReadWork(connection, snapshot);
  if (read) read = ReadRules(connection, snapshot);
  if (!read) return Fail(read.error());
  return snapshot;
}

}  // namespace muster::postgres
