#include "adapters/postgres/postgres_days.hpp"

#include <algorithm>

#include "adapters/postgres/day_tables.hpp"
#include "adapters/postgres/rows.hpp"
#include "adapters/postgres/sqlstate.hpp"

namespace muster::postgres {
namespace {

// Tables come and go under one lock, so that servers that need the same one at once do not meet.
constexpr const char* kBeginDay = "BEGIN; SELECT pg_advisory_xact_lock(7309453022)";

// Answers with the key of each piece that was not there, or was shorter.
constexpr const char* kPutChunks = R"(
  INSERT INTO {0} AS o SELECT * FROM unnest(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT (run, visit, ordinal, host, attempt, start) DO UPDATE SET
    stream = excluded.stream, time = excluded.time, size = excluded.size, codec = excluded.codec,
    data = excluded.data
  WHERE excluded.size > o.size
  RETURNING run, visit, ordinal, host, attempt, start)";

constexpr std::size_t kNumbers = 10;  // columns before the data
constexpr std::size_t kKeys = 6;

std::array<std::int64_t, kNumbers> NumbersOf(const logs::LogPiece& piece) {
  const TaskKey& task = piece.task;
  return {static_cast<std::int64_t>(task.run.value),
          task.visit.value,
          task.ordinal,
          static_cast<std::int64_t>(task.host.value),
          task.attempt.value,
          static_cast<std::int64_t>(piece.offset),
          static_cast<std::int64_t>(piece.stream),
          piece.time.ms,
          static_cast<std::int64_t>(piece.size),
          static_cast<std::int64_t>(piece.codec)};
}

using Key = std::array<std::int64_t, kKeys>;

Key KeyOf(const logs::LogPiece& piece) {
  Key key;
  const auto numbers = NumbersOf(piece);
  std::copy_n(numbers.begin(), kKeys, key.begin());
  return key;
}

// Of pieces that begin together the longest: a statement takes each key once.
std::map<Key, const logs::LogPiece*> Longest(const std::vector<logs::LogPiece>& pieces) {
  std::map<Key, const logs::LogPiece*> longest;
  for (const auto& piece : pieces) {
    const auto [place, made] = longest.try_emplace(KeyOf(piece), &piece);
    if (!made && place->second->size < piece.size) place->second = &piece;
  }
  return longest;
}

Params ColumnsOf(const std::map<Key, const logs::LogPiece*>& pieces) {
  std::vector<ArrayBuilder> columns(kNumbers, ArrayBuilder(kInt8));
  ArrayBuilder data(kBytea);
  for (const auto& [key, piece] : pieces) {
    const auto numbers = NumbersOf(*piece);
    for (std::size_t i = 0; i < kNumbers; ++i) columns[i].Int(numbers[i]);
    data.Bytes(piece->data);
  }
  Params params;
  for (auto& column : columns) params.Array(kInt8Array, std::move(column).Take());
  params.Array(kByteaArray, std::move(data).Take());
  return params;
}

logs::LogPiece PieceOf(const TaskKey& task, const Row& row, bool with_data) {
  return {.task = task,
          .offset = row.Id(0),
          .stream = static_cast<Stream>(row.Int(1)),
          .time = {row.Int(2)},
          .size = row.Id(3),
          .codec = static_cast<logs::Codec>(row.Int(4)),
          .data = with_data ? row.Text(5) : std::string()};
}

}  // namespace

PostgresDays::PostgresDays(PostgresOptions options)
    : options_(std::move(options)), readers_(options_) {}

Result<> PostgresDays::Connect() {
  if (connection_ && connection_->Alive()) return {};
  connection_.reset();
  auto opened = Connection::Open(options_, Purpose::kAppend);
  if (!opened) return Fail(opened.error());
  connection_ = std::move(*opened);
  return {};
}

Result<> PostgresDays::MakeDay(const std::string& table) {
  auto made = connection_->Execute(kBeginDay);
  if (made) made = connection_->Execute(MakeDayTable(table) + "; COMMIT");
  if (!made) connection_->Rollback();
  if (made) today_ = table;
  return made;
}

Result<logs::Written> PostgresDays::Write(const std::string& day,
                                          const std::vector<logs::LogPiece>& pieces) {
  if (auto connected = Connect(); !connected) return Fail(connected.error());
  const std::string table = DayTable(day);
  if (today_ != table)
    if (auto made = MakeDay(table); !made) return Fail(made.error());
  auto written = Insert(table, pieces);
  if (written || connection_->LastState() != kStateNoTable) return written;
  // Another server's clock is ahead, and it dropped the day.
  if (auto made = MakeDay(table); !made) return Fail(made.error());
  return Insert(table, pieces);
}

Result<logs::Written> PostgresDays::Insert(const std::string& table,
                                           const std::vector<logs::LogPiece>& pieces) {
  const auto longest = Longest(pieces);
  const std::string put = fmt::format(kPutChunks, table);
  auto answers =
      connection_->Transact({{put, ColumnsOf(longest)}, {"SELECT dropped FROM log_drops"}});
  if (!answers) return Fail(answers.error());
  std::map<Key, bool> added;
  const Rows& rows = answers->front();
  for (int i = 0; i < rows.Count(); ++i) {
    Key key;
    for (std::size_t column = 0; column < kKeys; ++column)
      key[column] = rows.At(i).Int(static_cast<int>(column));
    added[key] = true;
  }
  logs::Written written;
  for (const auto& piece : pieces) written.added.push_back(added.contains(KeyOf(piece)));
  const Rows& drops = answers->back();
  const std::uint64_t dropped = drops.Count() > 0 ? drops.At(0).Id(0) : 0;
  written.dropped = drops_ && *drops_ != dropped;
  drops_ = dropped;
  return written;
}

Result<bool> PostgresDays::MayHave(Connection& connection, const std::string& table, RunId run) {
  {
    base::Lock lock(mutex_);
    const auto found = runs_.find(table);
    if (found != runs_.end())
      return found->second.first <= run.value && run.value <= found->second.last;
  }
  auto runs = ReadOne<Runs>(connection,
                            fmt::format("SELECT (SELECT run FROM {0} ORDER BY run LIMIT 1),"
                                        " (SELECT run FROM {0} ORDER BY run DESC LIMIT 1)",
                                        table),
                            {}, [](const Row& row) -> Result<Runs> {
                              if (row.IsNull(0)) return Runs();
                              return Runs{.first = row.Id(0), .last = row.Id(1)};
                            });
  if (!runs) return Fail(runs.error());
  base::Lock lock(mutex_);
  const Runs found = runs_[table] = **runs;
  return found.first <= run.value && run.value <= found.last;
}

Result<logs::FoundPieces> PostgresDays::Read(const logs::PieceQuery& query) {
  const auto read = [&](Connection& connection) -> Result<logs::FoundPieces> {
    auto tables = ListDayTables(connection);
    if (!tables) return Fail(tables.error());
    logs::FoundPieces found{.pieces = {}, .until = query.until};
    for (std::size_t i = 0; i < tables->size(); ++i) {
      const std::string& table = (*tables)[i];
      // The last two may still grow: a server's clock may be a little behind.
      if (i + 2 < tables->size()) {
        const auto may_have = MayHave(connection, table, query.task.run);
        if (!may_have && connection.LastState() == kStateNoTable) continue;
        if (!may_have) return Fail(may_have.error());
        if (!*may_have) continue;
      }
      auto rows = connection.Ask(
          fmt::format("SELECT start, stream, time, size, codec{} FROM {} WHERE run = ? AND"
                      " visit = ? AND ordinal = ? AND host = ? AND attempt = ? AND start > ?"
                      " AND start < ? AND start + size > ? ORDER BY start LIMIT ?",
                      query.with_data ? ", data" : "", table),
          Params()
              .Id(query.task.run.value)
              .Int(query.task.visit.value)
              .Int(query.task.ordinal)
              .Id(query.task.host.value)
              .Int(query.task.attempt.value)
              .Int(query.After())
              .Id(query.until)
              .Id(query.from)
              .Id(query.most));
      if (!rows && connection.LastState() == kStateNoTable)
        continue;  // dropped since it was listed
      if (!rows) return Fail(rows.error());
      const std::size_t first = found.pieces.size();
      for (int row = 0; row < rows->Count(); ++row)
        found.pieces.push_back(PieceOf(query.task, rows->At(row), query.with_data));
      found.EndDay(query, first);
    }
    return found;
  };
  return readers_.Ask<logs::FoundPieces>("read logs", read);
}

Result<std::size_t> PostgresDays::DropTables(const std::string& first_kept) {
  auto tables = ListDayTables(*connection_);
  if (!tables) return Fail(tables.error());
  std::size_t dropped = 0;
  for (const auto& table : *tables) {
    if (table >= first_kept) break;
    if (auto gone = connection_->Execute("DROP TABLE " + table); !gone) return Fail(gone.error());
    ++dropped;
  }
  if (dropped == 0) return dropped;
  auto counted =
      connection_->Ask("UPDATE log_drops SET dropped = dropped + ?", Params().Id(dropped));
  if (!counted) return Fail(counted.error());
  return dropped;
}

Result<std::size_t> PostgresDays::DropBefore(const std::string& day) {
  const auto drop = [&]() -> Result<std::size_t> {
    if (auto connected = Connect(); !connected) return Fail(connected.error());
    if (auto begun = connection_->Execute(kBeginDay); !begun) return Fail(begun.error());
    auto dropped = DropTables(DayTable(day));
    auto ended = dropped ? connection_->Execute("COMMIT") : Result<>(Fail(dropped.error()));
    if (!ended) return Fail(ended.error());
    return dropped;
  };
  auto dropped = drop();
  if (dropped && drops_) *drops_ += *dropped;  // its caller knows of these
  if (dropped) return dropped;
  if (connection_) connection_->Rollback();
  return Fail(dropped.error().code, "postgres: drop logs before {}: {}", day,
              dropped.error().message);
}

}  // namespace muster::postgres
