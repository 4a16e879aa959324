#pragma once

#include <memory>
#include <utility>

#include "ports/store.hpp"

namespace muster {

// Hands every call to another store, which must outlive it. Faults, metrics and retries derive from
// it and override only the calls they change.
class ForwardingStore : public Store {
 public:
  explicit ForwardingStore(Store& next) : next_(next) {}

  Result<Fence> TakeTerm() override { return next_.TakeTerm(); }
  void Commit(std::shared_ptr<const Batch> batch, Term term, CommitNumber number,
              CommitDone done) override {
    next_.Commit(std::move(batch), term, number, std::move(done));
  }
  Result<Snapshot> Load(Term term) override { return next_.Load(term); }
  Result<SchemaState> ReadSchema() override { return next_.ReadSchema(); }
  Result<std::vector<std::uint64_t>> Finalize(Term term) override { return next_.Finalize(term); }
  Result<std::optional<WallTime>> ReadClock() override { return next_.ReadClock(); }
  Result<std::string> ReadCluster() override { return next_.ReadCluster(); }
  Result<Fence> ReadFence() override { return next_.ReadFence(); }
  Result<ReadAt<std::optional<Run>>> FindRun(RunId id) override { return next_.FindRun(id); }
  Result<ReadAt<std::optional<Snapshot::OpenRun>>> ReadWholeRun(RunId id) override {
    return next_.ReadWholeRun(id);
  }
  Result<std::vector<StageVisit>> ListVisits(RunId run, Visit after, std::size_t limit) override {
    return next_.ListVisits(run, after, limit);
  }
  Result<std::shared_ptr<const Targets>> FindTargets(RunId id) override {
    return next_.FindTargets(id);
  }
  Result<std::vector<Run>> ListRuns(const RunFilter& filter, RunId before,
                                    std::size_t limit) override {
    return next_.ListRuns(filter, before, limit);
  }
  Result<std::vector<TaskRecord>> ListTasks(RunId run, const TaskFilter& filter,
                                            std::optional<TaskKey> after,
                                            std::size_t limit) override {
    return next_.ListTasks(run, filter, after, limit);
  }
  Result<ReadAt<std::vector<std::optional<TaskRecord>>>> FindTasks(
      const std::vector<TaskKey>& keys) override {
    return next_.FindTasks(keys);
  }
  Result<ReadAt<std::optional<IdempotencyKey>>> FindKey(std::string_view caller,
                                                        std::string_view key) override {
    return next_.FindKey(caller, key);
  }
  Result<ReadAt<std::optional<Secret>>> FindSecret(std::string_view name) override {
    return next_.FindSecret(name);
  }
  Result<std::vector<Secret>> ListSecrets() override { return next_.ListSecrets(); }
  Result<std::vector<Token>> ListTokens() override { return next_.ListTokens(); }
  Result<AuditPage> ListAudit(const AuditFilter& filter, std::uint64_t before,
                              std::size_t limit) override {
    return next_.ListAudit(filter, before, limit);
  }
  Result<std::vector<HostId>> ListRemovedHosts(std::string_view name, std::size_t limit) override {
    return next_.ListRemovedHosts(name, limit);
  }
  Result<std::vector<AuditEntry>> ReadAudit(std::uint64_t from, std::size_t limit) override {
    return next_.ReadAudit(from, limit);
  }
  Result<AuditHead> ReadAuditHead() override { return next_.ReadAuditHead(); }
  Result<std::optional<Document>> FindDocument(std::string_view kind, std::string_view name,
                                               std::uint32_t version) override {
    return next_.FindDocument(kind, name, version);
  }
  Result<std::vector<DocumentHead>> ListDocumentHeads(std::string_view kind, std::string_view after,
                                                      std::size_t limit) override {
    return next_.ListDocumentHeads(kind, after, limit);
  }
  Result<ReadAt<std::optional<Trigger>>> FindTrigger(std::string_view name) override {
    return next_.FindTrigger(name);
  }
  Result<std::vector<Trigger>> ListTriggers(std::string_view after, std::size_t limit) override {
    return next_.ListTriggers(after, limit);
  }
  Result<ReadAt<std::vector<Trigger>>> DueTriggers(const DueCursor& after, std::int64_t until,
                                                   std::size_t limit) override {
    return next_.DueTriggers(after, until, limit);
  }
  Result<std::vector<SlotRecord>> ListSlots(std::string_view trigger, const SlotFilter& filter,
                                            std::optional<SlotCursor> before,
                                            std::size_t limit) override {
    return next_.ListSlots(trigger, filter, before, limit);
  }
  Result<Expired> FindExpired(const Cutoffs& cutoffs, std::size_t most) override {
    return next_.FindExpired(cutoffs, most);
  }

 protected:
  Store& Next() { return next_; }

 private:
  Store& next_;
};

}  // namespace muster
