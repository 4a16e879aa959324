#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "adapters/records/query.hpp"
#include "adapters/records/writer_thread.hpp"
#include "ports/store.hpp"

namespace muster::records {

// What the stores that speak SQL have in common: one thread that writes, and the reads of
// readers.hpp. Reads run in their callers' threads.
class RecordStore : public Store {
 public:
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

 protected:
  explicit RecordStore(std::string name) : name_(name), writer_(std::move(name)) {}

  // Whether all statements of a read see one moment, or each its own.
  enum class Moment : std::uint8_t { kOfEach, kOfAll };
  using Reading = std::function<Result<>(Queries&)>;
  // Carries a read out. Errors begin with the store's name and `what`, except kNotFound and
  // kFenced.
  virtual Result<> Read(const char* what, Moment moment, const Reading& reading) = 0;

  // Where the dialects differ. Each is called within one moment.
  virtual Result<std::vector<Snapshot::OpenRun>> ReadOpenRuns(Queries& queries) = 0;
  virtual Result<std::vector<TaskRecord>> ReadOpenLogs(Queries& queries) = 0;
  virtual Result<std::optional<Snapshot::OpenRun>> ReadWhole(Queries& queries, RunId id) = 0;
  virtual Result<std::vector<std::optional<TaskRecord>>> ReadTasks(
      Queries& queries, const std::vector<TaskKey>& keys) = 0;

  const std::string& name() const { return name_; }
  WriterThread& writer() { return writer_; }

 private:
  // Reads one value.
  template <typename T, typename Ask>
  Result<T> Answer(const char* what, Moment moment, Ask ask);
  // The same, with the commit that it was true at.
  template <typename T, typename Ask>
  Result<ReadAt<T>> AnswerAt(const char* what, Ask ask);

  const std::string name_;
  WriterThread writer_;
};

}  // namespace muster::records
