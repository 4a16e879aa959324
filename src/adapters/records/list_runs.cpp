#include <limits>

#include <fmt/format.h>

#include "adapters/records/readers.hpp"
#include "adapters/records/records.hpp"
#include "adapters/records/row_values.hpp"
#include "ports/clock_set_back.hpp"

// Lists of runs. Each walks one index from the newest run and stops when it has enough. PostgreSQL
// cannot be told which, so statements leave it no other (Queries::Bound), and a condition that is
// not meant for an index adds 0.
namespace muster::records {
namespace {

constexpr std::int64_t kNoBound = std::numeric_limits<std::int64_t>::max();
// Runs of one host that are looked at with one statement.
constexpr std::int64_t kWalkedAtOnce = 200;

// Ids that the runs lie between, both exclusive.
struct IdRange {
  std::int64_t above = 0;
  std::int64_t below = kNoBound;
};

Result<std::optional<std::int64_t>> AskId(Queries& queries, std::string_view sql, WallTime time) {
  return ReadOne<std::int64_t>(queries, sql, Values().Int(time.ms),
                               [](const Row& row) -> Result<std::int64_t> { return row.Int(0); });
}

Result<IdRange> IdRangeOf(Queries& queries, const RunFilter& filter, RunId before) {
  IdRange range{.above = 0, .below = BeforeOf(before.value)};
  if (filter.since) {
    const auto id = AskId(
        queries, "SELECT id FROM run WHERE created < ? ORDER BY created DESC, id DESC LIMIT 1",
        filter.since + -kClockSetBack);
    if (!id) return Fail(id.error());
    range.above = id->value_or(0);
  }
  if (filter.until) {
    const auto id =
        AskId(queries, "SELECT id FROM run WHERE created >= ? ORDER BY created, id LIMIT 1",
              filter.until + kClockSetBack);
    if (!id) return Fail(id.error());
    range.below = std::min(range.below, id->value_or(kNoBound));
  }
  return range;
}

// The statement that walks the index of a filter, with its parameters.
struct ListStatement {
  std::string sql;
  Values values;
};

ListStatement StatementOf(const Queries& queries, const RunFilter& filter, const IdRange& range,
                          std::size_t limit) {
  const bool by_state =
      filter.state && (filter.by.empty() || !IsFinal(*filter.state));  // few runs are open
  const bool by_caller = !filter.by.empty() && !by_state;
  ListStatement made{"SELECT r.record FROM run r", {}};
  if (by_state || by_caller) made.sql += queries.IndexedBy(by_state ? "run_state" : "run_by");
  made.sql += " WHERE ";
  const auto bound = [&](const char* sign, std::int64_t id) {
    if (by_state) made.values.Int(static_cast<std::int64_t>(*filter.state));
    if (by_caller) made.values.Word(filter.by);
    made.values.Int(id);
    if (by_state || by_caller)
      made.sql += queries.Bound(by_state ? "r.state" : "r.by", "r.id", sign);
    else
      made.sql += fmt::format("r.id {} ?", sign);
  };
  bound("<", range.below);
  made.sql += " AND ";
  bound(">", range.above);
  if (filter.since) {
    made.sql += " AND r.created + 0 >= ?";
    made.values.Int(filter.since.ms);
  }
  if (filter.until) {
    made.sql += " AND r.created + 0 < ?";
    made.values.Int(filter.until.ms);
  }
  if (filter.state && !by_state) {
    made.sql += " AND r.state + 0 = ?";
    made.values.Int(static_cast<std::int64_t>(*filter.state));
  }
  if (!filter.by.empty() && !by_caller) {
    made.sql += " AND r.by || '' = ?";
    made.values.Word(filter.by);
  }
  made.sql += by_state    ? " ORDER BY r.state DESC, r.id DESC LIMIT ?"
              : by_caller ? " ORDER BY r.by DESC, r.id DESC LIMIT ?"
                          : " ORDER BY r.id DESC LIMIT ?";
  made.values.Int(LimitOf(limit));
  return made;
}

struct Walked {
  std::int64_t id = 0;
  std::optional<Run> run;
};

// The host's next runs below one, each by one look into the index: asking for them in one plain
// query would sort all the host ever ran.
Result<std::vector<Walked>> WalkHost(Queries& queries, HostId host, std::int64_t below) {
  return ReadAll<Walked>(
      queries,
      fmt::format("{} SELECT w.which, r.record FROM walk w LEFT JOIN run r ON r.id = w.which"
                  " WHERE w.which IS NOT NULL ORDER BY w.which DESC",
                  kWalkRuns),
      Values().Id(host.value).Int(below).Id(host.value).Int(kWalkedAtOnce),
      [](const Row& row) -> Result<Walked> {
        Walked walked{.id = row.Int(0), .run = {}};
        if (row.IsNull(1)) return walked;
        auto run = Decode<Run>(row.Bytes(1));
        if (!run) return Fail(run.error());
        walked.run = std::move(*run);
        return walked;
      });
}

Result<std::vector<Run>> ListRunsOf(Queries& queries, HostId host, const RunFilter& filter,
                                    RunId before, std::size_t limit) {
  std::vector<Run> runs;
  std::int64_t below = BeforeOf(before.value);
  while (runs.size() < limit) {
    auto walked = WalkHost(queries, host, below);
    if (!walked) return Fail(walked.error());
    for (auto& [id, run] : *walked) {
      below = id;
      if (!run) continue;
      if (filter.since && run->created + kClockSetBack < filter.since) return runs;
      if (Matches(*run, filter)) runs.push_back(std::move(*run));
      if (runs.size() == limit) return runs;
    }
    if (walked->size() < static_cast<std::size_t>(kWalkedAtOnce)) return runs;
  }
  return runs;
}

}  // namespace

Result<std::vector<Run>> ListRuns(Queries& queries, const RunFilter& filter, RunId before,
                                  std::size_t limit) {
  if (filter.host) return ListRunsOf(queries, *filter.host, filter, before, limit);
  const auto range = IdRangeOf(queries, filter, before);
  if (!range) return Fail(range.error());
  const ListStatement statement = StatementOf(queries, filter, *range, limit);
  return ReadAll<Run>(queries, statement.sql, statement.values, RecordOf<Run>);
}

}  // namespace muster::records
