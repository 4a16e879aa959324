#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "domain/records.hpp"
#include "server/results/interval_set.hpp"
#include "server/results/outcome.hpp"

namespace muster::server {

// The tasks of a run, or of one of its stages: for each host how its last task stands, and who
// stands alike. Rows and news may come in any order and more than once: of two words about one
// host the later attempt wins, of one attempt the word that is further on. So a table that followed
// a run from its start is the same as one made from its rows. Not thread safe.
class TaskTable {
 public:
  using Groups = std::map<Outcome, IntervalSet>;
  static constexpr char kNoTask = '\xff';  // in States: a host that is not of the stage

  // One host's task.
  struct Place {
    std::uint64_t bytes = 0;  // of output
    Visit visit;
    Attempt attempt;  // none: it has no row yet
    TaskState state = TaskState::kWaiting;
    std::uint8_t progress = 0;  // within the attempt
    bool part = false;          // the host is of this table
    Groups::iterator exact = {};
    Groups::iterator masked = {};
  };

  // Of a run with so many hosts. Of all of them, or of those that Enter names.
  static TaskTable OfRun(std::uint32_t hosts);
  static TaskTable OfStage(std::uint32_t hosts);
  TaskTable(const TaskTable&) = delete;
  TaskTable& operator=(const TaskTable&) = delete;
  TaskTable(TaskTable&&) = default;
  TaskTable& operator=(TaskTable&&) = default;

  // Of a stage: a visit to it. One of a later pass begins the table anew.
  void Enter(const StageVisit& visit);
  void Take(const TaskRecord& row);
  // kQueued and kRunning, which have no row; whatever else is said is left to the row.
  void Take(const TaskKey& task, TaskState state);
  // What is known of a host now, by whatever task; for tables that did not hear it as news.
  void Adopt(std::uint32_t ordinal, TaskState live);

  std::uint32_t Hosts() const { return static_cast<std::uint32_t>(places_.size()); }
  std::uint32_t Tasks() const { return tasks_; }
  std::uint32_t Placed() const {
    return tasks_ - waiting_.Count();
  }  // known to be more than waiting
  const Place& At(std::uint32_t ordinal) const { return places_[ordinal]; }
  const Groups& Exact() const { return exact_; }
  const Groups& MaskedGroups() const { return masked_; }
  const IntervalSet& Waiting() const { return waiting_; }  // in none of the groups
  std::string States() const;                              // TaskState by ordinal, or kNoTask

  // About what it takes of memory, in places.
  std::size_t Cost() const { return 64 + places_.size() + 8 * (exact_.size() + masked_.size()); }

 private:
  explicit TaskTable(std::uint32_t hosts) : places_(hosts) {}
  bool Concerns(const TaskKey& task) const;
  void Join(std::uint32_t first, std::uint32_t last);
  void Move(std::uint32_t ordinal, const TaskKey& task, std::uint8_t progress, Outcome exact,
            Outcome masked);
  void Leave(std::uint32_t ordinal);

  std::vector<Place> places_;
  std::uint32_t tasks_ = 0;
  IntervalSet waiting_;
  Groups exact_;
  Groups masked_;
  std::optional<std::set<Visit>> visits_;  // nothing: every one
  std::uint32_t pass_ = 0;
};

}  // namespace muster::server
