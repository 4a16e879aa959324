#include "adapters/records/record_store.hpp"

#include "adapters/records/readers.hpp"

namespace muster::records {

template <typename T, typename Ask>
Result<T> RecordStore::Answer(const char* what, Moment moment, Ask ask) {
  std::optional<T> answer;
  auto read = Read(what, moment, [&](Queries& queries) -> Result<> {
    Result<T> value = ask(queries);
    if (!value) return Fail(value.error());
    answer.emplace(std::move(*value));
    return {};
  });
  if (!read) return Fail(read.error());
  return std::move(*answer);
}

template <typename T, typename Ask>
Result<ReadAt<T>> RecordStore::AnswerAt(const char* what, Ask ask) {
  return Answer<ReadAt<T>>(what, Moment::kOfAll, [&](Queries& queries) -> Result<ReadAt<T>> {
    auto fence = records::ReadFence(queries);
    if (!fence) return Fail(fence.error());
    Result<T> value = ask(queries);
    if (!value) return Fail(value.error());
    return ReadAt<T>{.value = std::move(*value), .commit = fence->number};
  });
}

Result<Snapshot> RecordStore::Load(Term term) {
  return Answer<Snapshot>("load", Moment::kOfAll, [&](Queries& queries) -> Result<Snapshot> {
    auto fence = records::ReadFence(queries);
    if (!fence) return Fail(fence.error());
    if (fence->term != term)
      return Fail(ErrorCode::kFenced, "{}: load: term {} holds the store, not {}", name_,
                  fence->term.value, term.value);
    Snapshot snapshot;
    auto runs = ReadOpenRuns(queries);
    if (!runs) return Fail(runs.error());
    snapshot.runs = std::move(*runs);
    auto open_logs = ReadOpenLogs(queries);
    if (!open_logs) return Fail(open_logs.error());
    snapshot.open_logs = std::move(*open_logs);
    if (auto read = ReadSnapshot(queries, snapshot); !read) return Fail(read.error());
    return snapshot;
  });
}

Result<std::string> RecordStore::ReadCluster() {
  return Answer<std::string>("read cluster", Moment::kOfEach, records::ReadCluster);
}

Result<Fence> RecordStore::ReadFence() {
  return Answer<Fence>("read fence", Moment::kOfEach, records::ReadFence);
}

Result<ReadAt<std::optional<Run>>> RecordStore::FindRun(RunId id) {
  return Answer<ReadAt<std::optional<Run>>>(
      "find run", Moment::kOfEach, [&](Queries& queries) { return records::FindRun(queries, id); });
}

Result<ReadAt<std::optional<Snapshot::OpenRun>>> RecordStore::ReadWholeRun(RunId id) {
  return AnswerAt<std::optional<Snapshot::OpenRun>>(
      "read whole run", [&](Queries& queries) { return ReadWhole(queries, id); });
}

Result<std::vector<StageVisit>> RecordStore::ListVisits(RunId run, Visit after, std::size_t limit) {
  return Answer<std::vector<StageVisit>>("list visits", Moment::kOfEach, [&](Queries& queries) {
    return records::ListVisits(queries, run, after, limit);
  });
}

Result<std::shared_ptr<const Targets>> RecordStore::FindTargets(RunId id) {
  return Answer<std::shared_ptr<const Targets>>(
      "find targets", Moment::kOfEach,
      [&](Queries& queries) { return records::FindTargets(queries, id); });
}

Result<std::vector<Run>> RecordStore::ListRuns(const RunFilter& filter, RunId before,
                                               std::size_t limit) {
  // Those of one host are walked, with several statements.
  return Answer<std::vector<Run>>(
      "list runs", filter.host ? Moment::kOfAll : Moment::kOfEach,
      [&](Queries& queries) { return records::ListRuns(queries, filter, before, limit); });
}

Result<std::vector<TaskRecord>> RecordStore::ListTasks(RunId run, const TaskFilter& filter,
                                                       std::optional<TaskKey> after,
                                                       std::size_t limit) {
  return Answer<std::vector<TaskRecord>>("list tasks", Moment::kOfEach, [&](Queries& queries) {
    return records::ListTasks(queries, run, filter, after, limit);
  });
}

Result<ReadAt<std::vector<std::optional<TaskRecord>>>> RecordStore::FindTasks(
    const std::vector<TaskKey>& keys) {
  return AnswerAt<std::vector<std::optional<TaskRecord>>>(
      "find tasks", [&](Queries& queries) { return ReadTasks(queries, keys); });
}

Result<ReadAt<std::optional<IdempotencyKey>>> RecordStore::FindKey(std::string_view caller,
                                                                   std::string_view key) {
  return Answer<ReadAt<std::optional<IdempotencyKey>>>(
      "find key", Moment::kOfEach,
      [&](Queries& queries) { return records::FindKey(queries, caller, key); });
}

Result<ReadAt<std::optional<Secret>>> RecordStore::FindSecret(std::string_view name) {
  return Answer<ReadAt<std::optional<Secret>>>(
      "find secret", Moment::kOfEach,
      [&](Queries& queries) { return records::FindSecret(queries, name); });
}

Result<std::vector<Secret>> RecordStore::ListSecrets() {
  return Answer<std::vector<Secret>>("list secrets", Moment::kOfEach, records::ListSecrets);
}

Result<std::vector<Token>> RecordStore::ListTokens() {
  return Answer<std::vector<Token>>("list tokens", Moment::kOfEach, records::ListTokens);
}

Result<AuditPage> RecordStore::ListAudit(const AuditFilter& filter, std::uint64_t before,
                                         std::size_t limit) {
  return Answer<AuditPage>("list audit", Moment::kOfAll, [&](Queries& queries) {
    return records::ListAudit(queries, filter, before, limit);
  });
}

Result<std::vector<HostId>> RecordStore::ListRemovedHosts(std::string_view name,
                                                          std::size_t limit) {
  return Answer<std::vector<HostId>>("list removed hosts", Moment::kOfEach, [&](Queries& queries) {
    return records::ListRemovedHosts(queries, name, limit);
  });
}

Result<std::vector<AuditEntry>> RecordStore::ReadAudit(std::uint64_t from, std::size_t limit) {
  return Answer<std::vector<AuditEntry>>("read audit", Moment::kOfEach, [&](Queries& queries) {
    return records::ReadAudit(queries, from, limit);
  });
}

Result<AuditHead> RecordStore::ReadAuditHead() {
  return Answer<AuditHead>("read audit head", Moment::kOfEach, records::ReadAuditHead);
}

Result<std::optional<Document>> RecordStore::FindDocument(std::string_view kind,
                                                          std::string_view name,
                                                          std::uint32_t version) {
  return Answer<std::optional<Document>>("find document", Moment::kOfEach, [&](Queries& queries) {
    return records::FindDocument(queries, kind, name, version);
  });
}

Result<std::vector<DocumentHead>> RecordStore::ListDocumentHeads(std::string_view kind,
                                                                 std::string_view after,
                                                                 std::size_t limit) {
  return Answer<std::vector<DocumentHead>>(
      "list documents", Moment::kOfEach,
      [&](Queries& queries) { return records::ListDocumentHeads(queries, kind, after, limit); });
}

Result<ReadAt<std::optional<Trigger>>> RecordStore::FindTrigger(std::string_view name) {
  return Answer<ReadAt<std::optional<Trigger>>>(
      "find trigger", Moment::kOfEach,
      [&](Queries& queries) { return records::FindTrigger(queries, name); });
}

Result<std::vector<Trigger>> RecordStore::ListTriggers(std::string_view after, std::size_t limit) {
  return Answer<std::vector<Trigger>>("list triggers", Moment::kOfEach, [&](Queries& queries) {
    return records::ListTriggers(queries, after, limit);
  });
}

Result<ReadAt<std::vector<Trigger>>> RecordStore::DueTriggers(const DueCursor& after,
                                                              std::int64_t until,
                                                              std::size_t limit) {
  return Answer<ReadAt<std::vector<Trigger>>>(
      "due triggers", Moment::kOfEach,
      [&](Queries& queries) { return records::DueTriggers(queries, after, until, limit); });
}

Result<std::vector<SlotRecord>> RecordStore::ListSlots(std::string_view trigger,
                                                       const SlotFilter& filter,
                                                       std::optional<SlotCursor> before,
                                                       std::size_t limit) {
  return Answer<std::vector<SlotRecord>>("list slots", Moment::kOfEach, [&](Queries& queries) {
    return records::ListSlots(queries, trigger, filter, before, limit);
  });
}

Result<Expired> RecordStore::FindExpired(const Cutoffs& cutoffs, std::size_t most) {
  return Answer<Expired>("find what is old", Moment::kOfAll, [&](Queries& queries) {
    return records::FindExpired(queries, cutoffs, most);
  });
}

}  // namespace muster::records
