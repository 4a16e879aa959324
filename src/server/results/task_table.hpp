#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "domain/host_result.hpp"
#include "domain/records.hpp"
#include "server/results/interval_set.hpp"
#include "server/results/outcome.hpp"

namespace muster::server {

// The hosts of a run, or the tasks of one of its stages and of those inside it: how each stands,
// and who stands alike. In a run a host stands by the task that decides its result; in a stage by
// the worst of its last ones. Rows and news may come in any order and more than once: of two words
// about one task the later attempt wins, of one attempt the word that is further on. So a table
// that followed a run from its start is the same as one made from its rows. Not thread safe.
class TaskTable {
 public:
  // Ended tasks that are alike: the hosts that stand by such a task.
  struct Group {
    IntervalSet hosts;
    std::uint32_t tasks = 0;  // also those that no host stands by
  };
  using Groups = std::map<Outcome, Group>;
  using OpenStates = std::array<IntervalSet, kTaskStates>;
  static constexpr char kNoTask = '\xff';  // in States: a host that is not of the stage

  // One host as it stands.
  struct Place {
    std::uint64_t bytes = 0;  // of output
    Visit visit;
    Attempt attempt;  // none: it has no row yet
    TaskState state = TaskState::kWaiting;
    bool part = false;  // the host is of this table
  };

  // Of a run with so many hosts, or of those hosts of a stage that Enter names.
  static TaskTable OfRun(std::uint32_t hosts);
  static TaskTable OfStage(std::uint32_t hosts);
  TaskTable(const TaskTable&) = delete;
  TaskTable& operator=(const TaskTable&) = delete;
  TaskTable(TaskTable&&) = default;
  TaskTable& operator=(TaskTable&&) = default;

  // A visit, of a stage's table one to this stage; tasks of visits that are not known are left out.
  // In a stage's table, one of a later pass empties the table.
  void Enter(const StageVisit& visit);
  bool Knows(Visit visit) const { return visits_.contains(visit); }
  void Take(const TaskRecord& row);
  // kQueued and kRunning, which have no row; every other state comes with its row.
  void Take(const TaskKey& task, TaskState state);
  // What is known of a host now, by whatever task; for tables that did not hear it as news.
  void Adopt(std::uint32_t ordinal, TaskState live);
  // Whether the run has ended. Until then hosts wait for the stages that are before them.
  void SetEnded(bool ended);
  // The hosts whose tasks of this visit may count. To be asked once for each visit, the last first,
  // when the tasks that were wanted of later ones are there.
  Ordinals Wanted(const StageVisit& visit);

  std::uint32_t Hosts() const { return static_cast<std::uint32_t>(hosts_.size()); }
  std::uint32_t Tasks() const { return parts_; }  // hosts that are of this table
  Place At(std::uint32_t ordinal) const;
  const Groups& Exact() const { return exact_; }
  const Groups& MaskedGroups() const { return masked_; }
  // By TaskState: hosts that stand by a task that has not ended, or by none (kWaiting, and kSkipped
  // when the run has ended); in none of the groups.
  const OpenStates& Open() const { return open_; }
  std::string States() const;  // TaskState by ordinal, or kNoTask

  // About what it takes of memory, in places.
  std::size_t Cost() const {
    return 64 + std::max(hosts_.size(), tasks_) + visits_.size() +
           8 * (exact_.size() + masked_.size());
  }

 private:
  struct Note {
    std::uint64_t bytes = 0;
    Groups::iterator exact = {};  // of a task that has ended
    Groups::iterator masked = {};
  };
  using Known = HostTasks<Note>;
  struct Host {
    Known tasks;
    Visit queued;  // it is queued there, which has no row; none: it is not
    bool part = false;
  };
  struct Standing {
    TaskState state = TaskState::kWaiting;
    const Known::Task* task = nullptr;
  };

  TaskTable(std::uint32_t hosts, bool whole) : hosts_(hosts), whole_(whole) {}
  Standing StandingOf(const Host& host) const;
  const StageVisit* VisitOf(const TaskKey& task) const;
  void Join(std::uint32_t first, std::uint32_t last);
  void Add(std::uint32_t ordinal, Known::Task task);
  void Queue(std::uint32_t ordinal, Visit visit);
  void EndQueues(const StageVisit& ended);
  void PutInPlace(std::uint32_t ordinal);
  void Leave(std::uint32_t ordinal);
  void Drop(const Known::Task& task);

  std::vector<Host> hosts_;
  bool whole_;  // of a run
  bool ended_ = false;
  std::uint32_t parts_ = 0;
  std::size_t tasks_ = 0;
  OpenStates open_;
  Groups exact_;
  Groups masked_;
  std::map<Visit, StageVisit> visits_;  // without their hosts
  std::uint32_t pass_ = 0;
};

}  // namespace muster::server
