#include "server/results/row_window.hpp"

#include <algorithm>
#include <map>

#include "domain/host_result.hpp"
#include "server/results/outcome.hpp"

namespace muster::server {
namespace {

// The ordinals of the window, as far as there are that many, and where the next one begins.
std::vector<std::uint32_t> Choose(const Ordinals& part, RowFilter::Span span, std::size_t limit,
                                  std::optional<std::uint32_t>& next) {
  std::vector<std::uint32_t> chosen;
  for (const auto& [first, last] : part.Ranges()) {
    for (std::uint32_t i = std::max(first, span.first); i < std::min(last, span.last); ++i) {
      if (chosen.size() == limit) {
        next = i;
        return chosen;
      }
      chosen.push_back(i);
    }
  }
  return chosen;
}

using Chosen = std::map<std::uint32_t, HostTasks<>>;  // by ordinal

bool Want(Chosen& chosen, const StageVisit& visit) {
  bool wanted = false;
  for (auto& [ordinal, tasks] : chosen)  // each is asked
    if (visit.hosts.Contains(ordinal) && tasks.Want(visit, ordinal)) wanted = true;
  return wanted;
}

// Adds the last attempts that the hosts have in the visit.
Result<> AddVisit(Store& store, RunId run, const StageVisit& visit, Chosen& chosen) {
  for (const auto& [state, hosts] : visit.results)
    for (auto& [ordinal, tasks] : chosen)
      if (hosts.Contains(ordinal)) tasks.Take(HostTasks<>::Of(visit, {}, state));
  const std::uint32_t first = chosen.begin()->first;
  const std::uint32_t last = chosen.rbegin()->first;
  TaskKey after{run, visit.visit, first - 1, HostId(UINT64_MAX), Attempt(UINT32_MAX)};
  if (first == 0)
    after = {run, Visit(visit.visit.value - 1), UINT32_MAX, HostId(UINT64_MAX),
             Attempt(UINT32_MAX)};
  const auto rows = store.ListTasks(run, TaskFilter{}, after, last - first + 1);
  if (!rows) return Fail(rows.error());
  for (const auto& row : *rows) {
    if (row.key.visit != visit.visit || row.key.ordinal > last) break;
    const auto host = chosen.find(row.key.ordinal);
    if (!row.key.host || host == chosen.end()) continue;
    host->second.Take(HostTasks<>::Of(visit, row.key.attempt, OutcomeOf(row).state));
  }
  return {};
}

// A row may lag behind what is known now, and what waits has none.
TaskState Shown(TaskState kept, std::uint32_t ordinal, const std::vector<std::uint8_t>& live) {
  if (ordinal >= live.size()) return kept;
  const auto now = static_cast<TaskState>(live[ordinal]);
  const bool fits = (kept == TaskState::kWaiting && now == TaskState::kQueued) ||
                    (kept == TaskState::kSent && now == TaskState::kRunning);
  return fits ? now : kept;
}

}  // namespace

RowFilter::Span RowFilter::SpanOf(const Targets& targets) const {
  Span span{from, static_cast<std::uint32_t>(targets.size())};
  if (host.empty()) return span;
  const auto at =
      static_cast<std::uint32_t>(std::ranges::find(targets, host, &Target::name) - targets.begin());
  return {std::max(from, at), std::min(span.last, at + 1)};
}

Result<RowWindow> ReadWindow(Store& store, RunId run, std::shared_ptr<const Targets> targets,
                             const std::vector<StageVisit>& visits, const RunNow& now,
                             const RowFilter& filter) {
  RowWindow window{.targets = std::move(targets)};
  Ordinals part = Ordinals::All(static_cast<std::uint32_t>(window.targets->size()));
  if (now.of_stage) part = {};
  for (const auto& visit : visits)
    if (now.of_stage) part = Union(part, visit.hosts);
  Chosen chosen;
  for (const auto ordinal : Choose(part, filter.SpanOf(*window.targets), filter.limit, window.next))
    chosen[ordinal];
  if (chosen.empty()) return window;
  for (auto visit = visits.rbegin(); visit != visits.rend(); ++visit) {
    if (!Want(chosen, *visit)) continue;
    if (auto added = AddVisit(store, run, *visit, chosen); !added) return Fail(added.error());
  }
  for (const auto& [ordinal, tasks] : chosen) {
    const auto* decides = tasks.Deciding();
    const TaskState state =
        now.of_stage ? HostTasks<>::InStage(decides) : HostTasks<>::Standing(decides, now.open);
    TaskRow row{ordinal, state, {run, {}, ordinal, {}, {}}};
    if (decides != nullptr && row.state == decides->state) {
      row.key.visit = decides->visit;
      row.key.attempt = decides->attempt;
    }
    row.key.host = (*window.targets)[ordinal].host;
    row.state = Shown(row.state, ordinal, now.states);
    window.rows.push_back(row);
  }
  return window;
}

}  // namespace muster::server
