#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "adapters/records/record_store.hpp"
#include "base/activity.hpp"
#include "base/mutex.hpp"

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
class SqliteStore final : public records::RecordStore {
 public:
  // Makes the folder and the database when they are not there. kConflict: another process uses the
  // folder. kInvalid: another release of musterd wrote it, which this one cannot read.
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
  Result<SchemaState> ReadSchema() override;  // only ever this program's

 private:
  SqliteStore(std::filesystem::path file, SqliteOptions options);
  Result<> OpenWriter(const std::filesystem::path& folder);
  Result<std::unique_ptr<sqlite::Database>> TakeReader() EXCLUDES(mutex_);
  void GiveReader(std::unique_ptr<sqlite::Database> reader) EXCLUDES(mutex_);

  Result<> Read(const char* what, Moment moment, const Reading& reading) override;
  Result<std::vector<Snapshot::OpenRun>> ReadOpenRuns(records::Queries& queries) override;
  Result<std::vector<TaskRecord>> ReadOpenLogs(records::Queries& queries) override;
  Result<std::optional<Snapshot::OpenRun>> ReadWhole(records::Queries& queries, RunId id) override;
  Result<std::vector<std::optional<TaskRecord>>> ReadTasks(
      records::Queries& queries, const std::vector<TaskKey>& keys) override;

  const std::filesystem::path file_;
  const SqliteOptions options_;
  std::unique_ptr<sqlite::FolderLock> folder_lock_;
  std::unique_ptr<sqlite::Checkpointer> checkpointer_;
  std::unique_ptr<sqlite::Database> database_;           // the writing thread's
  std::unique_ptr<sqlite::RecordWriter> record_writer_;  // the writing thread's

  base::Mutex mutex_;
  base::Condition reader_back_;
  std::vector<std::unique_ptr<sqlite::Database>> readers_ GUARDED_BY(mutex_);  // idle
  std::size_t readers_out_ GUARDED_BY(mutex_) = 0;
};

}  // namespace muster
