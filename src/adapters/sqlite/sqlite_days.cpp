#include "adapters/sqlite/sqlite_days.hpp"

#include <algorithm>
#include <system_error>

#include "adapters/sqlite/checkpointer.hpp"
#include "adapters/sqlite/rows.hpp"
#include "adapters/sqlite/schema.hpp"

namespace muster::sqlite {
namespace {

constexpr std::size_t kReadersKept = 4;

// Of two chunks that begin together the longer one stays.
constexpr const char* kPutChunk = R"(
  INSERT INTO chunk (run, visit, ordinal, host, attempt, offset, stream, time, size, codec, data)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT DO UPDATE SET stream = excluded.stream, time = excluded.time, size = excluded.size,
                            codec = excluded.codec, data = excluded.data
  WHERE excluded.size > size)";

}  // namespace

SqliteDays::SqliteDays(std::filesystem::path folder) : folder_(std::move(folder)) {}

SqliteDays::~SqliteDays() = default;

Result<> SqliteDays::List() {
  std::error_code problem;
  std::filesystem::create_directories(folder_, problem);
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder_, problem))
    if (entry.path().extension() == ".db") names.push_back(entry.path().stem().string());
  if (problem)
    return Fail(ErrorCode::kUnavailable, "list {}: {}", folder_.string(), problem.message());
  for (const auto& name : names) {
    // Opened for writing once: that undoes what a crash left half written, which readers may not.
    auto opened = Database::Open(FileOf(name), Database::Mode::kReadWrite);
    const Result<> made = opened ? MakeLogTables(**opened) : Fail(opened.error());
    if (!made)
      return Fail(made.error().code, "{}: {}; move the file away to go on without it",
                  FileOf(name).string(), made.error().message);
    Add(name);
  }
  return {};
}

SqliteDays::Day* SqliteDays::Find(const std::string& name) {
  const auto found = std::ranges::find(days_, name, &Day::name);
  return found == days_.end() ? nullptr : &*found;
}

void SqliteDays::Add(const std::string& day) {
  base::Lock lock(mutex_);
  if (Find(day) != nullptr) return;
  const auto place = std::ranges::lower_bound(days_, day, {}, &Day::name);
  days_.insert(place, Day{.name = day, .runs = {}, .reader = {}});
}

Result<std::size_t> SqliteDays::DropBefore(const std::string& day) {
  // The file of a silent month is still open for the next byte.
  if (database_ && today_ < day) CloseToday();
  base::Lock lock(mutex_);
  std::size_t dropped = 0;
  while (!days_.empty() && days_.front().name < day) {
    days_.front().reader.reset();
    const std::string file = FileOf(days_.front().name).string();
    std::error_code problem;
    for (const char* part : {"-wal", "-shm", ""}) {
      std::filesystem::remove(file + part, problem);
      if (problem)
        return Fail(ErrorCode::kUnavailable, "remove {}{}: {}", file, part, problem.message());
    }
    days_.erase(days_.begin());
    ++dropped;
  }
  return dropped;
}

void SqliteDays::Saw(const std::string& day, const std::vector<logs::LogPiece>& pieces) {
  base::Lock lock(mutex_);
  Day* found = Find(day);
  // Not looked up yet: the look will see these runs too.
  if (found == nullptr || !found->runs) return;
  for (const auto& piece : pieces) {
    found->runs->first = std::min(found->runs->first, piece.task.run.value);
    found->runs->last = std::max(found->runs->last, piece.task.run.value);
  }
}

Result<> SqliteDays::OpenToday(const std::string& day) {
  if (database_ && day == today_) return {};
  CloseToday();
  const auto file = FileOf(day);
  auto opened = Database::Open(file, Database::Mode::kReadWrite);
  if (!opened) return Fail(opened.error());
  if (auto made = MakeLogTables(**opened); !made) return made;
  auto put_chunk = (*opened)->Prepare(kPutChunk);
  if (!put_chunk) return Fail(put_chunk.error());
  database_ = std::move(*opened);
  put_chunk_ = *put_chunk;
  checkpointer_ = std::make_unique<Checkpointer>(file);
  database_->OnWal([this](int pages) { checkpointer_->Tell(pages); });
  today_ = day;
  Add(day);
  return {};
}

void SqliteDays::CloseToday() {
  put_chunk_ = nullptr;
  database_.reset();
  checkpointer_.reset();
}

Result<bool> SqliteDays::WritePiece(const logs::LogPiece& piece) {
  const TaskKey& task = piece.task;
  put_chunk_->Id(task.run.value).Int(task.visit.value).Int(task.ordinal).Id(task.host.value);
  put_chunk_->Int(task.attempt.value).Id(piece.offset);
  put_chunk_->Int(static_cast<std::int64_t>(piece.stream)).Int(piece.time.ms).Id(piece.size);
  put_chunk_->Int(static_cast<std::int64_t>(piece.codec)).Blob(piece.data);
  if (auto put = put_chunk_->Run(); !put) return Fail(put.error());
  return database_->Changes() > 0;
}

Result<logs::Written> SqliteDays::Write(const std::string& day,
                                        const std::vector<logs::LogPiece>& pieces) {
  const auto write = [&]() -> Result<logs::Written> {
    if (auto opened = OpenToday(day); !opened) return Fail(opened.error());
    if (auto begun = database_->Execute("BEGIN IMMEDIATE"); !begun) return Fail(begun.error());
    logs::Written written;
    for (const auto& piece : pieces) {
      auto added = WritePiece(piece);
      if (!added) return Fail(added.error());
      written.added.push_back(*added);
    }
    auto ended = database_->Execute("COMMIT");
    if (ended) return written;
    const bool open = OutcomeIsOpen(database_->Handle());
    return Fail(open ? ErrorCode::kTimeout : ended.error().code, "{}", ended.error().message);
  };
  auto written = write();
  if (written)
    Saw(day, pieces);
  else if (database_)
    database_->Rollback();
  return written;
}

Result<Database*> SqliteDays::ReaderOf(Day& day) {
  day.used = ++uses_;
  if (day.reader) return day.reader.get();
  auto opened = Database::Open(FileOf(day.name), Database::Mode::kReadOnly);
  if (!opened) return Fail(opened.error());
  day.reader = std::move(*opened);
  Day* oldest = nullptr;
  std::size_t open = 0;
  for (auto& other : days_) {
    if (!other.reader) continue;
    ++open;
    if (oldest == nullptr || other.used < oldest->used) oldest = &other;
  }
  if (open > kReadersKept) oldest->reader.reset();
  return day.reader.get();
}

Result<bool> SqliteDays::MayHave(Day& day, RunId run) {
  if (!day.runs) {
    auto reader = ReaderOf(day);
    if (!reader) return Fail(reader.error());
    auto tables = (*reader)->AskInt("SELECT count(*) FROM sqlite_master WHERE name = 'chunk'");
    if (!tables) return Fail(tables.error());
    // A crash can leave a day's file before its table was made: nothing was kept in it. Not
    // remembered, as the writer may make the table yet.
    if (*tables == 0) return false;
    auto first = (*reader)->AskInt("SELECT ifnull(min(run), -1) FROM chunk");
    if (!first) return Fail(first.error());
    auto last = (*reader)->AskInt("SELECT ifnull(max(run), 0) FROM chunk");
    if (!last) return Fail(last.error());
    day.runs = Runs{.first = static_cast<std::uint64_t>(*first),
                    .last = static_cast<std::uint64_t>(*last)};
  }
  return day.runs->first <= run.value && run.value <= day.runs->last;
}

Result<> SqliteDays::ReadDay(Day& day, const logs::PieceQuery& query, logs::FoundPieces& found) {
  auto reader = ReaderOf(day);
  if (!reader) return Fail(reader.error());
  auto statement = (*reader)->Prepare(
      query.with_data
          ? "SELECT offset, stream, time, size, codec, data FROM chunk WHERE run = ? AND"
            " visit = ? AND ordinal = ? AND host = ? AND attempt = ? AND offset > ?"
            " AND offset < ? AND offset + size > ? ORDER BY offset LIMIT ?"
          : "SELECT offset, stream, time, size, codec FROM chunk WHERE run = ? AND"
            " visit = ? AND ordinal = ? AND host = ? AND attempt = ? AND offset > ?"
            " AND offset < ? AND offset + size > ? ORDER BY offset LIMIT ?");
  if (!statement) return Fail(statement.error());
  const TaskKey& task = query.task;
  (*statement)->Id(task.run.value).Int(task.visit.value).Int(task.ordinal).Id(task.host.value);
  (*statement)->Int(task.attempt.value).Int(query.After()).Id(query.until);
  (*statement)->Id(query.from).Id(query.most);
  const std::size_t first = found.pieces.size();
  auto read = EachRow(**statement, [&](const Row& row) -> Result<> {
    found.pieces.push_back({.task = task,
                            .offset = row.Id(0),
                            .stream = static_cast<Stream>(row.Int(1)),
                            .time = {row.Int(2)},
                            .size = row.Id(3),
                            .codec = static_cast<logs::Codec>(row.Int(4)),
                            .data = query.with_data ? row.Text(5) : std::string()});
    return {};
  });
  found.EndDay(query, first);
  return read;
}

Result<logs::FoundPieces> SqliteDays::Read(const logs::PieceQuery& query) {
  logs::FoundPieces found{.pieces = {}, .until = query.until};
  base::Lock lock(mutex_);
  for (auto& day : days_) {
    auto may_have = MayHave(day, query.task.run);
    if (!may_have) return Fail(may_have.error());
    if (!*may_have) continue;
    if (auto read = ReadDay(day, query, found); !read) return Fail(read.error());
  }
  return found;
}

}  // namespace muster::sqlite
