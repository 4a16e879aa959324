#include <algorithm>
#include <limits>
#include <memory>

#include <fmt/format.h>

#include "adapters/records/readers.hpp"
#include "adapters/records/row_values.hpp"
#include "ports/clock_set_back.hpp"

// Pages of the audit trail. Each walks one index from the newest entry and stops when it has
// enough.
namespace muster::records {
namespace {

// Entries one call looks at, whether they fit the filter or not.
constexpr std::size_t kMostLooks = 2000;
constexpr std::int64_t kEntriesAtOnce = 200;

// Numbers the entries of a filter lie between, both exclusive.
struct Range {
  std::int64_t above = 0;
  std::int64_t below = std::numeric_limits<std::int64_t>::max();
};

Result<std::optional<std::int64_t>> AskNumber(Queries& queries, std::string_view sql,
                                              const Values& values) {
  return ReadOne<std::int64_t>(queries, sql, values,
                               [](const Row& row) -> Result<std::int64_t> { return row.Int(0); });
}

Result<Range> RangeOf(Queries& queries, const AuditFilter& filter, std::uint64_t before) {
  Range range{.above = static_cast<std::int64_t>(filter.after), .below = BeforeOf(before)};
  if (filter.since) {
    const auto number = AskNumber(
        queries, "SELECT number FROM audit WHERE at < ? ORDER BY at DESC, number DESC LIMIT 1",
        Values().Int((filter.since + -kClockSetBack).ms));
    if (!number) return Fail(number.error());
    range.above = std::max(range.above, number->value_or(0));
  }
  if (filter.until) {
    const auto number =
        AskNumber(queries, "SELECT number FROM audit WHERE at >= ? ORDER BY at, number LIMIT 1",
                  Values().Int((filter.until + kClockSetBack).ms));
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

// By one index: of the run, the actor, the act, or the table itself.
class ByIndex final : public Source {
 public:
  ByIndex(Queries& queries, const AuditFilter& filter, Range range)
      : queries_(queries), filter_(filter), range_(range) {}

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
    std::string sql = fmt::format("SELECT {} FROM audit", kAuditColumns);
    Values values;
    if (filter_.run) {
      sql += " WHERE run = ? AND number < ? AND number > ? ORDER BY number DESC LIMIT ?";
      values.Id(filter_.run.value).Int(range_.below).Int(range_.above);
    } else if (key.empty()) {
      sql += " WHERE number < ? AND number > ? ORDER BY number DESC LIMIT ?";
      values.Int(range_.below).Int(range_.above);
    } else {
      const char* column = !filter_.by.empty() ? "actor" : "act";
      sql += queries_.IndexedBy(fmt::format("audit_{}", column));
      sql += fmt::format(" WHERE {} AND {} ORDER BY {} DESC, number DESC LIMIT ?",
                         queries_.Bound(column, "number", "<"),
                         queries_.Bound(column, "number", ">"), column);
      values.Word(key).Int(range_.below).Word(key).Int(range_.above);
    }
    return ReadAll<AuditEntry>(queries_, sql, values.Int(kEntriesAtOnce), AuditOf);
  }

  Queries& queries_;
  const AuditFilter& filter_;
  Range range_;
  bool ended_ = false;
};

// What touched one host: entries that name it, and starts of runs that have a task on it. Both come
// newest first, many with one statement, and are merged.
class ByHost final : public Source {
 public:
  ByHost(Queries& queries, HostId host, Range range)
      : queries_(queries), host_(host), range_(range) {}

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
    const auto run = AskNumber(
        queries_,
        fmt::format(
            "SELECT run FROM audit{} WHERE {} AND {} ORDER BY act DESC, number DESC LIMIT 1",
            queries_.IndexedBy("audit_act"), queries_.Bound("act", "number", "<"),
            queries_.Bound("act", "number", ">")),
        Values().Word(kActRunStart).Int(range_.below).Word(kActRunStart).Int(0));
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
        queries_,
        fmt::format("SELECT {} FROM (SELECT number AS which FROM audit_host WHERE host = ?"
                    " AND number > ? AND number < ? ORDER BY number DESC LIMIT ?) h"
                    " JOIN audit ON number = which ORDER BY number DESC",
                    kAuditColumns),
        Values().Id(host_.value).Int(range_.above).Int(range_.below).Int(kEntriesAtOnce), AuditOf);
    if (!entries) return Fail(entries.error());
    named_.ended = entries->empty();
    if (!entries->empty()) range_.below = static_cast<std::int64_t>(entries->back().number);
    named_.Refill(std::move(*entries));
    return {};
  }

  // Walks the host's runs as lists of runs do; those whose start was dropped have no entry.
  Result<> FillStarts() {
    std::vector<AuditEntry> entries;
    bool any = false;
    starts_.ended = false;
    auto read = queries_.Each(
        fmt::format("{} SELECT {}, which FROM walk LEFT JOIN audit ON run = which AND act = ?"
                    " WHERE which IS NOT NULL ORDER BY which DESC",
                    kWalkRuns, kAuditColumns),
        Values()
            .Id(host_.value)
            .Int(run_below_)
            .Id(host_.value)
            .Int(kEntriesAtOnce)
            .Word(kActRunStart),
        [&](const Row& row) -> Result<> {
          any = true;
          if (starts_.ended) return {};
          run_below_ = row.Int(kAuditColumnCount);
          if (row.IsNull(0)) return {};
          starts_.ended = row.Int(0) <= range_.above;
          auto entry = AuditOf(row);
          if (!entry) return Fail(entry.error());
          if (!starts_.ended) entries.push_back(std::move(*entry));
          return {};
        });
    if (!read) return read;
    starts_.ended = starts_.ended || !any;
    starts_.Refill(std::move(entries));
    return {};
  }

  Queries& queries_;
  const HostId host_;
  Range range_;  // `below` moves with the entries that name the host
  std::int64_t run_below_ = 0;
  bool begun_ = false;
  Line named_;
  Line starts_;
};

}  // namespace

Result<AuditPage> ListAudit(Queries& queries, const AuditFilter& filter, std::uint64_t before,
                            std::size_t limit) {
  const auto range = RangeOf(queries, filter, before);
  if (!range) return Fail(range.error());
  std::unique_ptr<Source> source;
  if (filter.host)
    source = std::make_unique<ByHost>(queries, *filter.host, *range);
  else
    source = std::make_unique<ByIndex>(queries, filter, *range);
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

}  // namespace muster::records
