#include "engine/runs/replay.hpp"

#include <algorithm>
#include <map>

#include "domain/approvals.hpp"
#include "engine/runs/again.hpp"
#include "engine/runs/dispatch.hpp"
#include "engine/runs/ending.hpp"
#include "engine/runs/host_flow.hpp"
#include "engine/runs/render.hpp"

namespace muster::engine {
namespace {

// An attempt the node refused as too late leaves its task waiting for the next one.
bool WasRefusedLate(const TaskRecord& record) {
  return record.state == TaskState::kUnreachable && static_cast<bool>(record.sent);
}

bool IsServers(const TaskRecord& record) { return !record.key.host; }

void See(OpenRun& open, const StageVisit& visit, const TaskRecord& task) {
  HostFlow& host = open.hosts[task.key.ordinal];
  host.touched = host.touched || static_cast<bool>(task.sent);
  if (!IsFinal(task.state)) return;
  host.ended.Take(HostTasks<>::Of(visit, task.key.attempt, task.state));
  host.ended.Prune();
}

void TakeReported(OpenRun& open, const StageVisit& visit, const TaskRecord& task) {
  const Outputs outputs = task.end ? task.end->outputs : Outputs{};
  auto& reported = open.reported[visit.name];
  if (IsServers(task) && !outputs.empty())
    reported.stage = outputs;
  else if (IsServers(task))
    return;
  else if (outputs.empty())
    reported.hosts.erase(task.key.ordinal);
  else
    reported.hosts[task.key.ordinal] = outputs;
}

void ReplayEnded(OpenRun& open, const StageVisit& visit, const std::vector<TaskRecord>& tasks) {
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const TaskRecord& task = tasks[i];
    const bool last = i + 1 == tasks.size() || tasks[i + 1].key.ordinal != task.key.ordinal;
    if (!IsServers(task) && task.key.ordinal < open.hosts.size()) See(open, visit, task);
    if (last) TakeReported(open, visit, task);
  }
  if (!visit.status.empty()) open.reported[visit.name].status = visit.status;
  TakeResults(open, visit);
  const bool same_plan = visit.pass >= open.run.plan_pass;
  if (same_plan) PlaceUnfinished(open, visit);
  MoveHosts(open, visit);
  open.ended[visit.stage] = visit;
  if (!same_plan) return;
  MarkPassed(open, visit);
  NoteCourse(open, visit);
}

void ReplaySlots(OpenRun& open, OpenVisit& visit, std::vector<TaskRecord>& tasks) {
  for (auto& task : tasks) {
    const std::uint32_t ordinal = task.key.ordinal;
    if (IsServers(task)) {
      visit.server_attempts = task.key.attempt.value;
      visit.server_lost = !IsFinal(task.state);
      if (visit.server_lost) visit.attempts[0] = std::move(task);
      continue;
    }
    if (!visit.Has(ordinal)) continue;
    Slot& slot = visit.At(ordinal);
    slot.attempt = task.key.attempt.value;
    const bool again =
        WasRefusedLate(task) || (IsFinal(task.state) && MayRetry(open, visit, slot, task));
    if (again && !WasRefusedLate(task)) ++slot.retries;
    slot.state = again ? TaskState::kWaiting : task.state;
    See(open, visit.record, task);
    if (IsFinal(task.state)) TakeReported(open, visit.record, task);
    if (!IsFinal(task.state)) visit.attempts[ordinal] = std::move(task);
  }
  for (const auto& slot : visit.slots) ++visit.counts[slot.state];
}

void ReplayOpen(OpenRun& open, const StageVisit& record, std::vector<TaskRecord>& tasks) {
  OpenVisit& visit = open.visits[record.visit];
  visit.record = record;
  visit.hosts = record.hosts.List();
  visit.winding_up = open.Stopping();
  if (!WorksOnHosts(open.SpecOf(visit))) return ReplaySlots(open, visit, tasks);
  visit.slots.resize(visit.hosts.size());
  ReplaySlots(open, visit, tasks);
  auto command = RenderForAll(open, open.SpecOf(visit));
  if (command)
    visit.command = std::move(*command);
  else
    visit.winding_up = true;  // it was entered once, so this cannot be; nothing of it is sent
  visit.cursor = record.batch_begin;
  CountBatch(open, visit);
}

// Rows of an earlier pass may be of another plan: its stages are found by name.
std::optional<std::uint32_t> StageOf(const Run& run, const StageVisit& visit) {
  if (visit.stage < run.spec.stages.size() && run.spec.stages[visit.stage].name == visit.name)
    return visit.stage;
  const auto found = std::ranges::find(run.spec.stages, visit.name, &StageSpec::name);
  if (found == run.spec.stages.end()) return std::nullopt;
  return static_cast<std::uint32_t>(found - run.spec.stages.begin());
}

// After which of the visits each of them ends, by places: one that holds others after the last of
// these. Those that end after the same one stand in their order, inner ones first.
std::vector<std::vector<std::size_t>> EndsAfter(const std::vector<StageVisit>& visits) {
  std::map<Visit, std::size_t> places;
  std::vector<std::size_t> last(visits.size());
  for (std::size_t i = 0; i < visits.size(); ++i) {
    places[visits[i].visit] = last[i] = i;
    for (auto at = places.find(visits[i].parent); at != places.end();
         at = places.find(visits[at->second].parent))
      last[at->second] = i;
  }
  std::vector<std::vector<std::size_t>> ends(visits.size());
  for (std::size_t i = visits.size(); i-- > 0;) ends[last[i]].push_back(i);
  return ends;
}

// A visit is entered, as far as later stages and passes know of it.
void ReplayEntered(OpenRun& open, const StageVisit& visit) {
  ForgetReported(open, visit);
  EnterAgain(open, visit);
  if (visit.pass >= open.run.plan_pass) MarkEntered(open, visit);
}

}  // namespace

void BeginPass(OpenRun& open, const StageVisit& first) {
  open.ended.clear();
  open.earlier = open.courses;
  ForgetCourse(open, first.stage, first.hosts);
  for (const std::uint32_t ordinal : first.hosts.List())
    open.hosts[ordinal].dropped_at = HostFlow::kNowhere;
  // What is done before it, in a graph or in a branch, stays as it was reported wherever it stands.
  const RunSpec& plan = open.run.spec;
  const auto after = StagesAfter(plan, first.stage);
  for (std::uint32_t i = 0; i < plan.stages.size(); ++i) {
    const std::uint32_t top = TopLevelOf(plan, i);
    const bool again = top == first.stage || plan.stages[top].section == Section::kFinally ||
                       std::ranges::binary_search(after, top);
    const auto found = open.reported.find(plan.stages[i].name);
    if (!again || found == open.reported.end()) continue;
    found->second.stage.clear();
    found->second.status.clear();
    std::erase_if(found->second.hosts,
                  [&](const auto& item) { return first.hosts.Contains(item.first); });
  }
}

void Replay(OpenRun& open, const std::vector<StageVisit>& visits, std::vector<TaskRecord> tasks) {
  open.hosts.assign(open.targets->size(), HostFlow{});
  std::map<Visit, std::vector<TaskRecord>> by_visit;
  for (auto& task : tasks) by_visit[task.key.visit].push_back(std::move(task));
  for (auto& [visit, rows] : by_visit)
    std::ranges::sort(rows, {}, [](const TaskRecord& task) {
      return std::pair(task.key.ordinal, task.key.attempt);
    });
  std::vector<StageVisit> known;
  for (const StageVisit& visit : visits)
    if (const auto stage = StageOf(open.run, visit)) known.emplace_back(visit).stage = *stage;
  const auto ends = EndsAfter(known);
  std::uint32_t pass = 1;
  for (std::size_t i = 0; i < known.size(); ++i) {
    const StageVisit& visit = known[i];
    if (visit.pass > pass) {
      pass = visit.pass;
      BeginPass(open, visit);
    }
    ReplayEntered(open, visit);
    if (!IsFinal(visit.state)) ReplayOpen(open, visit, by_visit[visit.visit]);
    for (const std::size_t ended : ends[i])
      if (IsFinal(known[ended].state))
        ReplayEnded(open, known[ended], by_visit[known[ended].visit]);
  }
  if (pass < open.run.pass) {
    open.ended.clear();
    open.earlier = open.courses;
  }
  open.counts = {};
  open.counts[TaskState::kWaiting] = static_cast<std::uint32_t>(open.hosts.size());
  for (const auto& [id, visit] : open.visits)
    for (std::size_t i = 0; i < visit.slots.size(); ++i)
      open.hosts[visit.hosts[i]].Move(id, visit.slots[i].state);
  for (std::uint32_t i = 0; i < open.hosts.size(); ++i) CountHost(open, i);
}

}  // namespace muster::engine
