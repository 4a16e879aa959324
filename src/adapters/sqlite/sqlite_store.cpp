#include "adapters/sqlite/sqlite_store.hpp"

#include <chrono>
#include <future>
#include <system_error>

#include "adapters/sqlite/audit_reader.hpp"
#include "adapters/sqlite/checkpointer.hpp"
#include "adapters/sqlite/database.hpp"
#include "adapters/sqlite/document_rows.hpp"
#include "adapters/sqlite/expired_reader.hpp"
#include "adapters/sqlite/folder_lock.hpp"
#include "adapters/sqlite/record_reader.hpp"
#include "adapters/sqlite/record_writer.hpp"
#include "adapters/sqlite/records_file.hpp"
#include "adapters/sqlite/run_reader.hpp"
#include "adapters/sqlite/schema.hpp"
#include "adapters/sqlite/secret_rows.hpp"
#include "adapters/sqlite/trigger_rows.hpp"

namespace muster {
namespace {

constexpr auto kReaderPatience = std::chrono::seconds(10);

// Joins an answer with the commit it was true at; both come from the caller's transaction.
template <typename T>
Result<ReadAt<T>> WithCommit(sqlite::Database& database, Result<T> value) {
  if (!value) return Fail(value.error());
  auto fence = sqlite::FenceOf(database);
  if (!fence) return Fail(fence.error());
  return ReadAt<T>{.value = std::move(*value), .commit = fence->number};
}

}  // namespace

Result<std::unique_ptr<SqliteStore>> SqliteStore::Open(const std::filesystem::path& folder,
                                                       SqliteOptions options) {
  std::error_code problem;
  std::filesystem::create_directories(folder, problem);
  if (problem)
    return Fail(ErrorCode::kUnavailable, "make folder {}: {}", folder.string(), problem.message());
  std::unique_ptr<SqliteStore> store(new SqliteStore(folder / sqlite::kRecordsFile, options));
  if (auto opened = store->OpenWriter(folder); !opened) return Fail(opened.error());
  store->thread_ = std::thread([raw = store.get()] { raw->Loop(); });
  return store;
}

SqliteStore::SqliteStore(std::filesystem::path file, SqliteOptions options)
    : file_(std::move(file)), options_(options) {}

SqliteStore::~SqliteStore() {
  std::deque<Job> left;
  {
    base::Lock lock(mutex_);
    closing_ = true;
    left.swap(jobs_);
  }
  work_.NotifyAll();
  if (thread_.joinable()) thread_.join();
  for (const auto& job : left) job(false);
}

Result<> SqliteStore::OpenWriter(const std::filesystem::path& folder) {
  if (options_.exclusive) {
    auto lock = sqlite::FolderLock::Take(folder);
    if (!lock) return Fail(lock.error());
    folder_lock_ = std::make_unique<sqlite::FolderLock>(std::move(*lock));
  }
  auto database = sqlite::Database::Open(file_, sqlite::Database::Mode::kReadWrite);
  if (!database) return Fail(database.error());
  database_ = std::move(*database);
  if (auto made = sqlite::MakeRecordTables(*database_); !made)
    return Fail(made.error().code, "{}: {}", file_.string(), made.error().message);
  auto writer = sqlite::RecordWriter::Open(*database_);
  if (!writer) return Fail(writer.error());
  writer_ = std::move(*writer);
  checkpointer_ = std::make_unique<sqlite::Checkpointer>(file_);
  database_->OnWal([this](int pages) { checkpointer_->Tell(pages); });
  return {};
}

std::vector<base::Activity::View> SqliteStore::Activities() {
  std::vector<base::Activity::View> views{activity_.Look(), checkpointer_->Look()};
  base::Lock lock(mutex_);
  views.front().queued = jobs_.size();
  views.front().counters = {{"readers_out", readers_out_}};
  return views;
}

void SqliteStore::Loop() {
  activity_.Attach();
  while (true) {
    Job job;
    {
      base::Lock lock(mutex_);
      while (!closing_ && jobs_.empty()) work_.Wait(mutex_);
      if (closing_) return;
      job = std::move(jobs_.front());
      jobs_.pop_front();
    }
    const base::Activity::Work mark(activity_, "commit");
    job(true);
  }
}

void SqliteStore::Post(Job job) {
  {
    base::Lock lock(mutex_);
    jobs_.push_back(std::move(job));
  }
  work_.NotifyOne();
}

template <typename T>
Result<T> SqliteStore::Ask(std::function<Result<T>()> question) {
  std::promise<Result<T>> promise;
  auto answer = promise.get_future();
  Post([&](bool open) {
    promise.set_value(open ? question() : Fail(ErrorCode::kUnavailable, "sqlite: closing"));
  });
  return answer.get();
}

Result<> SqliteStore::LimitPages(std::uint32_t pages) {
  constexpr std::uint32_t kMost = 1'073'741'823;  // SQLite's own limit
  const std::string sql = fmt::format("PRAGMA max_page_count = {}", pages == 0 ? kMost : pages);
  return Ask<void>([&] { return database_->Execute(sql.c_str()); });
}

Result<Fence> SqliteStore::TakeTerm() {
  return Ask<Fence>([this] { return writer_->TakeTerm(); });
}

void SqliteStore::Commit(std::shared_ptr<const Batch> batch, Term term, CommitNumber number,
                         CommitDone done) {
  Post([this, batch = std::move(batch), term, number, done = std::move(done)](bool open) {
    if (open)
      done(writer_->Commit(*batch, term, number));
    else
      done(Fail(ErrorCode::kUnavailable, "sqlite: commit batch {}: closing", number.value));
  });
}

Result<std::unique_ptr<sqlite::Database>> SqliteStore::TakeReader() {
  const auto deadline = std::chrono::steady_clock::now() + kReaderPatience;
  {
    base::Lock lock(mutex_);
    while (readers_.empty() && readers_out_ >= options_.readers)
      if (!reader_back_.WaitUntil(mutex_, deadline))
        return Fail(ErrorCode::kUnavailable, "all {} readers are busy", options_.readers);
    ++readers_out_;
    if (!readers_.empty()) {
      auto reader = std::move(readers_.back());
      readers_.pop_back();
      return reader;
    }
  }
  auto opened = sqlite::Database::Open(file_, sqlite::Database::Mode::kReadOnly);
  if (!opened) GiveReader(nullptr);
  return opened;
}

void SqliteStore::GiveReader(std::unique_ptr<sqlite::Database> reader) {
  {
    base::Lock lock(mutex_);
    --readers_out_;
    if (reader) readers_.push_back(std::move(reader));
  }
  reader_back_.NotifyOne();
}

template <typename T>
Result<T> SqliteStore::AtOneMoment(const char* what,
                                   const std::function<Result<T>(sqlite::Database&)>& read) {
  auto reader = TakeReader();
  if (!reader) return Fail(reader.error().code, "sqlite: {}: {}", what, reader.error().message);
  sqlite::Database& database = **reader;
  auto begun = database.Execute("BEGIN DEFERRED");
  Result<T> answer = begun ? read(database) : Result<T>(Fail(begun.error()));
  database.Rollback();
  GiveReader(std::move(*reader));
  if (!answer && answer.error().code != ErrorCode::kNotFound &&
      answer.error().code != ErrorCode::kFenced)
    return Fail(answer.error().code, "sqlite: {}: {}", what, answer.error().message);
  return answer;
}

Result<Snapshot> SqliteStore::Load(Term term) {
  return AtOneMoment<Snapshot>("load", [&](sqlite::Database& database) -> Result<Snapshot> {
    auto fence = sqlite::FenceOf(database);
    if (!fence) return Fail(fence.error());
    if (fence->term != term)
      return Fail(ErrorCode::kFenced, "sqlite: load: term {} holds the store, not {}",
                  fence->term.value, term.value);
    return sqlite::ReadSnapshot(database);
  });
}

Result<SchemaState> SqliteStore::ReadSchema() {
  return AtOneMoment<SchemaState>(
      "read schema", [](sqlite::Database& database) -> Result<SchemaState> {
        const auto version = database.AskInt("PRAGMA user_version");
        if (!version) return Fail(version.error());
        const auto steps = static_cast<std::uint64_t>(*version);
        return SchemaState{.version = steps, .needed = steps, .known = steps, .unfinished = {}};
      });
}

Result<std::string> SqliteStore::ReadCluster() {
  return AtOneMoment<std::string>("read cluster", sqlite::ReadCluster);
}

Result<Fence> SqliteStore::ReadFence() {
  return AtOneMoment<Fence>("read fence",
                            [](sqlite::Database& database) { return sqlite::FenceOf(database); });
}

Result<ReadAt<std::optional<Run>>> SqliteStore::FindRun(RunId id) {
  return AtOneMoment<ReadAt<std::optional<Run>>>("find run", [&](sqlite::Database& database) {
    return WithCommit(database, sqlite::ReadRun(database, id));
  });
}

Result<ReadAt<std::optional<Snapshot::OpenRun>>> SqliteStore::ReadWholeRun(RunId id) {
  return AtOneMoment<ReadAt<std::optional<Snapshot::OpenRun>>>(
      "read whole run", [&](sqlite::Database& database) {
        return WithCommit(database, sqlite::ReadWholeRun(database, id));
      });
}

Result<std::vector<StageVisit>> SqliteStore::ListVisits(RunId run, Visit after, std::size_t limit) {
  return AtOneMoment<std::vector<StageVisit>>("list visits", [&](sqlite::Database& database) {
    return sqlite::ReadVisits(database, run, after, limit);
  });
}

Result<std::shared_ptr<const Targets>> SqliteStore::FindTargets(RunId id) {
  return AtOneMoment<std::shared_ptr<const Targets>>(
      "find targets",
      [&](sqlite::Database& database) { return sqlite::ReadTargets(database, id); });
}

Result<std::vector<Run>> SqliteStore::ListRuns(const RunFilter& filter, RunId before,
                                               std::size_t limit) {
  return AtOneMoment<std::vector<Run>>("list runs", [&](sqlite::Database& database) {
    return sqlite::ReadRuns(database, filter, before, limit);
  });
}

Result<std::vector<TaskRecord>> SqliteStore::ListTasks(RunId run, const TaskFilter& filter,
                                                       std::optional<TaskKey> after,
                                                       std::size_t limit) {
  return AtOneMoment<std::vector<TaskRecord>>("list tasks", [&](sqlite::Database& database) {
    return sqlite::ReadTasks(database, run, filter, after, limit);
  });
}

Result<ReadAt<std::vector<std::optional<TaskRecord>>>> SqliteStore::FindTasks(
    const std::vector<TaskKey>& keys) {
  return AtOneMoment<ReadAt<std::vector<std::optional<TaskRecord>>>>(
      "find tasks", [&](sqlite::Database& database) {
        return WithCommit(database, sqlite::ReadTasks(database, keys));
      });
}

Result<ReadAt<std::optional<IdempotencyKey>>> SqliteStore::FindKey(std::string_view caller,
                                                                   std::string_view key) {
  return AtOneMoment<ReadAt<std::optional<IdempotencyKey>>>(
      "find key", [&](sqlite::Database& database) {
        return WithCommit(database, sqlite::ReadKey(database, caller, key));
      });
}

Result<ReadAt<std::optional<Secret>>> SqliteStore::FindSecret(std::string_view name) {
  return AtOneMoment<ReadAt<std::optional<Secret>>>("find secret", [&](sqlite::Database& database) {
    return WithCommit(database, sqlite::ReadSecret(database, name));
  });
}

Result<std::vector<Secret>> SqliteStore::ListSecrets() {
  return AtOneMoment<std::vector<Secret>>(
      "list secrets", [](sqlite::Database& database) { return sqlite::ReadSecrets(database); });
}

Result<std::vector<Token>> SqliteStore::ListTokens() {
  return AtOneMoment<std::vector<Token>>(
      "list tokens", [](sqlite::Database& database) { return sqlite::ReadTokens(database); });
}

Result<AuditPage> SqliteStore::ListAudit(const AuditFilter& filter, std::uint64_t before,
                                         std::size_t limit) {
  return AtOneMoment<AuditPage>("list audit", [&](sqlite::Database& database) {
    return sqlite::ReadAuditPage(database, filter, before, limit);
  });
}

Result<std::vector<HostId>> SqliteStore::ListRemovedHosts(std::string_view name,
                                                          std::size_t limit) {
  return AtOneMoment<std::vector<HostId>>("list removed hosts", [&](sqlite::Database& database) {
    return sqlite::ReadRemovedHosts(database, name, limit);
  });
}

Result<std::vector<AuditEntry>> SqliteStore::ReadAudit(std::uint64_t from, std::size_t limit) {
  return AtOneMoment<std::vector<AuditEntry>>("read audit", [&](sqlite::Database& database) {
    return sqlite::ReadAuditFrom(database, from, limit);
  });
}

Result<AuditHead> SqliteStore::ReadAuditHead() {
  return AtOneMoment<AuditHead>("read audit head", [](sqlite::Database& database) {
    return sqlite::ReadAuditHead(database);
  });
}

Result<std::optional<Document>> SqliteStore::FindDocument(std::string_view kind,
                                                          std::string_view name,
                                                          std::uint32_t version) {
  return AtOneMoment<std::optional<Document>>("find document", [&](sqlite::Database& database) {
    return sqlite::ReadDocument(database, kind, name, version);
  });
}

Result<std::vector<DocumentHead>> SqliteStore::ListDocumentHeads(std::string_view kind,
                                                                 std::string_view after,
                                                                 std::size_t limit) {
  return AtOneMoment<std::vector<DocumentHead>>("list documents", [&](sqlite::Database& database) {
    return sqlite::ListDocumentHeads(database, kind, after, limit);
  });
}

Result<ReadAt<std::optional<Trigger>>> SqliteStore::FindTrigger(std::string_view name) {
  return AtOneMoment<ReadAt<std::optional<Trigger>>>(
      "find trigger", [&](sqlite::Database& database) {
        return WithCommit(database, sqlite::ReadTrigger(database, name));
      });
}

Result<std::vector<Trigger>> SqliteStore::ListTriggers(std::string_view after, std::size_t limit) {
  return AtOneMoment<std::vector<Trigger>>("list triggers", [&](sqlite::Database& database) {
    return sqlite::ReadTriggers(database, after, limit);
  });
}

Result<ReadAt<std::vector<Trigger>>> SqliteStore::DueTriggers(const DueCursor& after,
                                                              std::int64_t until,
                                                              std::size_t limit) {
  return AtOneMoment<ReadAt<std::vector<Trigger>>>("due triggers", [&](sqlite::Database& database) {
    return WithCommit(database, sqlite::ReadDueTriggers(database, after, until, limit));
  });
}

Result<std::vector<SlotRecord>> SqliteStore::ListSlots(std::string_view trigger,
                                                       const SlotFilter& filter,
                                                       std::optional<SlotCursor> before,
                                                       std::size_t limit) {
  return AtOneMoment<std::vector<SlotRecord>>("list slots", [&](sqlite::Database& database) {
    return sqlite::ReadSlots(database, trigger, filter, before, limit);
  });
}

Result<Expired> SqliteStore::FindExpired(const Cutoffs& cutoffs, std::size_t most) {
  return AtOneMoment<Expired>("find what is old", [&](sqlite::Database& database) {
    return sqlite::ReadExpired(database, cutoffs, most);
  });
}

}  // namespace muster
