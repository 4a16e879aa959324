#include "adapters/sqlite/sqlite_store.hpp"

#include <chrono>
#include <system_error>

#include "adapters/sqlite/checkpointer.hpp"
#include "adapters/sqlite/database.hpp"
#include "adapters/sqlite/folder_lock.hpp"
#include "adapters/sqlite/open_runs.hpp"
#include "adapters/sqlite/record_writer.hpp"
#include "adapters/sqlite/records_file.hpp"
#include "adapters/sqlite/rows.hpp"
#include "adapters/sqlite/schema.hpp"

namespace muster {
namespace {

constexpr auto kReaderPatience = std::chrono::seconds(10);

}  // namespace

Result<std::unique_ptr<SqliteStore>> SqliteStore::Open(const std::filesystem::path& folder,
                                                       SqliteOptions options) {
  std::error_code problem;
  std::filesystem::create_directories(folder, problem);
  if (problem)
    return Fail(ErrorCode::kUnavailable, "make folder {}: {}", folder.string(), problem.message());
  std::unique_ptr<SqliteStore> store(new SqliteStore(folder / sqlite::kRecordsFile, options));
  if (auto opened = store->OpenWriter(folder); !opened) return Fail(opened.error());
  store->writer().Start();
  return store;
}

SqliteStore::SqliteStore(std::filesystem::path file, SqliteOptions options)
    : RecordStore("sqlite"), file_(std::move(file)), options_(options) {}

SqliteStore::~SqliteStore() { writer().Stop(); }

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
  auto opened = sqlite::RecordWriter::Open(*database_);
  if (!opened) return Fail(opened.error());
  record_writer_ = std::move(*opened);
  checkpointer_ = std::make_unique<sqlite::Checkpointer>(file_);
  database_->OnWal([this](int pages) { checkpointer_->Tell(pages); });
  return {};
}

std::vector<base::Activity::View> SqliteStore::Activities() {
  std::vector<base::Activity::View> views{writer().Look(), checkpointer_->Look()};
  base::Lock lock(mutex_);
  views.front().counters = {{"readers_out", readers_out_}};
  return views;
}

Result<> SqliteStore::LimitPages(std::uint32_t pages) {
  constexpr std::uint32_t kMost = 1'073'741'823;  // SQLite's own limit
  const std::string sql = fmt::format("PRAGMA max_page_count = {}", pages == 0 ? kMost : pages);
  return writer().Ask<void>([&] { return database_->Execute(sql.c_str()); });
}

Result<Fence> SqliteStore::TakeTerm() {
  return writer().Ask<Fence>([this] { return record_writer_->TakeTerm(); });
}

void SqliteStore::Commit(std::shared_ptr<const Batch> batch, Term term, CommitNumber number,
                         CommitDone done) {
  writer().Post([this, batch = std::move(batch), term, number, done = std::move(done)](bool open) {
    if (open)
      done(record_writer_->Commit(*batch, term, number));
    else
      done(Fail(ErrorCode::kUnavailable, "sqlite: commit batch {}: closing", number.value));
  });
}

Result<SchemaState> SqliteStore::ReadSchema() {
  std::int64_t version = 0;
  auto read = Read("read schema", Moment::kOfEach, [&](records::Queries& queries) {
    return queries.Each("PRAGMA user_version", {}, [&](const records::Row& row) -> Result<> {
      version = row.Int(0);
      return {};
    });
  });
  if (!read) return Fail(read.error());
  const auto steps = static_cast<std::uint64_t>(version);
  return SchemaState{.version = steps, .needed = steps, .known = steps, .unfinished = {}};
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

// A transaction costs SQLite nothing, so each read has one.
Result<> SqliteStore::Read(const char* what, Moment, const Reading& reading) {
  auto reader = TakeReader();
  if (!reader) return Fail(reader.error().code, "sqlite: {}: {}", what, reader.error().message);
  sqlite::Database& database = **reader;
  sqlite::Queries queries(database);
  auto read = database.Execute("BEGIN DEFERRED");
  if (read) read = reading(queries);
  database.Rollback();
  GiveReader(std::move(*reader));
  if (!read && read.error().code != ErrorCode::kNotFound && read.error().code != ErrorCode::kFenced)
    return Fail(read.error().code, "sqlite: {}: {}", what, read.error().message);
  return read;
}

Result<std::vector<Snapshot::OpenRun>> SqliteStore::ReadOpenRuns(records::Queries& queries) {
  return sqlite::ReadOpenRuns(queries);
}

Result<std::vector<TaskRecord>> SqliteStore::ReadOpenLogs(records::Queries& queries) {
  return sqlite::ReadOpenLogs(queries);
}

Result<std::optional<Snapshot::OpenRun>> SqliteStore::ReadWhole(records::Queries& queries,
                                                                RunId id) {
  return sqlite::ReadWhole(queries, id);
}

Result<std::vector<std::optional<TaskRecord>>> SqliteStore::ReadTasks(
    records::Queries& queries, const std::vector<TaskKey>& keys) {
  return sqlite::ReadTasks(queries, keys);
}

}  // namespace muster
