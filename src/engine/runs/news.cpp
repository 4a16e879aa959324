#include "engine/runs/news.hpp"

#include <memory>
#include <utility>

namespace muster::engine {
namespace {

std::uint32_t LogsOpen(const State& state, RunId run) {
  const auto found = state.runs.logs_open.find(run);
  return found == state.runs.logs_open.end() ? 0 : found->second;
}

std::vector<std::pair<std::uint32_t, TaskCounts>> OpenStages(const OpenRun& run) {
  std::vector<std::pair<std::uint32_t, TaskCounts>> stages;
  for (const auto& [id, visit] : run.visits)
    if (!visit.slots.empty()) stages.emplace_back(visit.record.stage, visit.counts);
  return stages;
}

}  // namespace

void AnnounceRuns(const State& state, Effects& effects) {
  for (const auto& [id, open] : state.runs.open) {
    effects.news.push_back(RunNews{.run = id,
                                   .state = open.run.state,
                                   .counts = open.counts,
                                   .logs_open = LogsOpen(state, id),
                                   .commit = state.loaded_at,
                                   .is_new = true,
                                   .whole = std::make_shared<const Run>(open.run),
                                   .targets = open.targets,
                                   .stages = OpenStages(open)});
    for (const auto& [number, visit] : open.visits)
      for (std::size_t i = 0; i < visit.slots.size(); ++i) {
        const Slot& slot = visit.slots[i];
        const std::uint32_t ordinal = visit.hosts[i];
        if (slot.state == TaskState::kWaiting) continue;
        effects.news.push_back(TaskNews{
            .task = {id, number, ordinal, (*open.targets)[ordinal].host, Attempt(slot.attempt)},
            .state = slot.state,
            .reason = {},
            .commit = state.loaded_at});
      }
  }
  // Ended runs whose output is still coming.
  for (const auto& [id, count] : state.runs.logs_open)
    if (!state.runs.open.contains(id))
      effects.news.push_back(RunNews{.run = id,
                                     .counts = {},
                                     .logs_open = count,
                                     .commit = state.loaded_at,
                                     .whole = {},
                                     .targets = {}});
}

void SummariseRuns(State& state, CommitNumber batch, Effects& effects) {
  for (const RunId id : std::exchange(state.runs.untold, {})) {
    const auto found = state.runs.open.find(id);
    RunNews news{.run = id,
                 .counts = {},
                 .logs_open = LogsOpen(state, id),
                 .commit = batch,
                 .whole = {},
                 .targets = {}};
    if (found != state.runs.open.end()) {
      news.state = found->second.run.state;
      news.counts = found->second.counts;
      news.stages = OpenStages(found->second);
      if (state.runs.changed.erase(id) > 0)
        news.whole = std::make_shared<const Run>(found->second.run);
    }  // else: it has ended, and only its output was still coming; kCreated stands for "as before"
    effects.news.push_back(std::move(news));
  }
}

}  // namespace muster::engine
