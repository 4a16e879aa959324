#include "adapters/records/readers.hpp"
#include "adapters/records/records.hpp"
#include "adapters/records/row_values.hpp"

namespace muster::records {
namespace {

// Puts what was read in its place, or says why not.
template <typename T>
Result<> Fill(T& place, Result<T> read) {
  if (!read) return Fail(read.error());
  place = std::move(*read);
  return {};
}

// Of rows that begin with run, visit, ordinal, host, attempt.
TaskKey TaskKeyOf(const Row& row) {
  return {.run = RunId(row.Id(0)),
          .visit = Visit(static_cast<std::uint32_t>(row.Int(1))),
          .ordinal = static_cast<std::uint32_t>(row.Int(2)),
          .host = HostId(row.Id(3)),
          .attempt = Attempt(static_cast<std::uint32_t>(row.Int(4)))};
}

Result<OpenWish> WishOf(const Row& row) {
  auto wish = Decode<StopWish>(row.Bytes(5));
  if (!wish) return Fail(wish.error());
  return OpenWish{.task = TaskKeyOf(row), .wish = std::move(*wish)};
}

Result<KeyHold> HoldOf(const Row& row) {
  return KeyHold{.key = row.Text(5), .task = TaskKeyOf(row)};
}

// Also of deleted ones; without those of triggers.
Result<std::vector<DocumentHead>> ReadHeads(Queries& queries) {
  // Two ranges of the index, so that a million triggers between them are not even looked at.
  return ReadAll<DocumentHead>(
      queries,
      "SELECT record, dropped FROM (SELECT * FROM document_head WHERE kind < ?"
      " UNION ALL SELECT * FROM document_head WHERE kind > ?) h ORDER BY kind, name",
      Values().Word(kTriggerKind).Word(kTriggerKind), [](const Row& row) -> Result<DocumentHead> {
        auto head = Decode<DocumentHead>(row.Bytes(0));
        if (head) head->dropped = row.Int(1) != 0;
        return head;
      });
}

Result<> ReadMeta(Queries& queries, Snapshot& snapshot) {
  Snapshot::Restored restored{};
  auto read =
      queries.Each("SELECT name, number, bytes FROM meta", {}, [&](const Row& row) -> Result<> {
        const std::string_view name = row.Bytes(0);
        if (name == "id_space") snapshot.id_space = row.Id(1);
        if (name == "next_run") snapshot.next_run = row.Id(1);
        if (name == "next_host") snapshot.next_host = row.Id(1);
        if (name == "cluster") snapshot.cluster = row.Text(2);
        if (name == "backup_taken") restored.taken = {row.Int(1)};
        if (name == "restored") restored.at = {row.Int(1)};
        if (name == "restored_logs") restored.logs = row.Int(1) != 0;
        if (name == "restored_number") restored.number = CommitNumber(row.Id(1));
        return {};
      });
  if (restored.at) snapshot.restored = restored;
  return read;
}

template <typename T>
Result<> FillRecords(Queries& queries, std::string_view sql, std::vector<T>& place) {
  return Fill(place, ReadAll<T>(queries, sql, {}, RecordOf<T>));
}

}  // namespace

Result<Fence> ReadFence(Queries& queries) {
  auto fence = ReadOne<Fence>(queries, "SELECT term, number FROM fence", {},
                              [](const Row& row) -> Result<Fence> {
                                return Fence{Term(row.Id(0)), CommitNumber(row.Id(1))};
                              });
  if (!fence) return Fail(fence.error());
  if (!*fence) return Fail(ErrorCode::kInternal, "the fence row is missing");
  return **fence;
}

Result<std::string> ReadCluster(Queries& queries) {
  auto cluster =
      ReadOne<std::string>(queries, "SELECT bytes FROM meta WHERE name = 'cluster'", {},
                           [](const Row& row) -> Result<std::string> { return row.Text(0); });
  if (!cluster) return Fail(cluster.error());
  if (!*cluster) return Fail(ErrorCode::kInternal, "the cluster's id is missing");
  return **cluster;
}

Result<> ReadSnapshot(Queries& queries, Snapshot& snapshot) {
  auto read = Fill(snapshot.fence, ReadFence(queries));
  if (read) read = ReadMeta(queries, snapshot);
  if (read) read = FillRecords(queries, "SELECT record FROM host ORDER BY id", snapshot.hosts);
  if (read)
    read = FillRecords(queries, "SELECT record FROM invite WHERE uses_left > 0 ORDER BY id",
                       snapshot.invites);
  if (read)
    read = FillRecords(queries, "SELECT record FROM pending_join ORDER BY name", snapshot.pending);
  if (read)
    read = FillRecords(queries, "SELECT record FROM freeze_row ORDER BY id", snapshot.freezes);
  if (read)
    read = FillRecords(queries, "SELECT record FROM notice ORDER BY run, visit", snapshot.notices);
  if (read) read = Fill(snapshot.tokens, ListTokens(queries));
  if (read) read = Fill(snapshot.audit, ReadAuditHead(queries));
  if (read)
    read = Fill(snapshot.wishes,
                ReadAll<OpenWish>(queries,
                                  "SELECT run, visit, ordinal, host, attempt, record FROM wish"
                                  " ORDER BY run, visit, ordinal, host, attempt",
                                  {}, WishOf));
  if (read)
    read = Fill(snapshot.holds,
                ReadAll<KeyHold>(queries,
                                 "SELECT run, visit, ordinal, host, attempt, key FROM hold"
                                 " ORDER BY run, visit, ordinal, host, attempt, key",
                                 {}, HoldOf));
  if (read) read = Fill(snapshot.documents, ReadHeads(queries));
  if (read) read = Fill(snapshot.triggers, ListTriggersOf(queries, snapshot.runs));
  if (read) read = Fill(snapshot.trigger_counts, ReadTriggerCounts(queries));
  return read;
}

}  // namespace muster::records
