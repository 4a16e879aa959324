#include "adapters/postgres/audit_reader.hpp"

#include <algorithm>
#include <limits>
#include <memory>

#include "adapters/postgres/rows.hpp"
#include "ports/clock_set_back.hpp"

namespace muster::postgres {
namespace {

// Entries one call looks at, whether they fit the filter or not.
constexpr std::size_t kMostLooks = 2000;
constexpr std::int64_t kEntriesAtOnce = 200;

constexpr std::string_view kColumns =
    " number, at, actor, address, client, act, object, detail, reason, run, hosts, names, command,"
    " command_sha256, previous, hash";

Result<AuditEntry> AuditOf(const Row& row) {
  AuditEntry entry;
  entry.number = row.Id(0);
  entry.at = {row.Int(1)};
  entry.actor = row.Text(2);
  entry.address = row.Text(3);
  entry.client = row.Text(4);
  entry.act = row.Text(5);
  entry.object = row.Text(6);
  entry.detail = row.Text(7);
  entry.reason = row.Text(8);
  entry.run = RunId(row.Id(9));
  entry.hosts = static_cast<std::uint32_t>(row.Int(10));
  entry.names = row.Text(11);
  entry.command = row.Text(12);
  entry.command_sha256 = row.Text(13);
  entry.previous = row.Text(14);
  entry.hash = row.Text(15);
  return entry;
}

// Numbers the entries of a filter lie between, both exclusive.
struct Range {
  std::int64_t above = 0;
  std::int64_t below = std::numeric_limits<std::int64_t>::max();
};

Result<std::optional<std::int64_t>> AskNumber(Connection& connection, std::string_view sql,
                                              const Params& params) {
  return ReadOne<std::int64_t>(connection, sql, params,
                               [](const Row& row) -> Result<std::int64_t> { return row.Int(0); });
}

Result<Range> RangeOf(Connection& connection, const AuditFilter& filter, std::uint64_t before) {
  Range range{.above = static_cast<std::int64_t>(filter.after), .below = BeforeOf(before)};
  if (filter.since) {
    const auto number = AskNumber(
        connection, "SELECT number FROM audit WHERE at < ? ORDER BY at DESC, number DESC LIMIT 1",
        Params().Int((filter.since + -kClockSetBack).ms));
    if (!number) return Fail(number.error());
    range.above = std::max(range.above, number->value_or(0));
  }
  if (filter.until) {
    const auto number =
        AskNumber(connection, "SELECT number FROM audit WHERE at >= ? ORDER BY at, number LIMIT 1",
                  Params().Int((filter.until + kClockSetBack).ms));
    if (!number) return Fail(number.error());
    range.below = std::min(range.below, number->value_or(range.below));
  }
  return range;
}

// Entries in order of falling numbers, some at a time; empty at the end.
class Source {
 public:
  virtual ~Source() = default;
  virtual Result<std::vector<AuditEntry>> Next() = 0;
};

// By one index: of the actor, of the act, or the table itself. As with runs, the index is the only
// one in the order that is asked for.
class ByIndex final : public Source {
 public:
  ByIndex(Connection& connection, const AuditFilter& filter, Range range)
      : connection_(connection), filter_(filter), range_(range) {}

  Result<std::vector<AuditEntry>> Next() override {
    if (ended_) return std::vector<AuditEntry>();
    auto entries = Load();
    if (!entries) return entries;
    ended_ = entries->size() < static_cast<std::size_t>(kEntriesAtOnce);
    if (!entries->empty()) range_.below = static_cast<std::int64_t>(entries->back().number);
    return entries;
  }

 private:
  Result<std::vector<AuditEntry>> Load() {
    const std::string& key = !filter_.by.empty() ? filter_.by : filter_.act;
    std::string sql = "SELECT" + std::string(kColumns) + " FROM audit";
    Params params;
    if (filter_.run) {
      sql += " WHERE run = ? AND number < ? AND number > ? ORDER BY number DESC LIMIT ?";
      params.Id(filter_.run.value).Int(range_.below).Int(range_.above);
    } else if (key.empty()) {
      sql += " WHERE number < ? AND number > ? ORDER BY number DESC LIMIT ?";
      params.Int(range_.below).Int(range_.above);
    } else {
      const char* column = !filter_.by.empty() ? "actor" : "act";
      sql += fmt::format(
          " WHERE ({0}, number) < (?, ?) AND ({0}, number) > (?, ?)"
          " ORDER BY {0} DESC, number DESC LIMIT ?",
          column);
      params.Bytes(key).Int(range_.below).Bytes(key).Int(range_.above);
    }
    return ReadAll<AuditEntry>(connection_, sql, params.Int(kEntriesAtOnce), AuditOf);
  }

  Connection& connection_;
  const AuditFilter& filter_;
  Range range_;
  bool ended_ = false;
};

// What touched one host: entries that name it, and starts of runs that have a task on it. Both come
// newest first, many with one statement, and are merged.
class ByHost final : public Source {
 public:
  ByHost(Connection& connection, HostId host, Range range)
      : connection_(connection), host_(host), range_(range) {}

  Result<std::vector<AuditEntry>> Next() override {
    if (auto begun = Begin(); !begun) return Fail(begun.error());
    std::vector<AuditEntry> entries;
    while (entries.size() < static_cast<std::size_t>(kEntriesAtOnce)) {
      if (auto filled = Fill(); !filled) return Fail(filled.error());
      auto* from = starts_.Newer(named_) ? &starts_ : &named_;
      if (from->Empty()) break;
      entries.push_back(from->Take());
    }
    return entries;
  }

 private:
  struct Line {
    std::vector<AuditEntry> entries;
    std::size_t at = 0;
    bool ended = false;

    bool Empty() const { return at == entries.size(); }
    AuditEntry Take() { return std::move(entries[at++]); }
    bool Newer(const Line& other) const {
      return !Empty() && (other.Empty() || entries[at].number > other.entries[other.at].number);
    }
    void Refill(std::vector<AuditEntry> more) {
      entries = std::move(more);
      at = 0;
    }
  };

  // Runs are numbered in the order of their starts, so the first one to look at is the latest whose
  // start lies in the range.
  Result<> Begin() {
    if (begun_) return {};
    begun_ = true;
    const auto run = AskNumber(connection_,
                               "SELECT run FROM audit WHERE (act, number) < (?, ?)"
                               " AND (act, number) > (?, 0) ORDER BY act DESC, number DESC LIMIT 1",
                               Params().Bytes(kActRunStart).Int(range_.below).Bytes(kActRunStart));
    if (!run) return Fail(run.error());
    run_below_ = *run ? **run + 1 : 0;
    return {};
  }

  Result<> Fill() {
    if (named_.Empty() && !named_.ended)
      if (auto filled = FillNamed(); !filled) return filled;
    while (starts_.Empty() && !starts_.ended)
      if (auto filled = FillStarts(); !filled) return filled;
    return {};
  }

  Result<> FillNamed() {
    auto entries = ReadAll<AuditEntry>(
        connection_,
        "SELECT" + std::string(kColumns) +
            " FROM (SELECT number AS which FROM audit_host WHERE host = ? AND number > ?"
            " AND number < ? ORDER BY number DESC LIMIT ?) h JOIN audit ON number = which"
            " ORDER BY number DESC",
        Params().Id(host_.value).Int(range_.above).Int(range_.below).Int(kEntriesAtOnce), AuditOf);
    if (!entries) return Fail(entries.error());
    named_.ended = entries->empty();
    if (!entries->empty()) range_.below = static_cast<std::int64_t>(entries->back().number);
    named_.Refill(std::move(*entries));
    return {};
  }

  // Walks the host's runs as lists of runs do; those whose start was dropped have no entry.
  Result<> FillStarts() {
    auto rows = connection_.Ask(
        "WITH RECURSIVE walk (which, place) AS ("
        "(SELECT run, 1::bigint FROM task WHERE host = ? AND run < ? ORDER BY run DESC LIMIT 1)"
        " UNION ALL SELECT (SELECT t.run FROM task t WHERE t.host = ? AND t.run < w.which"
        " ORDER BY t.run DESC LIMIT 1), w.place + 1 FROM walk w"
        " WHERE w.which IS NOT NULL AND w.place < ?)"
        " SELECT" +
            std::string(kColumns) +
            ", which FROM walk LEFT JOIN audit ON run = which AND act = ?"
            " WHERE which IS NOT NULL ORDER BY which DESC",
        Params()
            .Id(host_.value)
            .Int(run_below_)
            .Id(host_.value)
            .Int(kEntriesAtOnce)
            .Bytes(kActRunStart));
    if (!rows) return Fail(rows.error());
    std::vector<AuditEntry> entries;
    starts_.ended = rows->Count() == 0;
    for (int i = 0; i < rows->Count() && !starts_.ended; ++i) {
      const Row row = rows->At(i);
      run_below_ = row.Int(16);
      if (row.IsNull(0)) continue;
      starts_.ended = row.Int(0) <= range_.above;
      auto entry = AuditOf(row);
      if (!entry) return Fail(entry.error());
      if (!starts_.ended) entries.push_back(std::move(*entry));
    }
    starts_.Refill(std::move(entries));
    return {};
  }

  Connection& connection_;
  const HostId host_;
  Range range_;  // `below` moves with the entries that name the host
  std::int64_t run_below_ = 0;
  bool begun_ = false;
  Line named_;
  Line starts_;
};

}  // namespace

Result<AuditPage> ReadAuditPage(Connection& connection, const AuditFilter& filter,
                                std::uint64_t before, std::size_t limit) {
  const auto range = RangeOf(connection, filter, before);
  if (!range) return Fail(range.error());
  std::unique_ptr<Source> source;
  if (filter.host)
    source = std::make_unique<ByHost>(connection, *filter.host, *range);
  else
    source = std::make_unique<ByIndex>(connection, filter, *range);
  AuditPage page;
  std::uint64_t last = 0;
  for (std::size_t looks = 0;;) {
    auto entries = source->Next();
    if (!entries) return Fail(entries.error());
    if (entries->empty()) return page;
    for (auto& entry : *entries) {
      const bool fits = Matches(entry, filter);
      if (looks++ == kMostLooks || (fits && page.entries.size() == limit)) {
        page.next = last;
        return page;
      }
      last = entry.number;
      if (fits) page.entries.push_back(std::move(entry));
    }
  }
}

// The act is spelled out as in the condition of the index.
Result<std::vector<HostId>> ReadRemovedHosts(Connection& connection, std::string_view name,
                                             std::size_t limit) {
  return ReadAll<HostId>(
      connection,
      "SELECT h.host FROM audit a JOIN audit_host h ON h.number = a.number"
      " WHERE a.act = 'host.remove' AND a.object = ? ORDER BY a.number DESC LIMIT ?",
      Params().Bytes(fmt::format("host {}", name)).Int(LimitOf(limit)),
      [](const Row& row) -> Result<HostId> { return HostId(row.Id(0)); });
}

Result<std::vector<AuditEntry>> ReadAuditFrom(Connection& connection, std::uint64_t from,
                                              std::size_t limit) {
  return ReadAll<AuditEntry>(
      connection,
      "SELECT" + std::string(kColumns) + " FROM audit WHERE number >= ? ORDER BY number LIMIT ?",
      Params().Id(from).Int(LimitOf(limit)), AuditOf);
}

Result<AuditHead> ReadAuditHead(Connection& connection) {
  auto head = ReadOne<AuditHead>(
      connection,
      "SELECT n.number - 1, h.bytes FROM meta n, meta h"
      " WHERE n.name = 'next_audit' AND h.name = 'audit_hash'",
      {}, [](const Row& row) -> Result<AuditHead> { return AuditHead{row.Id(0), row.Text(1)}; });
  if (!head) return Fail(head.error());
  return head->value_or(AuditHead());
}

}  // namespace muster::postgres
