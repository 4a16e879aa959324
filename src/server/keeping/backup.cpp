#include "server/keeping/backup.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <set>
#include <system_error>
#include <unistd.h>
#include <vector>

#include "adapters/archive/reader.hpp"
#include "adapters/archive/writer.hpp"
#include "adapters/copy/from_postgres.hpp"
#include "adapters/files/fd.hpp"
#include "adapters/files/owner.hpp"
#include "adapters/sqlite/database.hpp"
#include "adapters/sqlite/migration.hpp"
#include "adapters/sqlite/records_file.hpp"
#include "base/version.hpp"
#include "server/keeping/last_backup.hpp"
#include "server/keeping/moved.hpp"

namespace muster::server {
namespace {

namespace fs = std::filesystem;

// Not worth keeping, or kept in another way.
bool IsLeftOut(const fs::path& name) {
  static const std::set<std::string> kNames{"lock", "last_backup", kMovedMark};
  static const std::set<std::string> kEndings{".bak", ".new", ".tmp", ".db", ".db-wal", ".db-shm"};
  return kNames.contains(name.string()) || kEndings.contains(name.extension().string());
}

// Root may back up the folder of a server that runs as another user, who could make a link to a
// file that only root may read.
Result<> CheckNoLink(const fs::path& file) {
  std::error_code problem;
  if (!fs::is_symlink(file, problem)) return {};
  return Fail(ErrorCode::kDenied,
              "{} is a symbolic link; a backup takes only files that are in the data folder "
              "itself. Replace the link with the file, then try again",
              file.string());
}

// Files of the folder that are copied as they are, by name.
Result<std::vector<std::string>> PlainFiles(const fs::path& data) {
  std::vector<std::string> names;
  std::error_code problem;
  for (const auto& entry : fs::directory_iterator(data, problem)) {
    if (!entry.is_regular_file() || IsLeftOut(entry.path().filename())) continue;
    if (auto own = CheckNoLink(entry.path()); !own) return Fail(own.error());
    names.push_back(entry.path().filename().string());
  }
  if (problem) return Fail(ErrorCode::kNotFound, "list {}: {}", data.string(), problem.message());
  std::ranges::sort(names);
  return names;
}

struct CloseFolder {
  void operator()(DIR* folder) const { closedir(folder); }
};

// The databases of output. Their folder is opened as it is, so that the list is never one of a
// folder elsewhere.
Result<std::vector<std::string>> LogFiles(const fs::path& data) {
  const fs::path folder = data / "logs";
  std::vector<std::string> names;
  files::Fd opened(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!opened && errno == ENOENT) return names;
  if (!opened) {
    const int error = errno;
    if (auto own = CheckNoLink(folder); !own) return Fail(own.error());
    return Fail(ErrorCode::kUnavailable, "list {}: {}", folder.string(), std::strerror(error));
  }
  const std::unique_ptr<DIR, CloseFolder> entries(fdopendir(opened.Get()));
  if (!entries)
    return Fail(ErrorCode::kUnavailable, "list {}: {}", folder.string(), std::strerror(errno));
  opened.Release();
  while (const dirent* entry = readdir(entries.get()))
    if (fs::path(entry->d_name).extension() == ".db")
      names.push_back(std::string("logs/") + entry->d_name);
  std::ranges::sort(names);
  return names;
}

// A file that is removed whatever happens, and before: a backup that was ended may have left one.
struct Scratch {
  explicit Scratch(fs::path file) : path(std::move(file)) { Remove(); }
  ~Scratch() { Remove(); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  void Remove() const {
    std::error_code ignored;
    for (const char* part : {"", "-wal", "-shm", "-journal"})
      fs::remove(path.string() + part, ignored);
  }
  fs::path path;
};

// With the rights of the folder's owner, also for the files beside it that SQLite opens with the
// first read. So a link that takes the place of the file or of its folder after the look above
// leads to nothing that its maker could not read anyway.
Result<std::unique_ptr<sqlite::Database>> OpenAsOwner(const fs::path& data,
                                                      const std::string& name) {
  const auto rights = files::SwitchToOwner(data);
  if (!rights) return Fail(rights.error());
  auto database = sqlite::Database::Open(data / name, sqlite::Database::Mode::kReadOnly);
  if (!database) return database;
  if (auto read = (*database)->AskInt("SELECT count(*) FROM sqlite_master"); !read)
    return Fail(read.error());
  return database;
}

Result<> AddDatabase(archive::Writer& writer, const fs::path& data, const std::string& name,
                     const fs::path& beside) {
  if (auto own = CheckNoLink(data / name); !own) return own;
  auto database = OpenAsOwner(data, name);
  if (!database) return Fail(database.error());
  const Scratch copy{beside.string() + ".db.tmp"};
  if (auto copied = sqlite::CopyDatabase(**database, copy.path); !copied) return copied;
  return writer.Add(name, copy.path);
}

Result<> AddFolder(archive::Writer& writer, const BackupOptions& options) {
  if (auto added = AddDatabase(writer, options.data, sqlite::kRecordsFile, options.file); !added)
    return added;
  if (!options.logs) return {};
  const auto logs = LogFiles(options.data);
  if (!logs) return Fail(logs.error());
  for (const auto& name : *logs)
    if (auto added = AddDatabase(writer, options.data, name, options.file); !added) return added;
  return {};
}

// The same files, made from one moment of the database.
Result<> AddPostgres(archive::Writer& writer, const BackupOptions& options) {
  const auto moment = copy::Moment::Begin(options.postgres, options.logs);
  if (!moment)
    return Fail(moment.error().code, "store.postgres: {}; nothing was written",
                moment.error().message);
  {
    const Scratch records{options.file.string() + ".db.tmp"};
    const auto taken = (*moment)->TakeRecords(records.path, options.progress);
    if (!taken) return Fail(taken.error());
    if (auto added = writer.Add(sqlite::kRecordsFile, records.path); !added) return added;
  }
  for (const auto& day : (*moment)->Days()) {
    const Scratch output{options.file.string() + ".db.tmp"};
    if (auto taken = (*moment)->TakeDay(day, output.path, options.progress); !taken)
      return Fail(taken.error());
    if (auto added = writer.Add("logs/" + day + ".db", output.path); !added) return added;
  }
  return {};
}

Result<> AddAll(archive::Writer& writer, const BackupOptions& options) {
  const auto kept =
      options.postgres.address.empty() ? AddFolder(writer, options) : AddPostgres(writer, options);
  if (!kept) return kept;
  const auto plain = PlainFiles(options.data);
  if (!plain) return Fail(plain.error());
  for (const auto& name : *plain)
    if (auto added = writer.Add(name, options.data / name); !added) return added;
  return {};
}

Result<> CheckFolder(const BackupOptions& options) {
  const auto& data = options.data;
  if (options.postgres.address.empty()) {
    if (auto here = CheckNotMoved(data); !here) return here;
    if (fs::exists(data / sqlite::kRecordsFile)) return {};
    return Fail(ErrorCode::kNotFound, "{} is not the data folder of a musterd: it has no {}{}",
                data.string(), sqlite::kRecordsFile,
                fs::exists(data / "ca.pem") ? "; with records in PostgreSQL give --config" : "");
  }
  if (fs::exists(data / "ca.pem")) return {};
  return Fail(ErrorCode::kNotFound, "{} is not the data folder of a musterd: it has no ca.pem",
              data.string());
}

}  // namespace

Result<archive::Manifest> MakeBackup(const BackupOptions& options, WallTime now) {
  if (auto usable = CheckFolder(options); !usable) return Fail(usable.error());
  if (fs::exists(options.file) && !options.force)
    return Fail(ErrorCode::kConflict, "{} is there already; name another file, or give --force",
                options.file.string());
  auto writer = archive::Writer::Create(options.file);
  if (!writer) return Fail(writer.error());
  writer->SetFact("taken", FormatTime(now));
  writer->SetFact("musterd", kVersion);
  writer->SetFact("logs", options.logs ? "yes" : "no");
  if (auto added = AddAll(*writer, options); !added) return Fail(added.error());
  if (auto finished = writer->Finish(); !finished) return Fail(finished.error());
  auto checked = archive::ReadArchive(options.file, nullptr);
  if (!checked)
    return Fail(checked.error().code, "{} was written, but {}: do not rely on it",
                options.file.string(), checked.error().message);
  std::error_code problem;
  const LastBackup note{.taken = now,
                        .bytes = fs::file_size(options.file, problem),
                        .file = fs::absolute(options.file, problem).string()};
  if (auto noted = WriteLastBackup(options.data, note); !noted)
    return Fail(noted.error().code, "{} is good, but the server cannot be told of it: {}",
                options.file.string(), noted.error().message);
  return checked;
}

}  // namespace muster::server
