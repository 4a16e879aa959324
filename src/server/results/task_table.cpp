#include "server/results/task_table.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace muster::server {
namespace {

// How far an attempt is; a later word about it has a higher one.
enum Progress : std::uint8_t {
  kTold = 0,
  kQueuedUp = 1,
  kOut = 2,
  kStarted = 3,
  kOver = 4,
  kWhole = 5
};

Progress ProgressOf(const TaskRecord& row) {
  if (!IsFinal(row.state)) return kOut;
  return row.log.state == LogState::kOpen ? kOver : kWhole;
}

// What a stage says itself of a host: where it came out in the run that the stage started, or that
// no batch reached it.
Outcome OutcomeInStage(const StageVisit& visit, TaskState state) {
  Outcome outcome;
  outcome.state = state;
  outcome.reason = visit.child ? fmt::format("in run {}", FormatRunId(visit.child))
                               : fmt::format("left out of stage {}", visit.name);
  return outcome;
}

}  // namespace

TaskTable TaskTable::OfRun(std::uint32_t hosts) {
  TaskTable table(hosts, true);
  table.Join(0, hosts);
  return table;
}

TaskTable TaskTable::OfStage(std::uint32_t hosts) { return {hosts, false}; }

void TaskTable::Join(std::uint32_t first, std::uint32_t last) {
  for (std::uint32_t i = first; i < last && i < Hosts(); ++i) {
    if (std::exchange(hosts_[i].part, true)) continue;
    open_[static_cast<std::size_t>(TaskState::kWaiting)].Insert(i);
    ++parts_;
  }
}

void TaskTable::Enter(const StageVisit& visit) {
  if (!whole_ && visit.pass < pass_) return;
  if (!whole_ && visit.pass > pass_) {
    *this = OfStage(Hosts());
    pass_ = visit.pass;
  }
  if (!visits_.contains(visit.visit)) {
    StageVisit& known = visits_[visit.visit];
    known.state = StageState::kRunning;
    known.visit = visit.visit;
    known.stage = visit.stage;
    known.pass = visit.pass;
    known.recovers = visit.recovers;
    known.onward = visit.onward;
    known.in_finally = visit.in_finally;
    if (!whole_)
      for (const auto& [first, last] : visit.hosts.Ranges()) Join(first, last);
  }
  if (IsFinal(visit.state)) EndQueues(visit);
  for (const auto& [state, hosts] : visit.results) {
    const Outcome outcome = OutcomeInStage(visit, state);
    for (const std::uint32_t ordinal : hosts.List()) {
      if (ordinal >= Hosts() || !hosts_[ordinal].part) continue;
      Known::Task task = Known::Of(visit, {}, state);
      task.progress = kWhole;
      task.note.exact = exact_.try_emplace(outcome).first;
      task.note.masked = masked_.try_emplace(outcome).first;
      Add(ordinal, std::move(task));
    }
  }
}

// What was queued in a visit that has ended was never sent.
void TaskTable::EndQueues(const StageVisit& ended) {
  visits_[ended.visit].state = ended.state;
  for (const auto& [first, last] : ended.hosts.Ranges())
    for (std::uint32_t i = first; i < last && i < Hosts(); ++i) {
      if (hosts_[i].queued != ended.visit) continue;
      Leave(i);
      hosts_[i].queued = {};
      PutInPlace(i);
    }
}

const StageVisit* TaskTable::VisitOf(const TaskKey& task) const {
  if (!task.host || task.ordinal >= Hosts() || !hosts_[task.ordinal].part) return nullptr;
  const auto found = visits_.find(task.visit);
  return found == visits_.end() ? nullptr : &found->second;
}

void TaskTable::Take(const TaskRecord& row) {
  const StageVisit* visit = VisitOf(row.key);
  if (visit == nullptr) return;
  Outcome exact = OutcomeOf(row);
  Known::Task task = Known::Of(*visit, row.key.attempt, exact.state);
  task.progress = ProgressOf(row);
  task.note.bytes = row.log.bytes;
  if (IsFinal(exact.state)) {
    task.note.masked = masked_.try_emplace(Masked(exact, row.log)).first;
    task.note.exact = exact_.try_emplace(std::move(exact)).first;
  }
  Add(row.key.ordinal, std::move(task));
}

void TaskTable::Take(const TaskKey& key, TaskState state) {
  const StageVisit* visit = VisitOf(key);
  if (visit == nullptr) return;
  if (state == TaskState::kQueued) return Queue(key.ordinal, key.visit);
  if (state != TaskState::kRunning) return;
  Known::Task task = Known::Of(*visit, key.attempt, state);
  task.progress = kStarted;
  Add(key.ordinal, std::move(task));
}

void TaskTable::Adopt(std::uint32_t ordinal, TaskState live) {
  if (ordinal >= Hosts() || !hosts_[ordinal].part) return;
  const Standing standing = StandingOf(hosts_[ordinal]);
  if (standing.state == TaskState::kWaiting && live == TaskState::kQueued) {
    const Known::Task* last = hosts_[ordinal].tasks.Deciding();
    return Queue(ordinal, Visit(last == nullptr ? 1 : last->visit.value + 1));
  }
  if (standing.state != TaskState::kSent || live != TaskState::kRunning) return;
  Known::Task task = *standing.task;
  task.state = live;
  task.progress = kStarted;
  Add(ordinal, std::move(task));
}

void TaskTable::Queue(std::uint32_t ordinal, Visit visit) {
  Host& host = hosts_[ordinal];
  const bool known = std::ranges::any_of(
      host.tasks.All(), [&](const Known::Task& task) { return task.visit >= visit; });
  const auto of = visits_.find(visit);
  if (known || (of != visits_.end() && IsFinal(of->second.state))) return;
  Leave(ordinal);
  host.queued = visit;
  PutInPlace(ordinal);
}

void TaskTable::SetEnded(bool ended) {
  if (!whole_ || ended_ == ended) return;
  // Only hosts without a task, and those that came through a stage and have others before them,
  // stand otherwise then.
  std::vector<std::uint32_t> between;
  for (std::uint32_t i = 0; i < Hosts(); ++i) {
    const Known::Task* decides = hosts_[i].tasks.Deciding();
    if (decides != nullptr && (!decides->onward || decides->state != TaskState::kSucceeded))
      continue;
    Leave(i);
    between.push_back(i);
  }
  ended_ = ended;
  for (const std::uint32_t ordinal : between) PutInPlace(ordinal);
}

Ordinals TaskTable::Wanted(const StageVisit& visit) {
  Ordinals wanted;
  for (const auto& [first, last] : visit.hosts.Ranges())
    for (std::uint32_t i = first; i < last && i < Hosts(); ++i)
      if (hosts_[i].part && hosts_[i].tasks.Want(visit, i)) wanted.Insert(i);
  return wanted;
}

void TaskTable::Add(std::uint32_t ordinal, Known::Task task) {
  Host& host = hosts_[ordinal];
  Leave(ordinal);
  ++tasks_;
  if (IsFinal(task.state)) {
    ++task.note.exact->second.tasks;
    ++task.note.masked->second.tasks;
  }
  if (task.visit >= host.queued) host.queued = {};
  host.tasks.Take(std::move(task), [this](const Known::Task& gone) { Drop(gone); });
  PutInPlace(ordinal);
}

void TaskTable::Drop(const Known::Task& task) {
  --tasks_;
  if (!IsFinal(task.state)) return;
  if (--task.note.exact->second.tasks == 0) exact_.erase(task.note.exact);
  if (--task.note.masked->second.tasks == 0) masked_.erase(task.note.masked);
}

TaskTable::Standing TaskTable::StandingOf(const Host& host) const {
  const Known::Task* decides = host.tasks.Deciding();
  if (decides != nullptr && !IsFinal(decides->state)) return {decides->state, decides};
  if (host.queued) return {TaskState::kQueued, nullptr};
  const TaskState state = whole_ ? Known::Standing(decides, !ended_) : Known::InStage(decides);
  return {state, IsFinal(state) ? decides : nullptr};
}

void TaskTable::Leave(std::uint32_t ordinal) {
  const Standing standing = StandingOf(hosts_[ordinal]);
  if (!IsFinal(standing.state) || standing.task == nullptr)
    return open_[static_cast<std::size_t>(standing.state)].Erase(ordinal);
  standing.task->note.exact->second.hosts.Erase(ordinal);
  standing.task->note.masked->second.hosts.Erase(ordinal);
}

void TaskTable::PutInPlace(std::uint32_t ordinal) {
  const Standing standing = StandingOf(hosts_[ordinal]);
  if (!IsFinal(standing.state) || standing.task == nullptr)
    return open_[static_cast<std::size_t>(standing.state)].Insert(ordinal);
  standing.task->note.exact->second.hosts.Insert(ordinal);
  standing.task->note.masked->second.hosts.Insert(ordinal);
}

TaskTable::Place TaskTable::At(std::uint32_t ordinal) const {
  const Host& host = hosts_[ordinal];
  const Standing standing = StandingOf(host);
  Place place;
  place.part = host.part;
  place.state = standing.state;
  if (standing.task == nullptr) return place;
  place.visit = standing.task->visit;
  place.attempt = standing.task->attempt;
  place.bytes = standing.task->note.bytes;
  return place;
}

std::string TaskTable::States() const {
  std::string states(hosts_.size(), kNoTask);
  for (std::size_t i = 0; i < hosts_.size(); ++i)
    if (hosts_[i].part) states[i] = static_cast<char>(StandingOf(hosts_[i]).state);
  return states;
}

}  // namespace muster::server
