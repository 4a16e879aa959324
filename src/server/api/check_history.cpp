#include <algorithm>
#include <charconv>
#include <functional>
#include <memory>
#include <optional>

#include <boost/json.hpp>

#include "base/text.hpp"
#include "checks/history.hpp"
#include "server/api/check_period.hpp"
#include "server/api/check_routes.hpp"
#include "server/api/views.hpp"

// Whether what is on record of runs contradicts itself.
namespace muster::server::api {
namespace {

namespace json = boost::json;

constexpr std::size_t kHistoryPage = 1000;     // rows at a time
constexpr std::size_t kHistoryRuns = 20;       // a run may have 1,000 stages
constexpr std::size_t kMostRuns = 500;         // in one answer
constexpr std::size_t kMostAttempts = 20'000;  // in one answer; then it ends after that run
constexpr std::size_t kMostRows = 5'000;       // given in one answer, which may end inside a run
constexpr std::size_t kMostFound = 100;

// Where an answer begins: "r12" or, inside of a run whose first rows were given,
// "r12/VISIT.ORDINAL.HOST.ATTEMPT" of the last of them.
struct HistoryCursor {
  RunId before;                  // none: the newest run
  std::optional<TaskKey> given;  // the rest of this run's rows, which are not looked at again
};

std::string HistoryCursorText(const TaskKey& key) {
  return fmt::format("{}/{}.{}.{}.{}", FormatRunId(key.run), key.visit.value, key.ordinal,
                     key.host.value, key.attempt.value);
}

Result<HistoryCursor> ReadHistoryCursor(std::string_view text) {
  if (text.empty()) return HistoryCursor{};
  const auto slash = text.find('/');
  const auto run = ParseRunId(text.substr(0, slash));
  std::uint64_t visit = 0;
  std::uint64_t ordinal = 0;
  std::uint64_t host = 0;
  std::uint64_t attempt = 0;
  const auto number = [](std::string_view part, std::uint64_t& into) {
    const auto [end, problem] = std::from_chars(part.data(), part.data() + part.size(), into);
    return problem == std::errc{} && end == part.data() + part.size();
  };
  if (run && slash == std::string_view::npos) return HistoryCursor{.before = *run, .given = {}};
  const auto parts = Split(text.substr(slash == std::string_view::npos ? 0 : slash + 1), '.');
  if (!run || parts.size() != 4 || !number(parts[0], visit) || !number(parts[1], ordinal) ||
      !number(parts[2], host) || !number(parts[3], attempt) || visit > UINT32_MAX ||
      ordinal > UINT32_MAX || attempt > UINT32_MAX)
    return Fail(ErrorCode::kInvalid, "cursor: use the 'next' of the page before");
  return HistoryCursor{.before = *run,
                       .given = TaskKey{*run, Visit(static_cast<std::uint32_t>(visit)),
                                        static_cast<std::uint32_t>(ordinal), HostId(host),
                                        Attempt(static_cast<std::uint32_t>(attempt))}};
}

// The host names of the run that is looked at; read when somebody asks.
class HostNames {
 public:
  explicit HostNames(Store& store) : store_(store) {}

  std::string Of(const TaskKey& task) {
    if (task.run != run_) {
      const auto found = store_.FindTargets(task.run);
      targets_ = found ? *found : nullptr;
      run_ = task.run;
    }
    if (!task.host) return "";
    if (targets_ && task.ordinal < targets_->size()) return (*targets_)[task.ordinal].name;
    return fmt::format("host {}", task.host.value);
  }

 private:
  Store& store_;
  RunId run_;
  std::shared_ptr<const Targets> targets_;
};

json::value EndOf(const TaskRecord& row) {
  if (!row.end) return nullptr;
  return {{"state", Name(row.end->state)},
          {"exit_code", row.end->exit_code},
          {"signal", row.end->signal},
          {"started", TimeView(row.end->started)},
          {"ended", TimeView(row.end->ended)}};
}

json::object RowView(const TaskRecord& row, std::string host) {
  return {{"run", FormatRunId(row.key.run)},
          {"visit", row.key.visit.value},
          {"ordinal", row.key.ordinal},
          {"host_id", row.key.host.value},
          {"host", std::move(host)},
          {"attempt", row.key.attempt.value},
          {"state", Name(row.state)},
          {"sent", TimeView(row.sent)},
          {"sent_term", row.sent_term.value},
          {"sent_commit", row.sent_commit.value},
          {"ended_term", row.ended_term.value},
          {"ended_commit", row.ended_commit.value},
          {"store", row.store},
          {"end", EndOf(row)}};
}

// One answer: some runs of a period, newest first.
class Slice {
 public:
  Slice(Services& services, const Call& call, bool with_rows, CommitNumber horizon)
      : store_(services.store),
        call_(call),
        with_rows_(with_rows),
        names_(store_),
        horizon_(horizon),
        checker_({.horizon = horizon,
                  .most_findings = kMostFound,
                  .host_name = [this](const TaskKey& task) { return names_.Of(task); }}) {
    const Duration kept = services.keeper.GetStatus().retention.runs;
    if (kept > Duration::zero()) dropped_before_ = services.clock.Read().wall + -kept;
  }

  Result<> Take(const Run& run) {
    // Retention takes it apart, slice by slice.
    if (IsFinal(run.state) && run.created < dropped_before_ && run.ended < dropped_before_)
      return {};
    auto visits = VisitsOf(run.id);
    if (!visits) return Fail(visits.error());
    checker_.Begin(run, *visits);
    const auto look = [this](const TaskRecord& row) {
      checker_.Take(row);
      Give(row);
      return true;
    };
    if (const auto taken = EachRow(run.id, std::nullopt, look); !taken) return taken;
    checker_.End();
    return {};
  }
  // Gives rows of a run that was looked at before, those after `given`.
  Result<> GiveOn(const TaskKey& given) {
    if (!with_rows_) return {};
    return EachRow(given.run, given, [this](const TaskRecord& row) {
      Give(row);
      return !cut_;
    });
  }
  bool Full() const {
    return checker_.counts().attempts >= kMostAttempts || rows_.size() >= kMostRows ||
           checker_.findings().Full();
  }
  // Where the next answer begins, when this one ended inside a run.
  const std::optional<TaskKey>& cut() const { return cut_; }

  json::object View(const Period& period, json::value next) && {
    const auto& counts = checker_.counts();
    json::array findings;
    for (const auto& finding : checker_.findings().list()) findings.push_back(FindingView(finding));
    for (const auto& finding : checker_.terms().Overlaps())
      findings.push_back(FindingView(finding));
    json::array terms;
    for (const auto& [term, span] : checker_.terms().terms())
      terms.push_back(json::object{{"term", term.value},
                                   {"first", span.first.value},
                                   {"last", span.last.value},
                                   {"first_of", span.first_of},
                                   {"last_of", span.last_of}});
    json::object view{{"since", TimeView(period.since)},
                      {"until", TimeView(period.until)},
                      {"runs", counts.runs},
                      {"tasks", counts.tasks},
                      {"attempts", counts.attempts},
                      {"open", counts.open},
                      {"commit", horizon_.value},
                      {"terms", std::move(terms)},
                      {"findings", std::move(findings)},
                      {"more_findings", checker_.findings().more()},
                      {"next", std::move(next)}};
    if (with_rows_) view["rows"] = std::move(rows_);
    return view;
  }

 private:
  Result<std::vector<StageVisit>> VisitsOf(RunId run) {
    std::vector<StageVisit> visits;
    while (true) {
      auto page =
          store_.ListVisits(run, visits.empty() ? Visit() : visits.back().visit, kHistoryPage);
      if (!page) return Fail(page.error());
      std::ranges::move(*page, std::back_inserter(visits));
      if (page->size() < kHistoryPage) return visits;
    }
  }

  // Every attempt of the run after `after`, until `take` returns false.
  Result<> EachRow(RunId run, std::optional<TaskKey> after,
                   const std::function<bool(const TaskRecord&)>& take) {
    TaskFilter filter;
    filter.last_attempt_only = false;
    while (true) {
      const auto page = store_.ListTasks(run, filter, after, kHistoryPage);
      if (!page) return Fail(page.error());
      for (const auto& row : *page)
        if (!take(row)) return {};
      if (page->size() < kHistoryPage) return {};
      after = page->back().key;
      if (const auto on = call_.GoesOn(); !on) return Fail(on.error());
    }
  }

  void Give(const TaskRecord& row) {
    if (!with_rows_ || row.sent_commit > horizon_ || cut_) return;
    if (rows_.size() >= kMostRows) {
      cut_ = given_;
      return;
    }
    rows_.push_back(RowView(row, names_.Of(row.key)));
    given_ = row.key;
  }

  json::object FindingView(const checks::Finding& finding) {
    const TaskKey& task = finding.task;
    return {{"kind", checks::Name(finding.kind)},
            {"run", task.run ? json::value(FormatRunId(task.run)) : json::value(nullptr)},
            {"visit", task.visit.value},
            {"host", names_.Of(task)},
            {"attempt", task.attempt.value},
            {"text", finding.text}};
  }

  Store& store_;
  const Call& call_;
  bool with_rows_;
  HostNames names_;
  CommitNumber horizon_;
  checks::HistoryChecker checker_;
  json::array rows_;
  TaskKey given_;               // of the last of them
  std::optional<TaskKey> cut_;  // the same, when there are more of its run
  WallTime dropped_before_;
};

// Looks at runs before `before`, newest first. Gives the cursor of what follows, "" for nothing.
Result<std::string> TakeRuns(Store& store, const Call& call, const RunFilter& filter, RunId before,
                             Slice& slice) {
  for (std::size_t taken = 0; taken < kMostRuns; taken += kHistoryRuns) {
    const auto runs = store.ListRuns(filter, before, kHistoryRuns);
    if (!runs) return Fail(runs.error());
    for (const auto& run : *runs) {
      if (const auto looked = slice.Take(run); !looked) return Fail(looked.error());
      if (slice.cut()) return HistoryCursorText(*slice.cut());
      if (slice.Full()) return FormatRunId(run.id);
      if (const auto on = call.GoesOn(); !on) return Fail(on.error());
      before = run.id;
    }
    if (runs->size() < kHistoryRuns) return "";
  }
  return FormatRunId(before);
}

Result<json::object> CheckSome(Services& services, const Call& call) {
  const auto period = PeriodOf(call, services.clock.Read().wall);
  if (!period) return Fail(period.error());
  const auto cursor = ReadHistoryCursor(call.Query("cursor"));
  if (!cursor) return Fail(cursor.error());
  const auto with_rows = call.QueryFlag("rows");
  if (!with_rows) return Fail(with_rows.error());
  // Before anything else is read: see HistoryChecker.
  const auto fence = services.store.ReadFence();
  if (!fence) return Fail(fence.error());
  RunFilter filter;
  filter.since = period->since;
  filter.until = period->until;
  Slice slice(services, call, *with_rows, fence->number);
  if (cursor->given)
    if (const auto given = slice.GiveOn(*cursor->given); !given) return Fail(given.error());
  Result<std::string> next;
  if (slice.cut())
    next = HistoryCursorText(*slice.cut());
  else if (slice.Full())
    next = FormatRunId(cursor->before);
  else
    next = TakeRuns(services.store, call, filter, cursor->before, slice);
  if (!next) return Fail(next.error());
  return std::move(slice).View(*period, next->empty() ? json::value() : json::string(*next));
}

}  // namespace

void CheckHistory(Services& services, const CallPtr& call) {
  auto view = CheckSome(services, *call);
  if (!view) return call->Fail(view.error());
  call->Json(200, std::move(*view));
}

}  // namespace muster::server::api
