#include <algorithm>
#include <memory>
#include <optional>

#include <boost/json.hpp>

#include "checks/history.hpp"
#include "server/api/check_period.hpp"
#include "server/api/check_routes.hpp"
#include "server/api/views.hpp"

// Whether what is on record of runs contradicts itself.
namespace muster::server::api {
namespace {

namespace json = boost::json;

constexpr std::size_t kHistoryPage = 1000;  // rows at a time
constexpr std::size_t kMostRuns = 500;      // in one answer
constexpr std::size_t kMostRows = 20'000;   // in one answer; then it ends after that run
constexpr std::size_t kMostFound = 100;

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
  Slice(Services& services, bool with_rows, CommitNumber horizon)
      : store_(services.store),
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
    if (const auto taken = TakeRows(run.id); !taken) return taken;
    checker_.End();
    return {};
  }
  bool Full() const {
    return checker_.counts().runs >= kMostRuns || checker_.counts().attempts >= kMostRows ||
           checker_.findings().Full();
  }

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

  Result<> TakeRows(RunId run) {
    TaskFilter filter;
    filter.last_attempt_only = false;
    std::optional<TaskKey> after;
    while (true) {
      const auto page = store_.ListTasks(run, filter, after, kHistoryPage);
      if (!page) return Fail(page.error());
      for (const auto& row : *page) {
        checker_.Take(row);
        if (with_rows_ && row.sent_commit <= horizon_)
          rows_.push_back(RowView(row, names_.Of(row.key)));
      }
      if (page->size() < kHistoryPage) return {};
      after = page->back().key;
    }
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
  bool with_rows_;
  HostNames names_;
  CommitNumber horizon_;
  checks::HistoryChecker checker_;
  json::array rows_;
  WallTime dropped_before_;
};

Result<json::object> CheckSome(Services& services, const CallPtr& call) {
  const auto period = PeriodOf(call, services.clock.Read().wall);
  if (!period) return Fail(period.error());
  RunId before;
  if (const std::string cursor = call->Query("cursor"); !cursor.empty()) {
    const auto id = ParseRunId(cursor);
    if (!id) return Fail(id.error());
    before = *id;
  }
  // Before anything else is read: see HistoryChecker.
  const auto fence = services.store.ReadFence();
  if (!fence) return Fail(fence.error());
  RunFilter filter;
  filter.since = period->since;
  filter.until = period->until;
  const auto runs = services.store.ListRuns(filter, before, kMostRuns);
  if (!runs) return Fail(runs.error());
  Slice slice(services, call->Query("rows") == "true", fence->number);
  json::value next = nullptr;
  if (runs->size() == kMostRuns) next = json::string(FormatRunId(runs->back().id));
  for (const auto& run : *runs) {
    if (const auto taken = slice.Take(run); !taken) return Fail(taken.error());
    if (!slice.Full() || &run == &runs->back()) continue;
    next = json::string(FormatRunId(run.id));
    break;
  }
  return std::move(slice).View(*period, std::move(next));
}

}  // namespace

void CheckHistory(Services& services, const CallPtr& call) {
  auto view = CheckSome(services, call);
  if (!view) return call->Fail(view.error());
  call->Json(200, std::move(*view));
}

}  // namespace muster::server::api
