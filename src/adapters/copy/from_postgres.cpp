#include "adapters/copy/from_postgres.hpp"

#include "adapters/copy/sessions.hpp"
#include "adapters/copy/tuples.hpp"
#include "adapters/postgres/day_tables.hpp"
#include "adapters/postgres/schema.hpp"
#include "adapters/sqlite/schema.hpp"

namespace muster::copy {
namespace {

constexpr int kTries = 3;

constexpr const char* kBegin =
    "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL statement_timeout = 0;"
    " SET LOCAL idle_in_transaction_session_timeout = 0";

// No other process knows the file yet, and one that is not finished is discarded.
constexpr const char* kNoJournal = "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN";

void Bind(const CopyTable& table, const std::vector<Cell>& row, sqlite::Statement& statement) {
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (row[i].null)
      statement.Null();
    else if (table.types[i] == 'i')
      statement.Int(NumberOf(row[i]));
    else if (table.types[i] == 't')
      statement.Text(row[i].bytes);
    else
      statement.Blob(row[i].bytes);
  }
}

template <typename MakeTables>
Result<std::unique_ptr<sqlite::Database>> NewFile(const std::filesystem::path& file,
                                                  MakeTables make_tables) {
  auto made = sqlite::Database::Open(file, sqlite::Database::Mode::kReadWrite);
  if (!made) return made;
  if (auto tables = make_tables(**made); !tables) return Fail(tables.error());
  if (auto begun = (*made)->Execute(kNoJournal); !begun) return Fail(begun.error());
  return made;
}

}  // namespace

Result<std::unique_ptr<Moment>> Moment::Begin(const PostgresOptions& from, bool output) {
  for (int tries = 1;; ++tries) {
    auto connection = postgres::Connection::Open(PatientOptions(from), postgres::Purpose::kRead);
    if (!connection) return Fail(connection.error());
    std::unique_ptr<Moment> moment(new Moment(std::move(*connection)));
    const auto begun = moment->Start(output);
    if (begun) return moment;
    // A day may be dropped between the list and the lock.
    if (tries == kTries || begun.error().code == ErrorCode::kConflict ||
        begun.error().code == ErrorCode::kNotFound)
      return Fail(begun.error());
  }
}

Result<> Moment::Start(bool output) {
  if (auto same = postgres::CheckSame(*connection_, postgres::RecordSteps()); !same) return same;
  if (auto begun = connection_->Execute(kBegin); !begun) return begun;
  const auto fence = connection_->Ask("SELECT term FROM fence");
  if (!fence) return Fail(fence.error());
  if (fence->Count() == 0 || fence->At(0).Int(0) == 0)
    return Fail(ErrorCode::kNotFound, "the database holds no records");
  if (!output) return {};
  const auto tables = postgres::ListDayTables(*connection_);
  if (!tables) return Fail(tables.error());
  for (const auto& table : *tables) {
    if (auto held = connection_->Execute("LOCK TABLE " + table + " IN ACCESS SHARE MODE"); !held)
      return held;
    days_.push_back(postgres::DayOf(table));
  }
  return {};
}

Result<std::uint64_t> Moment::Take(const CopyTable& table, std::string_view name,
                                   sqlite::Database& into, std::string_view shown,
                                   const Progress& progress) {
  auto put = into.Prepare(SqliteWrite(table));
  if (!put) return Fail(put.error());
  TupleReader reader;
  std::vector<Cell> row;
  std::uint64_t count = 0;
  const auto take = [&](std::string_view bytes) -> Result<> {
    reader.Add(bytes);
    while (true) {
      const auto more = reader.Next(table.types.size(), row);
      if (!more) return Fail(more.error());
      if (!*more) return {};
      Bind(table, row, **put);
      if (auto done = (*put)->Run(); !done) return done;
      if (++count % kBetweenWords == 0 && progress) progress(shown, count);
    }
  };
  if (auto read = connection_->CopyOut(PostgresRead(table, name), take); !read)
    return Fail(read.error());
  if (!reader.Ended()) return Fail(ErrorCode::kInternal, "the last row did not come");
  if (progress) progress(shown, count);
  return count;
}

Result<std::vector<Copied>> Moment::TakeRecords(const std::filesystem::path& file,
                                                const Progress& progress) {
  auto into = NewFile(file, sqlite::MakeRecordTables);
  if (!into) return Fail(into.error());
  std::vector<Copied> copied;
  for (const auto& table : RecordTables()) {
    // Fresh tables of records have rows of their own.
    const std::string empty = fmt::format("DELETE FROM {}", table.sqlite);
    auto count = (*into)->Execute(empty.c_str())
                     ? Take(table, table.postgres, **into, table.sqlite, progress)
                     : Result<std::uint64_t>(Fail(ErrorCode::kInternal, "{}", empty));
    if (!count) return Fail(count.error().code, "copy {}: {}", table.sqlite, count.error().message);
    copied.push_back({table.sqlite, *count});
  }
  if (auto done = (*into)->Execute("COMMIT"); !done) return Fail(done.error());
  return copied;
}

Result<Copied> Moment::TakeDay(const std::string& day, const std::filesystem::path& file,
                               const Progress& progress) {
  auto into = NewFile(file, sqlite::MakeLogTables);
  if (!into) return Fail(into.error());
  const auto count = Take(DayTable(), postgres::DayTable(day), **into, day, progress);
  if (!count) return Fail(count.error().code, "copy {}: {}", day, count.error().message);
  if (auto done = (*into)->Execute("COMMIT"); !done) return Fail(done.error());
  return Copied{day, *count};
}

}  // namespace muster::copy
