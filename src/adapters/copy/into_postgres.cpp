#include "adapters/copy/into_postgres.hpp"

#include <algorithm>

#include "adapters/copy/sessions.hpp"
#include "adapters/copy/tuples.hpp"
#include "adapters/postgres/day_tables.hpp"
#include "adapters/postgres/schema.hpp"
#include "adapters/records/row_values.hpp"
#include "adapters/sqlite/rows.hpp"

namespace muster::copy {
namespace {

constexpr std::size_t kPiece = 1 << 18;  // bytes sent at once

// A leader's session for its batches bears this name (postgres/connection.cpp).
constexpr const char* kLeaders =
    "SELECT pid::bigint, convert_to(coalesce(host(client_addr), 'this machine'), 'UTF8')"
    " FROM pg_stat_activity WHERE datname = current_database()"
    " AND application_name = left('musterd writer of ' || coalesce(current_schema(), ''), 63)";

// A session that was closed a moment ago is listed until its process has ended.
constexpr int kLooks = 15;
constexpr const char* kBetweenLooks = "SELECT pg_sleep(0.2)";

// Held to the end: a server that wants a term waits for it. Whoever takes a term ends sessions that
// changed the fence, so that is done last of all.
constexpr const char* kHold =
    "BEGIN; SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0;"
    " LOCK TABLE fence IN ACCESS EXCLUSIVE MODE";

// Attempts that have ended and whose log is open.
std::string PutOpenLogs() {
  return fmt::format(
      "INSERT INTO open_log SELECT run, visit, ordinal, attempt FROM task"
      " WHERE log_state = {} AND state >= {}",
      records::kOpenLog, records::kFirstFinalTask);
}
constexpr const char* kGoOnAfterNodes =
    "SELECT setval(pg_get_serial_sequence('node', 'id'),"
    " (SELECT coalesce(max(id), 0) + 1 FROM node), false)";

void PutRow(const CopyTable& table, const sqlite::Row& row, TupleWriter& to) {
  to.Row(table.types.size());
  for (std::size_t i = 0; i < table.types.size(); ++i) {
    const int column = static_cast<int>(i);
    if (table.types[i] == 'i') {
      to.Int(row.Int(column));
      continue;
    }
    const std::string_view bytes = row.Bytes(column);
    if (table.types[i] == 'n' && bytes.empty())
      to.Null();
    else
      to.Bytes(bytes);
  }
}

Result<> PutRows(sqlite::Database& from, const CopyTable& table, TupleWriter& to,
                 const std::function<Result<>()>& sent) {
  auto rows = from.Prepare(SqliteRead(table));
  if (!rows) return Fail(rows.error());
  return sqlite::EachRow(**rows, [&](const sqlite::Row& row) {
    PutRow(table, row, to);
    return sent();
  });
}

}  // namespace

Result<std::unique_ptr<Filling>> Filling::Begin(const PostgresOptions& to, Over over) {
  auto connection = postgres::Connection::Open(PatientOptions(to), postgres::Purpose::kAppend);
  if (!connection) return Fail(connection.error());
  std::unique_ptr<Filling> filling(new Filling(std::move(*connection)));
  if (auto held = filling->Hold(over); !held) return Fail(held.error());
  return filling;
}

Result<> Filling::Hold(Over over) {
  const auto steps = postgres::RecordSteps();
  if (auto known = postgres::CheckKnown(*connection_, steps); !known) return known;
  if (auto free = CheckNobodyLeads(); !free) return free;
  if (auto made = postgres::Expand(*connection_, steps); !made) return made;
  if (auto same = postgres::CheckSame(*connection_, steps); !same) return same;
  if (auto held = connection_->Execute(kHold); !held) return held;
  if (auto read = ReadBefore(); !read) return read;
  if (over == Over::kRecords) return {};
  if (before_.term == 0 && before_.number == 0 && days_.empty()) return {};
  return Fail(ErrorCode::kConflict, "the database holds records already (term {}, commit {})",
              before_.term, before_.number);
}

Result<> Filling::CheckNobodyLeads() {
  for (int looks = 1;; ++looks) {
    const auto leaders = connection_->Ask(kLeaders);
    if (!leaders) return Fail(leaders.error());
    if (leaders->Count() == 0) return {};
    if (looks == kLooks)
      return Fail(ErrorCode::kConflict,
                  "a server leads on the database (session {} of {}); stop every server of the "
                  "cluster first. If it is dead, end what it left: SELECT pg_terminate_backend({})",
                  leaders->At(0).Int(0), leaders->At(0).Bytes(1), leaders->At(0).Int(0));
    if (const auto waited = connection_->Ask(kBetweenLooks); !waited) return Fail(waited.error());
  }
}

Result<> Filling::ReadBefore() {
  const auto fence = connection_->Ask("SELECT term, number FROM fence");
  if (!fence) return Fail(fence.error());
  const auto space = connection_->Ask("SELECT number FROM meta WHERE name = 'id_space'");
  if (!space) return Fail(space.error());
  if (fence->Count() > 0) before_ = {fence->At(0).Id(0), fence->At(0).Id(1), 0};
  if (space->Count() > 0) before_.id_space = space->At(0).Id(0);
  auto days = postgres::ListDayTables(*connection_);
  if (!days) return Fail(days.error());
  days_ = std::move(*days);
  return {};
}

Result<> Filling::Empty() {
  std::string names = "open_log";
  for (const auto& table : RecordTables()) names += fmt::format(", {}", table.postgres);
  if (auto emptied = connection_->Execute("TRUNCATE " + names); !emptied) return emptied;
  for (const auto& day : days_)
    if (auto gone = connection_->Execute("DROP TABLE " + day); !gone) return gone;
  if (days_.empty()) return {};
  const auto counted = connection_->Ask("UPDATE log_drops SET dropped = dropped + ?",
                                        postgres::Params().Id(days_.size()));
  if (!counted) return Fail(counted.error());
  return {};
}

Result<std::uint64_t> Filling::Send(const CopyTable& table, std::string_view name, const Rows& rows,
                                    std::string_view shown, const Progress& progress) {
  if (auto begun = connection_->BeginCopy(PostgresWrite(table, name)); !begun)
    return Fail(begun.error());
  TupleWriter to;
  std::uint64_t count = 0;
  const auto pass_on = [&]() -> Result<> {
    auto passed = connection_->PutCopy(to.Gathered());
    to.Gathered().clear();
    return passed;
  };
  const auto sent = [&]() -> Result<> {
    if (++count % kBetweenWords == 0 && progress) progress(shown, count);
    return to.Gathered().size() < kPiece ? Result<>() : pass_on();
  };
  if (auto written = rows(to, sent); !written) return Fail(written.error());
  to.End();
  if (auto passed = pass_on(); !passed) return Fail(passed.error());
  if (auto ended = connection_->EndCopy(); !ended) return Fail(ended.error());
  const auto there = connection_->Ask(fmt::format("SELECT count(*) FROM {}", name));
  if (!there) return Fail(there.error());
  if (there->At(0).Id(0) != count)
    return Fail(ErrorCode::kInternal, "{} rows of {} were sent and {} arrived; nothing was kept",
                count, shown, there->At(0).Id(0));
  if (progress) progress(shown, count);
  return count;
}

Result<std::vector<Copied>> Filling::PutRecords(sqlite::Database& from, const Progress& progress) {
  if (auto emptied = Empty(); !emptied) return Fail(emptied.error());
  std::vector<Copied> copied;
  for (const auto& table : RecordTables()) {
    if (table.sqlite == "fence") continue;
    const Rows rows = [&](TupleWriter& to, const std::function<Result<>()>& sent) {
      return PutRows(from, table, to, sent);
    };
    const auto count = Send(table, table.postgres, rows, table.sqlite, progress);
    if (!count) return Fail(count.error().code, "copy {}: {}", table.sqlite, count.error().message);
    copied.push_back({table.sqlite, *count});
  }
  for (const auto& sql : {PutOpenLogs(), std::string(kGoOnAfterNodes)})
    if (const auto done = connection_->Ask(sql); !done) return Fail(done.error());
  for (const auto& [sql, place] : {std::pair("SELECT term FROM fence", &term_),
                                   std::pair("SELECT number FROM fence", &number_)}) {
    const auto value = from.AskInt(sql);
    if (!value) return Fail(value.error());
    *place = *value;
  }
  return copied;
}

Result<Copied> Filling::PutDay(const std::string& day, sqlite::Database& from,
                               const Progress& progress) {
  // A crash can leave a day's file before its table was made.
  const auto tables = from.AskInt("SELECT count(*) FROM sqlite_master WHERE name = 'chunk'");
  if (!tables) return Fail(tables.error());
  if (*tables == 0) return Copied{day, 0};
  const std::string name = postgres::DayTable(day);
  if (auto made = connection_->Execute(postgres::MakeDayTable(name)); !made)
    return Fail(made.error());
  const Rows rows = [&](TupleWriter& to, const std::function<Result<>()>& sent) {
    return PutRows(from, DayTable(), to, sent);
  };
  const auto count = Send(DayTable(), name, rows, day, progress);
  if (!count) return Fail(count.error().code, "copy {}: {}", day, count.error().message);
  return Copied{day, *count};
}

Result<> Filling::Commit() {
  const auto fenced = connection_->Ask("INSERT INTO fence VALUES (1, ?, ?)",
                                       postgres::Params().Int(term_).Int(number_));
  if (!fenced) return Fail(fenced.error());
  auto done = connection_->Execute("COMMIT");
  if (done || connection_->Alive()) return done;
  return Fail(ErrorCode::kTimeout, "{}; it may have been written: a second try tells",
              done.error().message);
}

}  // namespace muster::copy
