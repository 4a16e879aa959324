#pragma once

#include <deque>
#include <filesystem>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "base/activity.hpp"
#include "base/mutex.hpp"
#include "ports/store.hpp"

namespace muster {

namespace sqlite {
class Checkpointer;
class Database;
class FolderLock;
class RecordWriter;
}  // namespace sqlite

struct SqliteOptions {
  bool exclusive = true;    // refuse a folder that another process has open; tests fence without it
  std::size_t readers = 4;  // connections for reads at the same time
};

// Keeps records in folder/muster.db. One thread writes, in the order of the calls, and calls
// `done`; reads run in their callers' threads. Destroying it ends the commit under way and answers
// kUnavailable to those behind it.
class SqliteStore final : public Store {
 public:
  // Makes the folder and the database when they are not there. kConflict: another process uses the
  // folder. kInvalid: a newer musterd wrote it.
  static Result<std::unique_ptr<SqliteStore>> Open(const std::filesystem::path& folder,
                                                   SqliteOptions options = {});
  ~SqliteStore() override;

  // Lets the database grow to `pages` pages; 0 lifts the limit. Past it commits are kUnavailable,
  // as with a full disk.
  Result<> LimitPages(std::uint32_t pages);

  // What its threads do now.
  std::vector<base::Activity::View> Activities() EXCLUDES(mutex_);

  Result<Fence> TakeTerm() override;
  void Commit(std::shared_ptr<const Batch> batch, Term term, CommitNumber number,
              CommitDone done) override;
  Result<Snapshot> Load(Term term) override;
  Result<SchemaState> ReadSchema() override;  // only ever this program's
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

  SqliteStore(std::filesystem::path file, SqliteOptions options);
  Result<> OpenWriter(const std::filesystem::path& folder);
  void Loop() EXCLUDES(mutex_);
  void Post(Job job) EXCLUDES(mutex_);
  template <typename T>
  Result<T> Ask(std::function<Result<T>()> question) EXCLUDES(mutex_);

  Result<std::unique_ptr<sqlite::Database>> TakeReader() EXCLUDES(mutex_);
  void GiveReader(std::unique_ptr<sqlite::Database> reader) EXCLUDES(mutex_);
  // Calls `read` inside one transaction of a reading connection.
  template <typename T>
  Result<T> AtOneMoment(const char* what, const std::function<Result<T>(sqlite::Database&)>& read)
      EXCLUDES(mutex_);

  const std::filesystem::path file_;
  const SqliteOptions options_;
  std::unique_ptr<sqlite::FolderLock> folder_lock_;
  std::unique_ptr<sqlite::Checkpointer> checkpointer_;
  std::unique_ptr<sqlite::Database> database_;    // the writing thread's
  std::unique_ptr<sqlite::RecordWriter> writer_;  // the writing thread's

  base::Activity activity_{"committer"};
  base::Mutex mutex_;
  base::Condition work_;
  base::Condition reader_back_;
  std::deque<Job> jobs_ GUARDED_BY(mutex_);
  bool closing_ GUARDED_BY(mutex_) = false;
  std::vector<std::unique_ptr<sqlite::Database>> readers_ GUARDED_BY(mutex_);  // idle
  std::size_t readers_out_ GUARDED_BY(mutex_) = 0;
  std::thread thread_;
};

}  // namespace muster
