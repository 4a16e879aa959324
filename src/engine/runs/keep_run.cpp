#include "engine/runs/keep_run.hpp"

#include <utility>

#include "domain/run_row.hpp"

namespace muster::engine {

void KeepRun(Turn& turn, OpenRun& run) {
  turn.state.runs.dirty.insert(run.run.id);
  turn.state.runs.changed.insert(run.run.id);
  turn.TellRun(run);
}

void WriteRuns(Turn& turn) {
  for (const RunId id : std::exchange(turn.state.runs.dirty, {}))
    if (const auto run = turn.state.runs.open.find(id); run != turn.state.runs.open.end())
      turn.Put(RowOf(run->second.run));
}

PutRun RowOf(Run& run) {
  RunSpec plan = std::exchange(run.spec, RowSpecOf(run.spec));
  PutRun row{run};
  run.spec = std::move(plan);
  return row;
}

}  // namespace muster::engine
