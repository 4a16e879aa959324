#include "adapters/sqlite/log_days.hpp"

#include <algorithm>
#include <limits>
#include <system_error>

#include "adapters/records/compress.hpp"
#include "adapters/sqlite/rows.hpp"
#include "adapters/sqlite/schema.hpp"

namespace muster::sqlite {
namespace {

constexpr std::size_t kReadersKept = 4;
constexpr std::uint64_t kMostOffset = std::numeric_limits<std::int64_t>::max();

Result<std::string> DataOf(std::string stored, ChunkCodec codec, std::uint64_t size) {
  if (codec == ChunkCodec::kRaw) return stored;
  auto data = records::Decompress(stored, kMostInChunk);
  if (data && data->size() != size)
    return Fail(ErrorCode::kInternal, "record: a chunk of another size than it says");
  return data;
}

}  // namespace

Result<> LogDays::List() {
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

LogDays::Day* LogDays::Find(const std::string& name) {
  const auto found = std::ranges::find(days_, name, &Day::name);
  return found == days_.end() ? nullptr : &*found;
}

void LogDays::Add(const std::string& day) {
  base::Lock lock(mutex_);
  if (Find(day) != nullptr) return;
  const auto place = std::ranges::lower_bound(days_, day, {}, &Day::name);
  days_.insert(place, Day{.name = day, .runs = {}, .reader = {}});
}

Result<std::size_t> LogDays::DropBefore(const std::string& day) {
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

void LogDays::Saw(const std::string& day, RunId run) {
  base::Lock lock(mutex_);
  Day* found = Find(day);
  // Not looked up yet: the look will see this run too.
  if (found == nullptr || !found->runs) return;
  found->runs->first = std::min(found->runs->first, run.value);
  found->runs->last = std::max(found->runs->last, run.value);
}

Result<Database*> LogDays::ReaderOf(Day& day) {
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

Result<bool> LogDays::MayHave(Day& day, RunId run) {
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

Result<> LogDays::RowsOf(Day& day, const TaskKey& task, std::uint64_t from, std::uint64_t until,
                         bool with_data, std::vector<Row>& rows) {
  auto reader = ReaderOf(day);
  if (!reader) return Fail(reader.error());
  auto statement = (*reader)->Prepare(
      with_data ? "SELECT offset, stream, time, size, codec, data FROM chunk WHERE run = ? AND"
                  " visit = ? AND ordinal = ? AND host = ? AND attempt = ? AND offset > ?"
                  " AND offset < ? ORDER BY offset"
                : "SELECT offset, stream, time, size, codec FROM chunk WHERE run = ? AND"
                  " visit = ? AND ordinal = ? AND host = ? AND attempt = ? AND offset > ?"
                  " AND offset < ? ORDER BY offset");
  if (!statement) return Fail(statement.error());
  const std::int64_t after =
      from < kMostInChunk ? -1 : static_cast<std::int64_t>(from - kMostInChunk);
  (*statement)->Id(task.run.value).Int(task.visit.value).Int(task.ordinal).Id(task.host.value);
  (*statement)->Int(task.attempt.value).Int(after).Id(until);
  return EachRow(**statement, [&](const Statement& row) -> Result<> {
    const std::uint64_t offset = row.ColumnId(0);
    const std::uint64_t size = row.ColumnId(3);
    if (offset + size <= from) return {};
    rows.push_back({.chunk = {.task = task,
                              .offset = offset,
                              .stream = static_cast<Stream>(row.ColumnInt(1)),
                              .time = {row.ColumnInt(2)},
                              .data = with_data ? row.ColumnText(5) : std::string()},
                    .size = size,
                    .codec = static_cast<ChunkCodec>(row.ColumnInt(4)),
                    .came = rows.size()});
    return {};
  });
}

Result<std::vector<LogDays::Row>> LogDays::Rows(const TaskKey& task, std::uint64_t from,
                                                std::uint64_t until, bool with_data) {
  std::vector<Row> rows;
  base::Lock lock(mutex_);
  for (auto& day : days_) {
    auto may_have = MayHave(day, task.run);
    if (!may_have) return Fail(may_have.error());
    if (!*may_have) continue;
    if (auto read = RowsOf(day, task, from, until, with_data, rows); !read)
      return Fail(read.error());
  }
  std::ranges::sort(rows, {}, [](const Row& row) { return std::pair(row.chunk.offset, row.came); });
  return rows;
}

Result<std::vector<LogChunk>> LogDays::Read(const TaskKey& task, std::uint64_t from,
                                            std::size_t limit) {
  from = std::min(from, kMostOffset);
  const std::uint64_t until = limit > kMostOffset - from ? kMostOffset : from + limit;
  auto rows = Rows(task, from, until, true);
  if (!rows) return Fail(rows.error());
  std::vector<LogChunk> chunks;
  std::uint64_t at = from;
  for (auto& row : *rows) {
    const std::uint64_t begin = row.chunk.offset;
    if (begin + row.size <= at) continue;
    auto data = DataOf(std::move(row.chunk.data), row.codec, row.size);
    if (!data) return Fail(data.error());
    at = std::max(at, begin);
    row.chunk.offset = at;
    row.chunk.data = data->substr(at - begin, until - at);
    at += row.chunk.data.size();
    chunks.push_back(std::move(row.chunk));
    if (at >= until) break;
  }
  return chunks;
}

Result<std::uint64_t> LogDays::DurableEnd(const TaskKey& task) {
  auto rows = Rows(task, 0, kMostOffset, false);
  if (!rows) return Fail(rows.error());
  std::uint64_t end = 0;
  for (const auto& row : *rows) {
    if (row.chunk.offset > end) break;
    end = std::max(end, row.chunk.offset + row.size);
  }
  return end;
}

}  // namespace muster::sqlite
