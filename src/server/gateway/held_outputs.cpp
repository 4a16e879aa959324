#include "server/gateway/held_outputs.hpp"

#include <algorithm>

namespace muster::server {
namespace {

// Runs that are read for one Hello. A host holds output of a few ended runs at most.
constexpr std::size_t kMostRunsRead = 1'000;

std::uint64_t MostOf(const Run& run) {
  std::uint64_t most = 0;
  for (const auto& stage : run.spec.stages) {
    const Command* command = CommandOf(stage);
    if (command == nullptr) continue;
    const bool share = command->max_output == Command::kShareOfRun;
    most = std::max(most, share ? OutputShare(run.hosts) : command->max_output);
  }
  // An earlier pass may have had another plan, which is gone.
  return run.pass > 1 ? std::max(most, Command().max_output) : most;
}

bool AwaitsOutput(const TaskRecord& record) {
  return record.log.state == LogState::kOpen || record.log.state == LogState::kGap;
}

}  // namespace

bool TakesOutput(const TaskRecord& record) {
  return !IsFinal(record.state) || AwaitsOutput(record);
}

Result<OutputRooms> RoomsOnRecord(Store& store, const std::vector<TaskKey>& keys,
                                  const std::vector<std::optional<TaskRecord>>& records) {
  OutputRooms rooms;
  std::unordered_map<RunId, std::uint64_t> runs;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const auto& record = records[i];
    if (record && !IsFinal(record->state)) continue;
    auto& room = rooms[keys[i]];
    if (!record || !AwaitsOutput(*record)) continue;
    const auto [most, unread] = runs.try_emplace(keys[i].run, Command().max_output);
    if (unread && runs.size() <= kMostRunsRead) {
      const auto run = store.FindRun(keys[i].run);
      if (!run) return Fail(run.error());
      if (run->value) most->second = MostOf(*run->value);
    }
    room = most->second;
  }
  return rooms;
}

}  // namespace muster::server
