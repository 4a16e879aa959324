#pragma once

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "domain/ids.hpp"
#include "domain/run.hpp"
#include "domain/task.hpp"

// What a run came to on one of its hosts.
//
// In each visit the host's last attempt counts, and of several visits to one stage the last one.
// The worst of these tasks is the host's result. A task that succeeded in a stage that recovers
// clears those before it. In a pass where the host has a task outside of `finally`, only the tasks
// of that pass count: a cleanup alone does not replace what came before it. A host without any task
// in an ended run was skipped.
namespace muster {

// Whether an ended task counts before another one: failed, timed_out, killed, lost, refused,
// unreachable, skipped, succeeded.
bool IsWorse(TaskState a, TaskState b) noexcept;

// Whether hosts that come through a stage may have others before them, apart from `finally`.
Onward OnwardFrom(const RunSpec& plan, std::uint32_t stage);

// The tasks of one host, the last of each stage. They may be taken in any order. `Note` is what
// the user keeps with a task.
template <typename Note = std::monostate>
class HostTasks {
 public:
  struct Task {
    Visit visit;
    Attempt attempt;
    std::uint32_t stage = 0;
    std::uint32_t pass = 1;
    TaskState state = TaskState::kWaiting;
    std::uint8_t progress = 0;  // of two words about one attempt, the one with the higher counts
    bool recovers = false;
    bool onward = false;
    bool in_finally = false;
    [[no_unique_address]] Note note{};
  };

  static Task Of(const StageVisit& visit, Attempt attempt, TaskState state) {
    Task task;
    task.visit = visit.visit;
    task.attempt = attempt;
    task.stage = visit.stage;
    task.pass = visit.pass;
    task.state = state;
    task.recovers = visit.recovers;
    task.onward = visit.onward == Onward::kMore;
    task.in_finally = visit.in_finally;
    return task;
  }

  // Calls `drop` with each task that counts no more for this one; with the task itself when one
  // that is known counts before it.
  template <typename Drop>
  void Take(Task task, const Drop& drop) {
    if (task.pass < pass_ || CameThroughLater(task.stage, task.visit)) return drop(task);
    if (!task.in_finally && task.pass > pass_) {
      pass_ = task.pass;
      std::erase_if(tasks_, [&](const Task& known) {
        if (known.pass >= pass_) return false;
        drop(known);
        return true;
      });
    }
    if (task.recovers && task.state == TaskState::kSucceeded)
      cleared_ = std::max(cleared_, task.visit);
    const auto same = std::ranges::find(tasks_, task.stage, &Task::stage);
    if (same == tasks_.end()) {
      tasks_.push_back(std::move(task));
    } else if (IsLater(task, *same)) {
      std::swap(*same, task);
      drop(task);
    } else {
      drop(task);
    }
  }
  void Take(Task task) {
    Take(std::move(task), [](const Task&) {});
  }

  // The task that says how the host stands: one that has not ended, else the worst, else the
  // latest. nullptr: it has none.
  const Task* Deciding() const {
    const Task* decides = nullptr;
    for (const Task& task : tasks_)
      if (task.visit >= cleared_ && (decides == nullptr || Before(task, *decides))) decides = &task;
    return decides;
  }

  // Drops what decides nothing any more, provided that visits are taken in their order.
  void Prune() {
    if (tasks_.size() < 2) return;
    const Visit decisive = Deciding()->visit;
    Visit latest;
    for (const Task& task : tasks_) latest = std::max(latest, task.visit);
    std::erase_if(tasks_, [&](const Task& task) {
      if (task.visit == decisive || task.visit == latest) return false;
      return task.visit < cleared_ || task.state == TaskState::kSucceeded;
    });
  }

  // For those who have a run's visits and look its tasks up, the last visit first: whether the
  // host's task in this one, if it has one, may count beside those that were taken. To be asked
  // once for each visit of the host, in that order.
  bool Want(const StageVisit& visit, std::uint32_t ordinal) {
    if (visit.pass < pass_) return false;
    if (!visit.in_finally && visit.pass > pass_) return true;  // it tells which pass counts
    if (visit.visit < cleared_) return false;
    if (visit.recovers) return true;  // it may clear what was before it, also when it came again
    if (CameThroughLater(visit.stage, visit.visit)) return false;
    bool later = false;
    for (const Task& task : tasks_) {
      if (task.stage == visit.stage && task.visit >= visit.visit) return false;
      later = later || task.visit > visit.visit;
    }
    if (!later || !SucceededIn(visit, ordinal)) return true;
    // It decides nothing, but takes the place of earlier tasks of its stage.
    passed_.emplace_back(visit.stage, visit.visit);
    return false;
  }

  // How the host stands in its run by the task that decides. One that came through a stage and has
  // others before it waits for them while the run is open.
  static TaskState Standing(const Task* decides, bool run_open) {
    if (decides == nullptr) return run_open ? TaskState::kWaiting : TaskState::kSkipped;
    const bool under_way = run_open && decides->onward && decides->state == TaskState::kSucceeded;
    return under_way ? TaskState::kWaiting : decides->state;
  }
  // How it stands in a stage, whatever its run does.
  static TaskState InStage(const Task* decides) {
    return decides == nullptr ? TaskState::kWaiting : decides->state;
  }

  const std::vector<Task>& All() const { return tasks_; }

 private:
  bool CameThroughLater(std::uint32_t stage, Visit visit) const {
    return std::ranges::any_of(
        passed_, [&](const auto& one) { return one.first == stage && one.second > visit; });
  }
  static bool SucceededIn(const StageVisit& visit, std::uint32_t ordinal) {
    for (const auto& [state, hosts] : visit.results)
      if (state != TaskState::kSucceeded && hosts.Contains(ordinal)) return false;
    return IsFinal(visit.state) && visit.state != StageState::kSkipped &&
           !visit.dropped.Contains(ordinal);
  }
  static bool IsLater(const Task& a, const Task& b) {
    return std::tuple(a.visit, a.attempt, a.progress) >= std::tuple(b.visit, b.attempt, b.progress);
  }
  static bool Before(const Task& a, const Task& b) {
    const bool a_ended = IsFinal(a.state), b_ended = IsFinal(b.state);
    if (a_ended != b_ended) return b_ended;
    if (a_ended && IsWorse(a.state, b.state)) return true;
    if (a_ended && IsWorse(b.state, a.state)) return false;
    // Of tasks that failed alike, the first; else the latest.
    return a_ended && a.state != TaskState::kSucceeded ? a.visit < b.visit : a.visit > b.visit;
  }

  std::vector<Task> tasks_;
  std::uint32_t pass_ = 0;  // the last one with a task outside of `finally`; earlier ones are past
  Visit cleared_;           // nothing before this visit counts
  // Stages that it came through in visits whose tasks were not wanted.
  std::vector<std::pair<std::uint32_t, Visit>> passed_;
};

}  // namespace muster
