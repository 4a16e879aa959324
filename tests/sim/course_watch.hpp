#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "domain/run.hpp"
#include "sim/world.hpp"

namespace muster::sim {

// What was decided about the course of runs, and what their processes do in spite of it: a stop and
// the end of a budget hold for the whole tree of runs; a run that was paused by itself, or paused
// at its own limit, stands still until it is steered by itself.
class CourseWatch {
 public:
  explicit CourseWatch(World& world) : world_(world) {}

  // A record that reached the disk.
  void RunWritten(const Run& run);
  void Starts(const TaskKey& task);

  // An operator acts on the run itself; `act` is over when it was answered.
  using Act = std::uint64_t;
  Act ActsOn(RunId run);
  void Answered(RunId run, Act act);
  // The answer to a pause of this run.
  void PauseAnswered(RunId run);

  // Since when nothing of it may go on.
  std::optional<std::int64_t> StoppedSince(RunId run) const;
  // The records are those of a backup.
  void Forget();
  void Load(const Run& run) { runs_[run.id] = run; }

 private:
  void StandsStill(RunId run);
  void Stop(const Run& run);

  World& world_;
  std::map<RunId, Run> runs_;
  std::map<RunId, std::int64_t> stopped_;              // in the tree of a run that was stopped
  std::map<RunId, std::int64_t> still_;                // paused for a reason of its own
  std::map<RunId, std::map<Act, std::int64_t>> acts_;  // that were not answered
  Act next_act_ = 1;
};

}  // namespace muster::sim
