#include "adapters/sqlite/restore_marks.hpp"

#include <algorithm>

#include "adapters/sqlite/database.hpp"
#include "adapters/sqlite/schema.hpp"
#include "domain/restore.hpp"

namespace muster::sqlite {
namespace {

Result<Marks> MarksOf(Database& database) {
  Marks marks;
  for (const auto& [sql, place] :
       {std::pair("SELECT term FROM fence", &marks.term),
        std::pair("SELECT number FROM fence", &marks.number),
        std::pair("SELECT number FROM meta WHERE name = 'id_space'", &marks.id_space)}) {
    const auto value = database.AskInt(sql);
    if (!value) return Fail(value.error());
    *place = static_cast<std::uint64_t>(*value);
  }
  return marks;
}

// A join token that was used up after the backup would be good again, for whoever has read it
// meanwhile; which ones those are is not known.
Result<> WriteMarks(Database& database, const Marks& marks, const Snapshot::Restored& restored) {
  const std::string sql = fmt::format(
      "BEGIN IMMEDIATE;"
      "DELETE FROM invite WHERE uses_left > 0;"
      "UPDATE fence SET term = {}, number = {};"
      "INSERT OR REPLACE INTO meta VALUES ('id_space', {}, x''), ('next_run', 1, x''),"
      " ('backup_taken', {}, x''), ('restored', {}, x''), ('restored_logs', {}, x''),"
      " ('restored_number', {}, x'');"
      "COMMIT;"
      "PRAGMA wal_checkpoint(TRUNCATE)",
      marks.term, marks.number, marks.id_space, restored.taken.ms, restored.at.ms,
      restored.logs ? 1 : 0, marks.number);
  return database.Execute(sql.c_str());
}

}  // namespace

Result<Marks> ReadMarks(const std::filesystem::path& file) {
  auto database = Database::Open(file, Database::Mode::kReadWrite);
  if (!database) return Fail(database.error());
  return MarksOf(**database);
}

Result<Marks> MarkRestored(const std::filesystem::path& file, const Snapshot::Restored& restored,
                           const Marks& above) {
  auto database = Database::Open(file, Database::Mode::kReadWrite);
  if (!database) return Fail(database.error());
  if (auto made = MakeRecordTables(**database); !made) return Fail(made.error());
  auto marks = MarksOf(**database);
  if (!marks) return marks;
  const std::uint64_t space = std::max(marks->id_space, above.id_space);
  const RestoreLeap leap = LeapOf(space, restored.taken, restored.at);
  if (leap.id_space == 0)
    return Fail(ErrorCode::kInvalid, "there is no id space left after {} restores", space);
  marks->term = std::max(marks->term, above.term) + leap.term;
  marks->number = std::max(marks->number, above.number) + leap.term;
  marks->id_space = space + leap.id_space;
  if (auto written = WriteMarks(**database, *marks, restored); !written)
    return Fail(written.error());
  return marks;
}

}  // namespace muster::sqlite
