#include "adapters/sqlite/audit_reader.hpp"

#include <algorithm>
#include <limits>

#include "adapters/sqlite/rows.hpp"
#include "ports/clock_set_back.hpp"

namespace muster::sqlite {
namespace {

// Entries one call looks at, whether they fit the filter or not.
constexpr std::size_t kMostLooks = 2000;
constexpr std::size_t kChainAtOnce = 500;

constexpr std::string_view kSelectAudit =
    "SELECT number, at, actor, address, client, act, object, detail, reason, run, hosts, names,"
    " command, command_sha256, previous, hash FROM audit";

Result<AuditEntry> AuditOf(const Statement& row) {
  AuditEntry entry;
  entry.number = row.ColumnId(0);
  entry.at = {row.ColumnInt(1)};
  entry.actor = row.ColumnText(2);
  entry.address = row.ColumnText(3);
  entry.client = row.ColumnText(4);
  entry.act = row.ColumnText(5);
  entry.object = row.ColumnText(6);
  entry.detail = row.ColumnText(7);
  entry.reason = row.ColumnText(8);
  entry.run = RunId(row.ColumnId(9));
  entry.hosts = static_cast<std::uint32_t>(row.ColumnInt(10));
  entry.names = row.ColumnText(11);
  entry.command = row.ColumnText(12);
  entry.command_sha256 = row.ColumnText(13);
  entry.previous = row.ColumnText(14);
  entry.hash = row.ColumnText(15);
  return entry;
}

// Numbers the entries of a filter lie between, both exclusive.
struct Range {
  std::int64_t above = 0;
  std::int64_t below = std::numeric_limits<std::int64_t>::max();
};

Result<std::int64_t> AskNumber(Database& database, std::string_view sql, std::int64_t bound,
                               std::int64_t otherwise) {
  auto found = ReadOne<std::int64_t>(
      database, sql, [&](Statement& statement) { statement.Int(bound); },
      [](const Statement& row) -> Result<std::int64_t> { return row.ColumnInt(0); });
  if (!found) return Fail(found.error());
  return found->value_or(otherwise);
}

Result<Range> RangeOf(Database& database, const AuditFilter& filter, std::uint64_t before) {
  Range range{.above = static_cast<std::int64_t>(filter.after), .below = BeforeOf(before)};
  if (filter.since) {
    const auto number = AskNumber(
        database, "SELECT number FROM audit WHERE at < ? ORDER BY at DESC, number DESC LIMIT 1",
        (filter.since + -kClockSetBack).ms, 0);
    if (!number) return Fail(number.error());
    range.above = std::max(range.above, *number);
  }
  if (filter.until) {
    const auto number =
        AskNumber(database, "SELECT number FROM audit WHERE at >= ? ORDER BY at, number LIMIT 1",
                  (filter.until + kClockSetBack).ms, range.below);
    if (!number) return Fail(number.error());
    range.below = std::min(range.below, *number);
  }
  return range;
}

// Entries in order of falling numbers; none at the end.
class Source {
 public:
  virtual ~Source() = default;
  virtual Result<std::optional<AuditEntry>> Next() = 0;
};

// By one index: of the run, of the actor, of the act, or the table itself.
class ByIndex final : public Source {
 public:
  ByIndex(Database& database, const AuditFilter& filter, Range range)
      : database_(database), filter_(filter), range_(range) {}

  Result<std::optional<AuditEntry>> Next() override {
    if (at_ == loaded_.size()) {
      if (ended_) return std::optional<AuditEntry>();
      if (auto more = Load(); !more) return Fail(more.error());
      if (loaded_.empty()) return std::optional<AuditEntry>();
    }
    return std::optional<AuditEntry>(std::move(loaded_[at_++]));
  }

 private:
  static constexpr std::int64_t kAtOnce = 200;

  Result<> Load() {
    std::string sql(kSelectAudit);
    if (filter_.run)
      sql += " INDEXED BY audit_run";
    else if (!filter_.by.empty())
      sql += " INDEXED BY audit_actor";
    else if (!filter_.act.empty())
      sql += " INDEXED BY audit_act";
    sql += " WHERE number > ? AND number < ?";
    if (filter_.run)
      sql += " AND run = ?";
    else if (!filter_.by.empty())
      sql += " AND actor = ?";
    else if (!filter_.act.empty())
      sql += " AND act = ?";
    sql += " ORDER BY number DESC LIMIT ?";
    auto rows = ReadAll<AuditEntry>(database_, sql, AuditOf, [&](Statement& statement) {
      statement.Int(range_.above).Int(range_.below);
      if (filter_.run)
        statement.Id(filter_.run.value);
      else if (!filter_.by.empty())
        statement.Text(filter_.by);
      else if (!filter_.act.empty())
        statement.Text(filter_.act);
      statement.Int(kAtOnce);
    });
    if (!rows) return Fail(rows.error());
    ended_ = rows->size() < static_cast<std::size_t>(kAtOnce);
    loaded_ = std::move(*rows);
    at_ = 0;
    if (!loaded_.empty()) range_.below = static_cast<std::int64_t>(loaded_.back().number);
    return {};
  }

  Database& database_;
  const AuditFilter& filter_;
  Range range_;
  std::vector<AuditEntry> loaded_;
  std::size_t at_ = 0;
  bool ended_ = false;
};

// What touched one host: entries that name it, and starts of runs that have a task on it. Both come
// newest first, one look into an index each.
class ByHost final : public Source {
 public:
  ByHost(Database& database, HostId host, Range range)
      : database_(database), host_(host), range_(range) {}

  Result<std::optional<AuditEntry>> Next() override {
    if (!begun_) {
      begun_ = true;
      if (auto first = FindFirstRun(); !first) return Fail(first.error());
      if (auto next = AdvanceNamed(); !next) return Fail(next.error());
      if (auto next = AdvanceRun(); !next) return Fail(next.error());
    }
    const bool take_run = start_ && (!named_ || start_->number > named_->number);
    auto entry = take_run ? std::move(start_) : std::move(named_);
    const auto next = !entry ? Result<>() : take_run ? AdvanceRun() : AdvanceNamed();
    if (!next) return Fail(next.error());
    return entry;
  }

 private:
  // Runs are numbered in the order of their starts, so the first one to look at is the latest whose
  // start lies in the range.
  Result<> FindFirstRun() {
    const auto run = ReadOne<std::int64_t>(
        database_,
        "SELECT run FROM audit INDEXED BY audit_act WHERE act = ? AND number < ?"
        " ORDER BY number DESC LIMIT 1",
        [&](Statement& statement) { statement.Text(kActRunStart).Int(range_.below); },
        [](const Statement& row) -> Result<std::int64_t> { return row.ColumnInt(0); });
    if (!run) return Fail(run.error());
    run_below_ = *run ? **run + 1 : 0;
    return {};
  }

  Result<> AdvanceNamed() {
    named_.reset();
    auto entry = ReadOne<AuditEntry>(
        database_,
        std::string(kSelectAudit) +
            " WHERE number = (SELECT max(number) FROM audit_host WHERE host = ? AND number > ?"
            " AND number < ?)",
        [&](Statement& statement) {
          statement.Id(host_.value).Int(range_.above).Int(range_.below);
        },
        AuditOf);
    if (!entry) return Fail(entry.error());
    named_ = std::move(*entry);
    if (named_) range_.below = static_cast<std::int64_t>(named_->number);
    return {};
  }

  Result<> AdvanceRun() {
    start_.reset();
    while (true) {
      const auto run = ReadOne<std::int64_t>(
          database_,
          "SELECT run FROM task INDEXED BY task_host WHERE host = ? AND run < ?"
          " ORDER BY run DESC LIMIT 1",
          [&](Statement& statement) { statement.Id(host_.value).Int(run_below_); },
          [](const Statement& row) -> Result<std::int64_t> { return row.ColumnInt(0); });
      if (!run) return Fail(run.error());
      if (!*run) return {};
      run_below_ = **run;
      auto entry = ReadOne<AuditEntry>(
          database_, std::string(kSelectAudit) + " INDEXED BY audit_run WHERE run = ? AND act = ?",
          [&](Statement& statement) { statement.Int(run_below_).Text(kActRunStart); }, AuditOf);
      if (!entry) return Fail(entry.error());
      if (!*entry) continue;  // its start was dropped, or made by an older musterd
      if (static_cast<std::int64_t>((*entry)->number) <= range_.above) return {};
      start_ = std::move(*entry);
      return {};
    }
  }

  Database& database_;
  const HostId host_;
  Range range_;  // `below` moves with the entries that name the host
  std::int64_t run_below_ = 0;
  bool begun_ = false;
  std::optional<AuditEntry> named_;
  std::optional<AuditEntry> start_;
};

Result<> Chain(Database& database) {
  auto update = database.Prepare("UPDATE audit SET previous = ?, hash = ? WHERE number = ?");
  if (!update) return Fail(update.error());
  AuditHead last;
  while (true) {
    auto entries = ReadAuditFrom(database, last.number + 1, kChainAtOnce);
    if (!entries) return Fail(entries.error());
    if (entries->empty()) break;
    for (auto& entry : *entries) {
      entry.previous = last.hash;
      last = {entry.number, AuditHash(entry)};
      auto kept = (*update)->Blob(entry.previous).Blob(last.hash).Id(entry.number).Run();
      if (!kept) return kept;
    }
  }
  auto keep = database.Prepare("INSERT OR REPLACE INTO meta VALUES ('audit_hash', ?)");
  if (!keep) return Fail(keep.error());
  return (*keep)->Blob(last.hash).Run();
}

}  // namespace

Result<AuditPage> ReadAuditPage(Database& database, const AuditFilter& filter, std::uint64_t before,
                                std::size_t limit) {
  const auto range = RangeOf(database, filter, before);
  if (!range) return Fail(range.error());
  std::unique_ptr<Source> source;
  if (filter.host)
    source = std::make_unique<ByHost>(database, *filter.host, *range);
  else
    source = std::make_unique<ByIndex>(database, filter, *range);
  AuditPage page;
  std::uint64_t last = 0;
  for (std::size_t looks = 0;; ++looks) {
    auto entry = source->Next();
    if (!entry) return Fail(entry.error());
    if (!*entry) return page;
    const bool fits = Matches(**entry, filter);
    if (looks == kMostLooks || (fits && page.entries.size() == limit)) {
      page.next = last;
      return page;
    }
    last = (*entry)->number;
    if (fits) page.entries.push_back(std::move(**entry));
  }
}

// The act is spelled out as in the condition of the index.
Result<std::vector<HostId>> ReadRemovedHosts(Database& database, std::string_view name,
                                             std::size_t limit) {
  const std::string object = fmt::format("host {}", name);
  return ReadAll<HostId>(
      database,
      "SELECT h.host FROM audit a INDEXED BY audit_removed JOIN audit_host h ON h.number = a.number"
      " WHERE a.act = 'host.remove' AND a.object = ? ORDER BY a.number DESC LIMIT ?",
      [](const Statement& row) -> Result<HostId> { return HostId(row.ColumnId(0)); },
      [&](Statement& statement) { statement.Text(object).Int(LimitOf(limit)); });
}

Result<std::vector<AuditEntry>> ReadAuditFrom(Database& database, std::uint64_t from,
                                              std::size_t limit) {
  return ReadAll<AuditEntry>(
      database, std::string(kSelectAudit) + " WHERE number >= ? ORDER BY number LIMIT ?", AuditOf,
      [&](Statement& statement) { statement.Id(from).Int(LimitOf(limit)); });
}

Result<AuditHead> ReadAuditHead(Database& database) {
  AuditHead head;
  auto read =
      database.Prepare("SELECT name, value FROM meta WHERE name IN ('next_audit', 'audit_hash')");
  if (!read) return Fail(read.error());
  auto ended = EachRow(**read, [&](const Statement& row) -> Result<> {
    if (row.ColumnText(0) == "next_audit")
      head.number = row.ColumnId(1) - 1;
    else
      head.hash = row.ColumnText(1);
    return {};
  });
  if (!ended) return Fail(ended.error());
  return head;
}

Result<> ChainOldAudit(Database& database) {
  const auto chained = database.AskInt("SELECT count(*) FROM meta WHERE name = 'audit_hash'");
  if (!chained) return Fail(chained.error());
  if (*chained != 0) return {};
  if (auto begun = database.Execute("BEGIN IMMEDIATE"); !begun) return begun;
  auto done = Chain(database);
  if (done) done = database.Execute("COMMIT");
  if (!done) database.Rollback();
  return done;
}

}  // namespace muster::sqlite
