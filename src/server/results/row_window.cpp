#include "server/results/row_window.hpp"

#include <algorithm>
#include <map>

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

bool Meets(const Ordinals& hosts, std::uint32_t first, std::uint32_t last) {
  return std::ranges::any_of(hosts.Ranges(), [&](const Ordinals::Range& range) {
    return range.first <= last && first < range.second;
  });
}

// Adds the last row that each host of [first, last] has in the visit, unless it has one already.
Result<> AddVisit(Store& store, RunId run, Visit visit, std::uint32_t first, std::uint32_t last,
                  std::map<std::uint32_t, TaskRow>& found) {
  const std::size_t limit = last - first + 1;
  TaskKey after{run, visit, first - 1, HostId(UINT64_MAX), Attempt(UINT32_MAX)};
  if (first == 0)
    after = {run, Visit(visit.value - 1), UINT32_MAX, HostId(UINT64_MAX), Attempt(UINT32_MAX)};
  const auto rows = store.ListTasks(run, TaskFilter{}, after, limit);
  if (!rows) return Fail(rows.error());
  for (const auto& row : *rows) {
    if (row.key.visit != visit || row.key.ordinal > last) break;
    if (row.key.host)
      found.try_emplace(row.key.ordinal, TaskRow{row.key.ordinal, OutcomeOf(row).state, row.key});
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
                             const std::vector<StageVisit>& visits, bool of_stage,
                             const std::vector<std::uint8_t>& live, const RowFilter& filter) {
  RowWindow window{.targets = std::move(targets)};
  Ordinals part = Ordinals::All(static_cast<std::uint32_t>(window.targets->size()));
  if (of_stage) part = {};
  for (const auto& visit : visits)
    if (of_stage) part = Union(part, visit.hosts);
  const auto chosen = Choose(part, filter.SpanOf(*window.targets), filter.limit, window.next);
  if (chosen.empty()) return window;
  std::map<std::uint32_t, TaskRow> found;
  for (auto visit = visits.rbegin(); visit != visits.rend() && found.size() < chosen.size();
       ++visit) {
    if (!Meets(visit->hosts, chosen.front(), chosen.back())) continue;
    const auto added = AddVisit(store, run, visit->visit, chosen.front(), chosen.back(), found);
    if (!added) return Fail(added.error());
  }
  for (const std::uint32_t ordinal : chosen) {
    const auto row = found.find(ordinal);
    TaskRow shown = row != found.end()
                        ? row->second
                        : TaskRow{ordinal, TaskState::kWaiting, {run, {}, ordinal, {}, {}}};
    shown.key.host = (*window.targets)[ordinal].host;
    shown.state = Shown(shown.state, ordinal, live);
    window.rows.push_back(shown);
  }
  return window;
}

}  // namespace muster::server
