#include "adapters/sqlite/migration.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

#include <sqlite3.h>

namespace muster::sqlite {
namespace {

Result<> Refuse(const std::filesystem::path& file, std::string_view why) {
  return Fail(ErrorCode::kUnavailable, "copy to {}: {}", file.string(), why);
}

Result<> CopyPages(Database& database, const std::filesystem::path& file) {
  sqlite3* target = nullptr;
  const int opened = sqlite3_open_v2(file.c_str(), &target, SQLITE_OPEN_READWRITE, nullptr);
  const std::unique_ptr<sqlite3, int (*)(sqlite3*)> owner(target, sqlite3_close);
  if (opened != SQLITE_OK) return Refuse(file, sqlite3_errstr(opened));
  // No other process knows the file yet, and it is synced as a whole afterwards.
  sqlite3_exec(target, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF", nullptr, nullptr,
               nullptr);
  sqlite3_backup* copy = sqlite3_backup_init(target, "main", database.Handle(), "main");
  if (copy == nullptr) return Refuse(file, sqlite3_errmsg(target));
  // All pages in one step are one moment; in WAL mode writers do not wait for it.
  sqlite3_backup_step(copy, -1);
  const int ended = sqlite3_backup_finish(copy);
  if (ended != SQLITE_OK) return Refuse(file, sqlite3_errstr(ended));
  return {};
}

Result<> SyncPath(const std::filesystem::path& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const bool synced = file >= 0 && fsync(file) == 0;
  const int problem = errno;
  if (file >= 0) close(file);
  if (!synced) return Refuse(path, std::strerror(problem));
  return {};
}

Result<> MakeEmpty(const std::filesystem::path& path) {
  unlink(path.c_str());
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0) return Refuse(path, std::strerror(errno));
  close(file);
  return {};
}

// Marks our databases ("MUST"). Those without it are of before records were described once; they
// were never released, and number their schemas otherwise.
constexpr std::int64_t kApplication = 0x4D555354;

Result<> TakeSteps(Database& database, const Schema& schema, std::int64_t from) {
  if (from == 0) {
    if (auto made = database.Execute(schema.first.c_str()); !made) return made;
    const std::string mark = fmt::format("PRAGMA application_id = {}", kApplication);
    if (auto marked = database.Execute(mark.c_str()); !marked) return marked;
    if (!schema.rows.empty())
      if (auto made = database.Execute(schema.rows.c_str()); !made) return made;
    from = 1;
  }
  for (auto step = static_cast<std::size_t>(from - 1); step < schema.steps.size(); ++step)
    if (auto taken = database.Execute(schema.steps[step].c_str()); !taken) return taken;
  return database.Execute(fmt::format("PRAGMA user_version = {}", schema.Version()).c_str());
}

Result<> KeepOlder(Database& database, std::int64_t version) {
  const std::filesystem::path file = sqlite3_db_filename(database.Handle(), "main");
  return CopyDatabase(database, file.string() + fmt::format(".v{}.bak", version));
}

// Inside a transaction, as another process may have been faster.
Result<> Step(Database& database, const Schema& schema) {
  auto found = database.AskInt("PRAGMA user_version");
  if (!found) return Fail(found.error());
  const auto application = database.AskInt("PRAGMA application_id");
  if (!application) return Fail(application.error());
  if (*found > 0 && *application != kApplication)
    return Fail(
        ErrorCode::kInvalid,
        "sqlite: the data was written by an earlier musterd, whose records this one does not "
        "read; start with an empty data folder");
  if (*found > schema.Version())
    return Fail(ErrorCode::kInvalid,
                "sqlite: the data was written by a newer musterd (schema {}, this one knows {}); "
                "start that version",
                *found, schema.Version());
  if (*found == schema.Version()) return {};
  return TakeSteps(database, schema, *found);
}

}  // namespace

Result<> CopyDatabase(Database& database, const std::filesystem::path& file) {
  const std::filesystem::path unfinished = file.string() + ".new";
  auto copied = MakeEmpty(unfinished);
  if (copied) copied = CopyPages(database, unfinished);
  if (copied) copied = SyncPath(unfinished);
  if (copied && rename(unfinished.c_str(), file.c_str()) != 0)
    copied = Refuse(file, std::strerror(errno));
  if (!copied) {
    unlink(unfinished.c_str());
    return copied;
  }
  const auto folder = file.parent_path();
  return SyncPath(folder.empty() ? "." : folder);
}

Result<> BringUpToDate(Database& database, const Schema& schema) {
  auto version = database.AskInt("PRAGMA user_version");
  if (!version) return Fail(version.error());
  if (schema.copy_before && *version > 0 && *version < schema.Version())
    if (auto kept = KeepOlder(database, *version); !kept) return kept;
  if (auto begun = database.Execute("BEGIN IMMEDIATE"); !begun) return begun;
  auto done = Step(database, schema);
  if (done) done = database.Execute("COMMIT");
  if (!done) database.Rollback();
  return done;
}

}  // namespace muster::sqlite
