#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <thread>
#include <vector>

#include "adapters/postgres/options.hpp"
#include "base/activity.hpp"
#include "base/mutex.hpp"
#include "ports/store.hpp"

namespace muster {

namespace postgres {
class ReaderPool;
class RecordWriter;
struct SchemaStep;
}  // namespace postgres

// Keeps records in a PostgreSQL database. One thread writes, in the order of the calls, and calls
// `done`; reads run in their callers' threads. Sessions are opened when they are needed: a database
// that is away makes calls kUnavailable, and they work again once it is back. Destroying it ends
// the commit under way and answers kUnavailable to those behind it.
class PostgresStore final : public Store {
 public:
  // Does not connect yet. kInvalid: the address cannot be read. The first TakeTerm makes the
  // tables; before it reads are kUnavailable.
  static Result<std::unique_ptr<PostgresStore>> Open(PostgresOptions options);
  // With other tables than Muster's; `steps` must outlive the store.
  static Result<std::unique_ptr<PostgresStore>> Open(PostgresOptions options,
                                                     std::span<const postgres::SchemaStep> steps);
  ~PostgresStore() override;

  // What its thread does now.
  std::vector<base::Activity::View> Activities() EXCLUDES(mutex_);

  // kInvalid: a newer musterd wrote the store and it was finalized since.
  Result<Fence> TakeTerm() override;
  Result<SchemaState> ReadSchema() override;
  Result<std::vector<std::uint64_t>> Finalize(Term term) override;
  void Commit(std::shared_ptr<const Batch> batch, Term term, CommitNumber number,
              CommitDone done) override;
  Result<Snapshot> Load(Term term) override;
  Result<std::optional<WallTime>> ReadClock() override;
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
  // Work for the writing thread; told `false` when the store closes instead.
  using Job = std::function<void(bool open)>;

  PostgresStore(PostgresOptions options, std::span<const postgres::SchemaStep> steps);
  void Loop() EXCLUDES(mutex_);
  void Post(Job job) EXCLUDES(mutex_);
  template <typename T>
  Result<T> AskWriter(std::function<Result<T>()> question) EXCLUDES(mutex_);

  const PostgresOptions options_;
  const PostgresOptions clock_options_;
  const std::span<const postgres::SchemaStep> steps_;
  std::unique_ptr<postgres::RecordWriter> writer_;  // the writing thread's
  std::unique_ptr<postgres::ReaderPool> readers_;
  // For ReadClock and ReadCluster alone: whether the database answers must not depend on readers
  // that are busy.
  std::unique_ptr<postgres::ReaderPool> clock_readers_;

  base::Activity activity_{"committer"};
  base::Mutex mutex_;
  base::Condition work_;
  std::deque<Job> jobs_ GUARDED_BY(mutex_);
  bool closing_ GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace muster
