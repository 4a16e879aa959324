#pragma once

#include "adapters/records/query.hpp"
#include "ports/store.hpp"

// Reads that are the same SQL for SQLite and PostgreSQL. What one of them does faster in its own
// way stands in its own folder: open runs, open logs, and many tasks by their keys.
namespace muster::records {

// For statements that join what they look for to the fence row, so that both are of one moment: the
// first column is the commit's number, the second null when nothing was found.
template <typename T, typename Decode>
Result<ReadAt<std::optional<T>>> ReadOneAt(Queries& queries, std::string_view sql,
                                           const Values& values, Decode decode) {
  std::optional<ReadAt<std::optional<T>>> found;
  auto read = queries.Each(sql, values, [&](const Row& row) -> Result<> {
    found.emplace(std::optional<T>(), CommitNumber(row.Id(0)));
    if (row.IsNull(1)) return {};
    Result<T> value = decode(row);
    if (!value) return Fail(value.error());
    found->value = std::move(*value);
    return {};
  });
  if (!read) return Fail(read.error());
  if (!found) return Fail(ErrorCode::kInternal, "the fence row is missing");
  return std::move(*found);
}

// A host's runs, the newest first, as rows `which`: each is one look into the index, where one
// plain query would sort all that the host ever ran. Wants the host, an id above, the host, and how
// many.
inline constexpr std::string_view kWalkRuns =
    "WITH RECURSIVE walk (which, place) AS (SELECT * FROM"
    " (SELECT run, 1 FROM task WHERE host = ? AND run < ? ORDER BY run DESC LIMIT 1) newest"
    " UNION ALL SELECT (SELECT t.run FROM task t WHERE t.host = ? AND t.run < w.which"
    " ORDER BY t.run DESC LIMIT 1), w.place + 1 FROM walk w"
    " WHERE w.which IS NOT NULL AND w.place < ?)";

Result<Fence> ReadFence(Queries& queries);
Result<std::string> ReadCluster(Queries& queries);

// What a new leader needs, except the open runs and open logs, which must be there already: the
// triggers of those runs are read.
Result<> ReadSnapshot(Queries& queries, Snapshot& snapshot);

Result<ReadAt<std::optional<Run>>> FindRun(Queries& queries, RunId id);
Result<std::shared_ptr<const Targets>> FindTargets(Queries& queries, RunId id);
Result<std::vector<StageVisit>> ListVisits(Queries& queries, RunId run, Visit after,
                                           std::size_t limit);
Result<std::vector<Run>> ListRuns(Queries& queries, const RunFilter& filter, RunId before,
                                  std::size_t limit);
Result<std::vector<TaskRecord>> ListTasks(Queries& queries, RunId run, const TaskFilter& filter,
                                          const std::optional<TaskKey>& after, std::size_t limit);
Result<ReadAt<std::optional<IdempotencyKey>>> FindKey(Queries& queries, std::string_view caller,
                                                      std::string_view key);

Result<ReadAt<std::optional<Secret>>> FindSecret(Queries& queries, std::string_view name);
Result<std::vector<Secret>> ListSecrets(Queries& queries);
Result<std::vector<Token>> ListTokens(Queries& queries);

Result<AuditPage> ListAudit(Queries& queries, const AuditFilter& filter, std::uint64_t before,
                            std::size_t limit);
Result<std::vector<HostId>> ListRemovedHosts(Queries& queries, std::string_view name,
                                             std::size_t limit);
Result<std::vector<AuditEntry>> ReadAudit(Queries& queries, std::uint64_t from, std::size_t limit);
Result<AuditHead> ReadAuditHead(Queries& queries);

Result<std::optional<Document>> FindDocument(Queries& queries, std::string_view kind,
                                             std::string_view name, std::uint32_t version);
Result<std::vector<DocumentHead>> ListDocumentHeads(Queries& queries, std::string_view kind,
                                                    std::string_view after, std::size_t limit);

Result<ReadAt<std::optional<Trigger>>> FindTrigger(Queries& queries, std::string_view name);
Result<std::vector<Trigger>> ListTriggers(Queries& queries, std::string_view after,
                                          std::size_t limit);
Result<ReadAt<std::vector<Trigger>>> DueTriggers(Queries& queries, const DueCursor& after,
                                                 std::int64_t until, std::size_t limit);
Result<std::vector<Trigger>> ListTriggersOf(Queries& queries,
                                            const std::vector<Snapshot::OpenRun>& runs);
Result<TriggerCounts> ReadTriggerCounts(Queries& queries);
Result<std::vector<SlotRecord>> ListSlots(Queries& queries, std::string_view trigger,
                                          const SlotFilter& filter,
                                          std::optional<SlotCursor> before, std::size_t limit);

Result<Expired> FindExpired(Queries& queries, const Cutoffs& cutoffs, std::size_t most);

}  // namespace muster::records
