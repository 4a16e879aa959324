#pragma once

#include <memory>

#include "domain/restore.hpp"
#include "ports/store.hpp"

namespace muster {

// What memory stores keep; survives the stores that use it, as a disk survives a server.
class MemoryDisk;
std::shared_ptr<MemoryDisk> MakeMemoryDisk(std::uint64_t id_space = 0);

// A disk as `musterd restore` would make it from a backup of `disk` taken now. Without a leap it is
// that backup.
std::shared_ptr<MemoryDisk> CopyOf(MemoryDisk& disk, std::optional<Snapshot::Restored> restored,
                                   RestoreLeap leap);

// Keeps records in memory, for tests and simulations: the same calls give the same answers every
// time. `done` is called before Commit returns. Several stores on one disk are several writers,
// told apart by their terms.
class MemoryStore final : public Store {
 public:
  MemoryStore();
  explicit MemoryStore(std::shared_ptr<MemoryDisk> disk);

  Result<Fence> TakeTerm() override;
  void Commit(std::shared_ptr<const Batch> batch, Term term, CommitNumber number,
              CommitDone done) override;
  Result<Snapshot> Load(Term term) override;
  Result<std::string> ReadCluster() override;
  Result<Fence> ReadFence() override;
  Result<ReadAt<std::optional<Run>>> FindRun(RunId id) override;
  Result<ReadAt<std::optional<Snapshot::OpenRun>>> ReadWholeRun(RunId id) override;
  Result<std::vector<StageVisit>> ListVisits(RunId run, Visit after, std::size_t limit) override;
  Result<std::shared_ptr<const Targets>> FindTargets(RunId id) override;
  Result<std::vector<Run>> ListRuns(const RunFilter& filter, RunId before,
                                    std::size_t limit) override;
  Result<std::vector<TaskRecord>> ListTasks(RunId run, const TaskFilter& filter,
                                            std::optional<TaskKey> after,
                                            std::size_t limit) override;
  Result<ReadAt<std::vector<std::optional<TaskRecord>>>> FindTasks(
      const std::vector<TaskKey>& keys) override;
  Result<ReadAt<std::optional<IdempotencyKey>>> FindKey(std::string_view caller,
                                                        std::string_view key) override;
  Result<ReadAt<std::optional<Secret>>> FindSecret(std::string_view name) override;
  Result<std::vector<Secret>> ListSecrets() override;
  Result<std::vector<Token>> ListTokens() override;
  Result<AuditPage> ListAudit(const AuditFilter& filter, std::uint64_t before,
                              std::size_t limit) override;
  Result<std::vector<HostId>> ListRemovedHosts(std::string_view name, std::size_t limit) override;
  Result<std::vector<AuditEntry>> ReadAudit(std::uint64_t from, std::size_t limit) override;
  Result<AuditHead> ReadAuditHead() override;
  Result<std::optional<Document>> FindDocument(std::string_view kind, std::string_view name,
                                               std::uint32_t version) override;
  Result<std::vector<DocumentHead>> ListDocumentHeads(std::string_view kind, std::string_view after,
                                                      std::size_t limit) override;
  Result<ReadAt<std::optional<Trigger>>> FindTrigger(std::string_view name) override;
  Result<std::vector<Trigger>> ListTriggers(std::string_view after, std::size_t limit) override;
  Result<ReadAt<std::vector<Trigger>>> DueTriggers(const DueCursor& after, std::int64_t until,
                                                   std::size_t limit) override;
  Result<std::vector<SlotRecord>> ListSlots(std::string_view trigger, const SlotFilter& filter,
                                            std::optional<SlotCursor> before,
                                            std::size_t limit) override;
  Result<Expired> FindExpired(const Cutoffs& cutoffs, std::size_t most) override;

 private:
  std::shared_ptr<MemoryDisk> disk_;  // shared by the stores that stand for servers on one disk
};

}  // namespace muster
