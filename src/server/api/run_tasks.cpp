#include "server/api/run_tasks.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace muster::server::api {
namespace {

constexpr std::size_t kPage = 2000;

// A row may lag behind what is known now: running has no row of its own, and an attempt that came
// too late has ended while its task waits for the next.
TaskState ShownState(const TaskRecord* record, std::optional<TaskState> live) {
  if (record == nullptr) return live.value_or(TaskState::kWaiting);
  if (live && !IsFinal(*live))
    return IsFinal(record->state) && record->sent && *live != TaskState::kQueued ? record->state
                                                                                 : *live;
  return record->state;
}

using Visitor = std::function<bool(const TaskNow&)>;

// What is known of a run's hosts at one moment.
struct Known {
  std::optional<LiveView::RunView> live;
  std::shared_ptr<const Targets> targets;

  std::uint32_t Hosts() const { return static_cast<std::uint32_t>(targets->size()); }
  std::optional<TaskState> StateOf(std::uint32_t ordinal) const {
    if (!live || ordinal >= live->states.size()) return std::nullopt;
    return static_cast<TaskState>(live->states[ordinal]);
  }
  bool Show(std::uint32_t ordinal, const TaskRecord* record, const Visitor& visit) const {
    return visit(
        {ordinal, &(*targets)[ordinal].name, ShownState(record, StateOf(ordinal)), record});
  }
};

Result<Known> Look(Services& services, RunId run) {
  Known known;
  known.live = services.live.FindRun(run, true);
  auto targets = known.live && known.live->targets
                     ? Result<std::shared_ptr<const Targets>>(known.live->targets)
                     : services.store.FindTargets(run);
  if (!targets) return Fail(targets.error());
  known.targets = std::move(*targets);
  return known;
}

// Of a run that entered one stage once, as most do: its rows come in the order of its hosts.
Result<> WalkOne(Services& services, RunId run, std::uint32_t from, const Known& known,
                 const Visitor& visit) {
  std::optional<TaskKey> after;
  if (from > 0) after = TaskKey{run, Visit(1), from - 1, HostId(UINT64_MAX), Attempt(UINT32_MAX)};
  std::uint32_t next = from;
  const std::uint32_t hosts = known.Hosts();
  while (next < hosts) {
    const auto rows = services.store.ListTasks(run, TaskFilter{}, after, kPage);
    if (!rows) return Fail(rows.error());
    for (const auto& row : *rows) {
      for (; next < row.key.ordinal && next < hosts; ++next)
        if (!known.Show(next, nullptr, visit)) return {};
      if (row.key.ordinal < next || row.key.ordinal >= hosts) continue;
      if (!known.Show(next++, &row, visit)) return {};
    }
    if (rows->size() < kPage) break;
    after = rows->back().key;
  }
  for (; next < hosts; ++next)
    if (!known.Show(next, nullptr, visit)) return {};
  return {};
}

// The last row of each host, of some visits or of all.
Result<std::map<std::uint32_t, TaskRecord>> LastRows(Services& services, RunId run,
                                                     const std::set<Visit>* only) {
  std::map<std::uint32_t, TaskRecord> last;
  std::optional<TaskKey> after;
  for (;;) {
    auto rows = services.store.ListTasks(run, TaskFilter{}, after, kPage);
    if (!rows) return Fail(rows.error());
    if (rows->empty()) return last;
    after = rows->back().key;
    for (auto& row : *rows)
      if (row.key.host && (only == nullptr || only->contains(row.key.visit)))
        last.insert_or_assign(row.key.ordinal, std::move(row));
  }
}

Result<> WalkMany(Services& services, RunId run, const TaskChoice& choice, const Known& known,
                  const Visitor& visit) {
  std::set<Visit> only;
  Ordinals hosts = Ordinals::All(known.Hosts());
  if (!choice.stage.empty()) {
    const auto visits = VisitsOf(services, run, choice.stage);
    if (!visits) return Fail(visits.error());
    hosts = {};
    for (const auto& one : *visits) {
      only.insert(one.visit);
      hosts = Union(hosts, one.hosts);
    }
  }
  const auto last = LastRows(services, run, choice.stage.empty() ? nullptr : &only);
  if (!last) return Fail(last.error());
  for (const std::uint32_t ordinal : hosts.List()) {
    if (ordinal < choice.from || ordinal >= known.Hosts()) continue;
    const auto row = last->find(ordinal);
    if (!known.Show(ordinal, row == last->end() ? nullptr : &row->second, visit)) return {};
  }
  return {};
}

}  // namespace

Result<std::vector<StageVisit>> VisitsOf(Services& services, RunId run, const std::string& stage) {
  std::vector<StageVisit> of_stage;
  Visit after;
  bool known = false;
  for (;;) {
    auto page = services.store.ListVisits(run, after, kPage);
    if (!page) return Fail(page.error());
    if (page->empty()) break;
    after = page->back().visit;
    for (auto& visit : *page) {
      if (visit.name != stage) continue;
      if (!of_stage.empty() && of_stage.back().pass < visit.pass) of_stage.clear();
      of_stage.push_back(std::move(visit));
      known = true;
    }
  }
  if (known) return of_stage;
  const auto found = services.store.FindRun(run);
  if (!found) return Fail(found.error());
  const bool has = found->value && std::ranges::any_of(found->value->stages, [&](const auto& one) {
                     return one.name == stage;
                   });
  if (has) return of_stage;
  return Fail(ErrorCode::kNotFound, "run {} has no stage '{}'", FormatRunId(run), stage);
}

Result<> WalkTasks(Services& services, RunId run, const TaskChoice& choice, const Visitor& visit) {
  const auto known = Look(services, run);
  if (!known) return Fail(known.error());
  std::uint32_t next_visit = 0;
  if (known->live && known->live->run) {
    next_visit = known->live->run->next_visit;
  } else {
    const auto found = services.store.FindRun(run);
    if (!found) return Fail(found.error());
    if (found->value) next_visit = found->value->next_visit;
  }
  if (next_visit <= 2 && choice.stage.empty())
    return WalkOne(services, run, choice.from, *known, visit);
  return WalkMany(services, run, choice, *known, visit);
}

}  // namespace muster::server::api
