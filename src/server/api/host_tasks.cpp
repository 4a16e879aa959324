#include "server/api/host_tasks.hpp"

#include <map>

namespace muster::server::api {
namespace {

constexpr std::size_t kHostRowsPage = 1000;

}  // namespace

Result<HostTaskRows> TasksOfHost(Store& store, RunId run, HostId host,
                                 const std::function<Result<>()>& goes_on) {
  TaskFilter filter;
  filter.host = host;
  const auto rows = store.ListTasks(run, filter, std::nullopt, kHostRowsPage);
  if (!rows) return Fail(rows.error());
  HostTaskRows tasks;
  if (rows->empty()) return tasks;
  const std::uint32_t ordinal = rows->front().key.ordinal;
  std::map<Visit, StageVisit> visits;
  for (Visit after;; after = visits.rbegin()->first) {
    if (const auto on = goes_on(); !on) return Fail(on.error());
    auto page = store.ListVisits(run, after, kHostRowsPage);
    if (!page) return Fail(page.error());
    if (page->empty()) break;
    const bool last = page->size() < kHostRowsPage;
    for (auto& visit : *page) {
      for (const auto& [state, hosts] : visit.results)
        if (hosts.Contains(ordinal)) tasks.Take(HostTaskRows::Of(visit, {}, state));
      visits.emplace(visit.visit, std::move(visit));
    }
    if (last) break;
  }
  for (const auto& row : *rows) {
    const auto visit = visits.find(row.key.visit);
    if (visit == visits.end()) continue;
    auto task = HostTaskRows::Of(visit->second, row.key.attempt, row.state);
    task.note = row;
    tasks.Take(std::move(task));
  }
  return tasks;
}

}  // namespace muster::server::api
