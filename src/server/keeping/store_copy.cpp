#include "server/keeping/store_copy.hpp"

#include <algorithm>
#include <system_error>

#include "adapters/sqlite/folder_lock.hpp"
#include "adapters/sqlite/records_file.hpp"
#include "adapters/sqlite/restore_marks.hpp"
#include "adapters/sqlite/schema.hpp"
#include "server/keeping/backup.hpp"
#include "server/keeping/moved.hpp"

namespace muster::server {
namespace {

namespace fs = std::filesystem;

Result<> CheckSource(const fs::path& data) {
  if (!fs::exists(data / sqlite::kRecordsFile))
    return Fail(ErrorCode::kNotFound, "{} is not the data folder of a musterd: it has no {}",
                data.string(), sqlite::kRecordsFile);
  if (auto ended = CheckRestoreEnded(data); !ended) return ended;
  return CheckNotMoved(data);
}

// Open for writing, as that undoes what a crash left half written.
Result<std::unique_ptr<sqlite::Database>> OpenAtOneMoment(const fs::path& file) {
  auto database = sqlite::Database::Open(file, sqlite::Database::Mode::kReadWrite);
  if (!database) return database;
  if (auto begun = (*database)->Execute("BEGIN"); !begun) return Fail(begun.error());
  return database;
}

}  // namespace

std::vector<fs::path> DayFiles(const fs::path& data) {
  std::vector<fs::path> files;
  std::error_code problem;
  for (const auto& entry : fs::directory_iterator(data / "logs", problem))
    if (entry.path().extension() == ".db") files.push_back(entry.path());
  std::ranges::sort(files);
  return files;
}

Result<StoreCopyOutcome> FillFrom(const fs::path& folder, bool logs, copy::Filling& filling,
                                  const copy::Progress& progress) {
  StoreCopyOutcome outcome;
  const auto records = OpenAtOneMoment(folder / sqlite::kRecordsFile);
  if (!records) return Fail(records.error());
  auto copied = filling.PutRecords(**records, progress);
  if (!copied) return Fail(copied.error());
  outcome.records = std::move(*copied);
  for (const auto& file : logs ? DayFiles(folder) : std::vector<fs::path>()) {
    const auto day = OpenAtOneMoment(file);
    if (!day) return Fail(day.error());
    auto put = filling.PutDay(file.stem().string(), **day, progress);
    if (!put) return Fail(put.error());
    outcome.days.push_back(std::move(*put));
  }
  return outcome;
}

Result<StoreCopyOutcome> CopyStore(const StoreCopyOptions& options, WallTime now) {
  if (auto usable = CheckSource(options.data); !usable) return Fail(usable.error());
  const auto lock = sqlite::FolderLock::Take(options.data);
  if (!lock) return Fail(lock.error().code, "{}; stop it first", lock.error().message);
  {
    auto records = sqlite::Database::Open(options.data / sqlite::kRecordsFile,
                                          sqlite::Database::Mode::kReadWrite);
    if (!records) return Fail(records.error());
    if (auto made = sqlite::MakeRecordTables(**records); !made) return Fail(made.error());
  }
  const auto marks = sqlite::ReadMarks(options.data / sqlite::kRecordsFile);
  if (!marks) return Fail(marks.error());
  auto filling = copy::Filling::Begin(options.to, copy::Filling::Over::kNothing);
  if (!filling)
    return Fail(filling.error().code, "postgres: {}; nothing was copied{}", filling.error().message,
                filling.error().code == ErrorCode::kConflict
                    ? ": name a database without records and without a server"
                    : "");
  auto outcome = FillFrom(options.data, options.logs, **filling, options.progress);
  if (!outcome)
    return Fail(outcome.error().code, "{}; nothing was copied", outcome.error().message);
  if (auto done = (*filling)->Commit(); !done)
    return Fail(done.error().code, "postgres: {}", done.error().message);
  outcome->term = marks->term;
  outcome->number = marks->number;
  if (auto marked = MarkMoved(options.data, now); !marked)
    return Fail(marked.error().code,
                "all was copied, but the folder cannot be marked ({}): never start a server on {} "
                "without store.postgres",
                marked.error().message, options.data.string());
  return outcome;
}

}  // namespace muster::server
