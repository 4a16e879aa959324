#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "adapters/archive/reader.hpp"
#include "adapters/copy/into_postgres.hpp"
#include "adapters/files/fd.hpp"
#include "adapters/files/owner.hpp"
#include "adapters/sqlite/folder_lock.hpp"
#include "adapters/sqlite/records_file.hpp"
#include "adapters/sqlite/restore_marks.hpp"
#include "server/certificates/ca_rotation.hpp"
#include "server/keeping/backup.hpp"
#include "server/keeping/last_backup.hpp"
#include "server/keeping/store_copy.hpp"

namespace muster::server {
namespace {

namespace fs = std::filesystem;

// Where the backup is unpacked, inside the data folder, which may be a mount of its own. It says
// nothing about the folder: a restore that ends here has changed nothing, and the next one removes
// it.
constexpr const char* kUnpacking = ".restore.new";
// What is unpacked has this name before the first change to what is there. While this or kStale is
// there, the folder is no data folder.
constexpr const char* kUnpacked = ".restore";
// Of an earlier restore that did not come to its end, while the new one takes its place.
constexpr const char* kStale = ".restore.old";
// Where the old content goes: so named, with the time behind it. A backup takes no folders along.
constexpr std::string_view kReplaced = "before-restore-";

bool IsKept(const fs::path& entry) {
  const auto name = entry.filename().string();
  return name == "lock" || name == "lost+found" || name.starts_with(kReplaced);
}

bool IsEmpty(const fs::path& data) {
  std::error_code problem;
  for (const auto& entry : fs::directory_iterator(data, problem)) {
    const auto name = entry.path().filename();
    if (name != "lock" && name != "lost+found" && name != kUnpacking) return false;
  }
  return true;
}

Result<> CheckFolder(const RestoreOptions& options) {
  if (IsEmpty(options.data) || options.force) return {};
  return Fail(ErrorCode::kConflict,
              "{} is not empty; move it away, name another folder, or give --force, which replaces "
              "what is in it and keeps that in a folder inside",
              options.data.string());
}

Result<> MakeFolder(const fs::path& data) {
  std::error_code problem;
  fs::create_directories(data, problem);
  if (problem)
    return Fail(ErrorCode::kUnavailable, "make folder {}: {}", data.string(), problem.message());
  chmod(data.c_str(), 0700);
  return {};
}

// Removes what was unpacked, unless it is kept.
struct Unpacked {
  fs::path folder;
  bool keep = false;
  ~Unpacked() {
    std::error_code ignored;
    if (!keep) fs::remove_all(folder, ignored);
  }
};

Result<> Sync(const fs::path& folder) {
  const int file = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const bool synced = file >= 0 && fsync(file) == 0;
  if (file >= 0) close(file);
  if (!synced) return Fail(ErrorCode::kUnavailable, "sync {}", folder.string());
  return {};
}

// The old content goes to `aside`, which is made when there is some. A crash leaves the folder
// marked as unfinished.
Result<> PutInPlace(const fs::path& unpacked, const fs::path& data, fs::path& aside) {
  const auto trouble = [&](const fs::path& path, const std::error_code& problem) {
    return Fail(ErrorCode::kUnavailable, "{}: {}; restore again with --force", path.string(),
                problem.message());
  };
  std::error_code problem;
  std::vector<fs::path> old;
  for (const auto& entry : fs::directory_iterator(data, problem))
    if (!IsKept(entry.path()) && entry.path() != unpacked) old.push_back(entry.path());
  if (old.empty())
    aside.clear();
  else if (fs::create_directory(aside, problem); problem)
    return trouble(aside, problem);
  for (const auto& path : old)
    if (fs::rename(path, aside / path.filename(), problem); problem) return trouble(path, problem);
  for (const auto& entry : fs::directory_iterator(unpacked, problem)) {
    fs::rename(entry.path(), data / entry.path().filename(), problem);
    if (problem) return trouble(entry.path(), problem);
  }
  if (auto synced = Sync(data); !synced) return synced;
  fs::remove(unpacked, problem);
  if (problem) return trouble(unpacked, problem);
  return Sync(data);
}

// From here on the folder is marked as unfinished, if it is not already.
Result<> Begin(const fs::path& data, Unpacked& unpacked) {
  std::error_code problem;
  const fs::path ready = data / kUnpacked;
  const fs::path stale = data / kStale;
  if (fs::exists(ready, problem)) {
    fs::remove_all(stale, problem);
    if (!problem) fs::rename(ready, stale, problem);
  }
  if (!problem) fs::rename(unpacked.folder, ready, problem);
  if (!problem) unpacked.folder = ready;
  if (!problem) fs::remove_all(stale, problem);
  if (problem) return Fail(ErrorCode::kUnavailable, "{}: {}", ready.string(), problem.message());
  return Sync(data);
}

Result<sqlite::FolderLock> TakeLock(const fs::path& data) {
  const fs::path path = data / "lock";
  if (::faccessat(AT_FDCWD, path.c_str(), R_OK | W_OK, AT_EACCESS) != 0 && errno == EACCES)
    return files::MayNotRead(path);
  auto lock = sqlite::FolderLock::Take(data);
  if (!lock && lock.error().code == ErrorCode::kConflict)
    return Fail(ErrorCode::kConflict, "{}; stop it first", lock.error().message);
  return lock;
}

Result<archive::Manifest> Unpack(const RestoreOptions& options, int file, const fs::path& into) {
  std::error_code problem;
  fs::remove_all(into, problem);
  fs::create_directory(into, problem);
  if (problem)
    return Fail(ErrorCode::kUnavailable, "make folder {}: {}", into.string(), problem.message());
  auto manifest = archive::ReadArchive(file, &into);
  if (!manifest)
    return Fail(manifest.error().code, "the backup {} {}; nothing was restored",
                options.file.string(), manifest.error().message);
  if (!manifest->parts.contains(sqlite::kRecordsFile))
    return Fail(ErrorCode::kInvalid, "the backup {} has no records; nothing was restored",
                options.file.string());
  return manifest;
}

// Nothing when the records go into the folder.
Result<std::unique_ptr<copy::Filling>> HoldDatabase(const RestoreOptions& options) {
  if (options.postgres.address.empty()) return nullptr;
  auto filling =
      copy::Filling::Begin(options.postgres, options.force ? copy::Filling::Over::kRecords
                                                           : copy::Filling::Over::kNothing);
  if (filling) return filling;
  return Fail(filling.error().code, "store.postgres: {}; nothing was restored{}",
              filling.error().message,
              filling.error().code == ErrorCode::kConflict && !options.force
                  ? ". --force replaces records, not a server that runs"
                  : "");
}

// What the restored store must lie above: all that was where it goes.
Result<sqlite::Marks> MarksBefore(const fs::path& data, const copy::Filling* filling) {
  sqlite::Marks above;
  const fs::path records = data / sqlite::kRecordsFile;
  if (::faccessat(AT_FDCWD, records.c_str(), R_OK, AT_EACCESS) != 0 && errno == EACCES)
    return files::MayNotRead(records);
  if (fs::exists(records))
    if (const auto marks = sqlite::ReadMarks(records)) above = *marks;
  if (filling == nullptr) return above;
  const sqlite::Marks& there = filling->Before();
  return sqlite::Marks{.term = std::max(above.term, there.term),
                       .number = std::max(above.number, there.number),
                       .id_space = std::max(above.id_space, there.id_space)};
}

// Moves records and output on from the unpacked folder into the database.
Result<> PutInDatabase(const fs::path& unpacked, copy::Filling& filling,
                       const BackupProgress& progress) {
  if (const auto put = FillFrom(unpacked, true, filling, progress); !put)
    return Fail(put.error().code, "store.postgres: {}; nothing was restored", put.error().message);
  if (const auto done = filling.Commit(); !done)
    return Fail(done.error().code, "store.postgres: {}", done.error().message);
  std::error_code problem;
  for (const char* part : {"", "-wal", "-shm"})
    fs::remove(unpacked / (std::string(sqlite::kRecordsFile) + part), problem);
  fs::remove_all(unpacked / "logs", problem);
  return {};
}

// When the records were last written; zero when there are none.
WallTime LastWritten(const fs::path& data) {
  WallTime last;
  for (const char* part : {"", "-wal"}) {
    struct stat status{};
    const auto file = data / (std::string(sqlite::kRecordsFile) + part);
    if (::stat(file.c_str(), &status) != 0) continue;
    last =
        std::max(last, WallTime{status.st_mtim.tv_sec * 1000 + status.st_mtim.tv_nsec / 1'000'000});
  }
  return last;
}

// What is lost when the unpacked backup takes the place of what is there, for a person.
std::string WhatIsReplaced(const fs::path& data, const fs::path& unpacked, WallTime taken,
                           WallTime written, bool database) {
  std::string text =
      fmt::format("{} is not empty{}. The backup is of {}", data.string(),
                  database ? ", and the database has records" : "", FormatTime(taken));
  if (written) text += fmt::format("; the records there were last written {}", FormatTime(written));
  text +=
      ".\nWhat was done since the backup is undone: tokens and keys that were revoked or changed "
      "since are valid again.\n";
  const auto mine = LoadCas(data);
  const auto theirs = LoadCas(unpacked);
  if (mine && theirs && std::ranges::find(theirs->ids, mine->ids.front()) == theirs->ids.end())
    text += fmt::format(
        "CA {} signs there, and the backup does not have it (it has {}): agents that trust only "
        "that one are cut off until they join again.\n",
        mine->ids.front(), fmt::join(theirs->ids, ", "));
  return text;
}

}  // namespace

Result<> CheckRestoreEnded(const fs::path& data) {
  if (!fs::exists(data / kUnpacked) && !fs::exists(data / kStale)) return {};
  return Fail(ErrorCode::kConflict,
              "a restore into {} did not come to its end; do it again: musterd restore FILE --data "
              "{} --force",
              data.string(), data.string());
}

Result<RestoreOutcome> RestoreBackup(const RestoreOptions& options, WallTime now) {
  const files::Fd file(::open(options.file.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file)
    return Fail(ErrorCode::kNotFound, "the backup {} cannot be read: {}; nothing was restored",
                options.file.string(), std::strerror(errno));
  // Read before anything is made, so that a wrong file leaves not even a folder.
  if (const auto checked = archive::ReadArchive(file.Get(), nullptr); !checked)
    return Fail(checked.error().code, "the backup {} {}; nothing was restored",
                options.file.string(), checked.error().message);
  if (auto checked = CheckFolder(options); !checked) return Fail(checked.error());
  const bool full = !IsEmpty(options.data);
  const WallTime written = LastWritten(options.data);
  const auto filling = HoldDatabase(options);
  if (!filling) return Fail(filling.error());
  if (auto made = MakeFolder(options.data); !made) return Fail(made.error());
  std::error_code problem;
  LastBackup note{.taken = {},
                  .bytes = fs::file_size(options.file, problem),
                  .file = fs::absolute(options.file, problem).string()};
  // From here on with the rights of the user whose server will use the folder.
  const auto rights = files::SwitchToOwner(options.data);
  if (!rights) return Fail(rights.error());
  const auto lock = TakeLock(options.data);
  if (!lock) return Fail(lock.error());

  Unpacked unpacked{options.data / kUnpacking};
  auto manifest = Unpack(options, file.Get(), unpacked.folder);
  if (!manifest) return Fail(manifest.error());
  note.taken = ParseTime(manifest->facts["taken"]);
  const Snapshot::Restored restored{
      .taken = note.taken, .at = now, .logs = manifest->facts["logs"] == "yes"};
  const bool database = *filling && (*filling)->Before().term > 0;
  if ((full || database) && options.agreed &&
      !options.agreed(WhatIsReplaced(options.data, unpacked.folder, note.taken, written, database)))
    return Fail(ErrorCode::kConflict, "not agreed; nothing was restored");
  const auto before = MarksBefore(options.data, filling->get());
  if (!before) return Fail(before.error());
  const auto marks =
      sqlite::MarkRestored(unpacked.folder / sqlite::kRecordsFile, restored, *before);
  if (!marks) return Fail(marks.error());
  if (auto noted = WriteLastBackup(unpacked.folder, note); !noted) return Fail(noted.error());
  if (auto begun = Begin(options.data, unpacked); !begun) return Fail(begun.error());
  if (*filling)
    if (auto put = PutInDatabase(unpacked.folder, **filling, options.progress); !put)
      return Fail(put.error());
  unpacked.keep = true;
  fs::path aside = options.data / fmt::format("{}{}", kReplaced, now.ms);
  if (auto placed = PutInPlace(unpacked.folder, options.data, aside); !placed)
    return Fail(placed.error());
  return RestoreOutcome{std::move(*manifest), std::move(aside), marks->term, marks->id_space};
}

}  // namespace muster::server
