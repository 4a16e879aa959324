#include "server/results/task_table.hpp"

#include <tuple>
#include <utility>

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

bool IsOlder(const TaskKey& task, std::uint8_t progress, const TaskTable::Place& place) {
  return std::tuple(task.visit, task.attempt, progress) <
         std::tuple(place.visit, place.attempt, place.progress);
}

void Drop(TaskTable::Groups& groups, TaskTable::Groups::iterator group, std::uint32_t ordinal) {
  group->second.Erase(ordinal);
  if (group->second.Empty()) groups.erase(group);
}

}  // namespace

TaskTable TaskTable::OfRun(std::uint32_t hosts) {
  TaskTable table(hosts);
  table.Join(0, hosts);
  return table;
}

TaskTable TaskTable::OfStage(std::uint32_t hosts) {
  TaskTable table(hosts);
  table.visits_.emplace();
  return table;
}

void TaskTable::Join(std::uint32_t first, std::uint32_t last) {
  for (std::uint32_t i = first; i < last && i < Hosts(); ++i) {
    if (std::exchange(places_[i].part, true)) continue;
    waiting_.Insert(i);
    ++tasks_;
  }
}

void TaskTable::Enter(const StageVisit& visit) {
  if (!visits_ || visit.pass < pass_ || visits_->contains(visit.visit)) return;
  if (visit.pass > pass_) {
    *this = OfStage(Hosts());
    pass_ = visit.pass;
  }
  visits_->insert(visit.visit);
  for (const auto& [first, last] : visit.hosts.Ranges()) Join(first, last);
}

bool TaskTable::Concerns(const TaskKey& task) const {
  return task.host && task.ordinal < Hosts() && places_[task.ordinal].part &&
         (!visits_ || visits_->contains(task.visit));
}

void TaskTable::Take(const TaskRecord& row) {
  const Progress progress = ProgressOf(row);
  if (!Concerns(row.key) || IsOlder(row.key, progress, places_[row.key.ordinal])) return;
  Outcome exact = OutcomeOf(row);
  Outcome masked = Masked(exact, row.log);
  Move(row.key.ordinal, row.key, progress, std::move(exact), std::move(masked));
  places_[row.key.ordinal].bytes = row.log.bytes;
}

void TaskTable::Take(const TaskKey& task, TaskState state) {
  if (state != TaskState::kQueued && state != TaskState::kRunning) return;
  const Progress progress = state == TaskState::kQueued ? kQueuedUp : kStarted;
  if (!Concerns(task) || IsOlder(task, progress, places_[task.ordinal])) return;
  Outcome outcome;
  outcome.state = state;
  Move(task.ordinal, task, progress, outcome, outcome);
}

void TaskTable::Adopt(std::uint32_t ordinal, TaskState live) {
  if (ordinal >= Hosts() || !places_[ordinal].part) return;
  const Place& place = places_[ordinal];
  const bool fits = (place.state == TaskState::kWaiting && live == TaskState::kQueued) ||
                    (place.state == TaskState::kSent && live == TaskState::kRunning);
  if (!fits) return;
  Outcome outcome;
  outcome.state = live;
  const TaskKey task{{}, place.visit, ordinal, {}, place.attempt};
  Move(ordinal, task, place.progress, outcome, outcome);
}

void TaskTable::Leave(std::uint32_t ordinal) {
  Place& place = places_[ordinal];
  if (place.state == TaskState::kWaiting) return waiting_.Erase(ordinal);
  Drop(exact_, place.exact, ordinal);
  Drop(masked_, place.masked, ordinal);
}

void TaskTable::Move(std::uint32_t ordinal, const TaskKey& task, std::uint8_t progress,
                     Outcome exact, Outcome masked) {
  Leave(ordinal);
  Place& place = places_[ordinal];
  place.visit = task.visit;
  place.attempt = task.attempt;
  place.progress = progress;
  place.state = exact.state;
  place.exact = exact_.try_emplace(std::move(exact)).first;
  place.exact->second.Insert(ordinal);
  place.masked = masked_.try_emplace(std::move(masked)).first;
  place.masked->second.Insert(ordinal);
}

std::string TaskTable::States() const {
  std::string states(places_.size(), kNoTask);
  for (std::size_t i = 0; i < places_.size(); ++i)
    if (places_[i].part) states[i] = static_cast<char>(places_[i].state);
  return states;
}

}  // namespace muster::server
