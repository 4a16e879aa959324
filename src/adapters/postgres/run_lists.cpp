#include <limits>

#include "adapters/postgres/rows.hpp"
#include "adapters/postgres/run_reader.hpp"
#include "adapters/records/records.hpp"
#include "ports/clock_set_back.hpp"

// Lists of runs. Each walks one index from the newest run and stops when it has enough. PostgreSQL
// cannot be told which, so statements leave it no other: a pair of columns is compared as one, in
// the order of its index, and a condition that is not meant for an index adds 0.
namespace muster::postgres {
namespace {

constexpr std::int64_t kNoBound = std::numeric_limits<std::int64_t>::max();
// Runs of one host that are looked at in one round trip.
constexpr std::int64_t kWalkedAtOnce = 200;

Result<Run> ListedRun(const Row& row) { return records::DecodeRun(row.Bytes(0)); }

// Ids that a filter by time can lie between, both exclusive: each a subselect with one parameter.
constexpr const char* kAbove =
    "coalesce((SELECT id FROM run WHERE created < ? ORDER BY created DESC, id DESC LIMIT 1), 0)";
constexpr const char* kBelow =
    "least(?, (SELECT id FROM run WHERE created >= ? ORDER BY created, id LIMIT 1))";

Query QueryOf(const RunFilter& filter, RunId before, std::size_t limit, std::string& sql) {
  Params params;
  const bool by_state =
      filter.state && (filter.by.empty() || !IsFinal(*filter.state));  // few runs are open
  const bool by_caller = !filter.by.empty() && !by_state;
  const char* column = by_state ? "state" : "by";
  const auto add_key = [&] {
    if (by_state) params.Int(static_cast<std::int64_t>(*filter.state));
    if (by_caller) params.Bytes(filter.by);
  };
  const auto bound = [&](const char* sign, const char* id) {
    sql += by_state || by_caller ? fmt::format(" (r.{}, r.id) {} (?, {})", column, sign, id)
                                 : fmt::format(" r.id {} {}", sign, id);
  };
  sql = "SELECT r.record FROM run r WHERE";
  add_key();
  bound("<", kBelow);
  params.Int(BeforeOf(before.value));
  params.Int(filter.until ? (filter.until + kClockSetBack).ms : kNoBound);
  sql += " AND";
  add_key();
  bound(">", kAbove);
  params.Int(filter.since ? (filter.since + -kClockSetBack).ms
                          : std::numeric_limits<std::int64_t>::min());
  if (filter.since) sql += " AND r.created + 0 >= ?";
  if (filter.since) params.Int(filter.since.ms);
  if (filter.until) sql += " AND r.created + 0 < ?";
  if (filter.until) params.Int(filter.until.ms);
  if (filter.state && !by_state) sql += " AND r.state + 0 = ?";
  if (filter.state && !by_state) params.Int(static_cast<std::int64_t>(*filter.state));
  if (!filter.by.empty() && !by_caller) sql += " AND r.by || '' = ?";
  if (!filter.by.empty() && !by_caller) params.Bytes(filter.by);
  sql += by_state || by_caller ? fmt::format(" ORDER BY r.{} DESC, r.id DESC LIMIT ?", column)
                               : " ORDER BY r.id DESC LIMIT ?";
  params.Int(LimitOf(limit));
  return {sql, std::move(params)};
}

bool Matches(const Run& run, const RunFilter& filter) {
  return (!filter.state || run.state == *filter.state) &&
         (filter.by.empty() || run.by == filter.by) &&
         (!filter.since || run.created >= filter.since) &&
         (!filter.until || run.created < filter.until);
}

struct Walked {
  std::int64_t id = 0;
  std::optional<Run> run;
};

// The host's next runs below one, each by one look into the index: asking for them in one plain
// query would sort all the host ever ran.
Result<std::vector<Walked>> WalkHost(Connection& connection, HostId host, std::int64_t below) {
  return ReadAll<Walked>(
      connection,
      "WITH RECURSIVE walk (run, place) AS ("
      "(SELECT run, 1::bigint FROM task WHERE host = ? AND run < ? ORDER BY run DESC LIMIT 1)"
      " UNION ALL SELECT (SELECT t.run FROM task t WHERE t.host = ? AND t.run < w.run"
      " ORDER BY t.run DESC LIMIT 1), w.place + 1 FROM walk w"
      " WHERE w.run IS NOT NULL AND w.place < ?)"
      " SELECT w.run, r.record FROM walk w LEFT JOIN run r ON r.id = w.run"
      " WHERE w.run IS NOT NULL ORDER BY w.run DESC",
      Params().Id(host.value).Int(below).Id(host.value).Int(kWalkedAtOnce),
      [](const Row& row) -> Result<Walked> {
        Walked walked{.id = row.Int(0), .run = {}};
        if (row.IsNull(1)) return walked;
        auto run = records::DecodeRun(row.Bytes(1));
        if (!run) return Fail(run.error());
        walked.run = std::move(*run);
        return walked;
      });
}

Result<std::vector<Run>> ReadRunsOf(Connection& connection, HostId host, const RunFilter& filter,
                                    RunId before, std::size_t limit) {
  std::vector<Run> runs;
  std::int64_t below = BeforeOf(before.value);
  while (runs.size() < limit) {
    auto walked = WalkHost(connection, host, below);
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

Result<std::vector<Run>> ReadRuns(Connection& connection, const RunFilter& filter, RunId before,
                                  std::size_t limit) {
  if (filter.host) return ReadRunsOf(connection, *filter.host, filter, before, limit);
  std::string sql;
  const Query query = QueryOf(filter, before, limit, sql);
  return ReadAll<Run>(connection, query.sql, query.params, ListedRun);
}

}  // namespace muster::postgres
