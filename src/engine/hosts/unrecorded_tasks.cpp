#include "engine/hosts/unrecorded_tasks.hpp"

#include <map>
#include <set>
#include <unordered_map>
#include <utility>

namespace muster::engine {
namespace {

constexpr std::size_t kMostRunsLookedAt = 1'000;
// Far more than a host can have had under way when the backup's server was lost.
constexpr std::size_t kMostStrangers = 1'000;

template <typename Lives>
void KillOf(Turn& turn, const std::unordered_map<HostId, std::set<TaskKey>>& tasks, RunId run,
            Duration grace, Lives lives) {
  for (const auto& [id, of_host] : tasks) {
    const auto host = turn.state.hosts.entries.find(id);
    if (host == turn.state.hosts.entries.end() || !host->second.Online()) continue;
    for (auto at = of_host.lower_bound({run, {}, 0, {}, {}}); at != of_host.end() && at->run == run;
         ++at)
      if (lives(*at)) turn.FrameFor(host->second.link).kills.push_back({*at, grace});
  }
}

}  // namespace

Result<> LookAtRuns(Store& store, NodeHello& hello) {
  std::map<RunId, std::optional<NodeHello::LookedRun>> runs;
  for (std::size_t i = 0; i < hello.looked.size(); ++i) {
    if (hello.looked[i].record) continue;
    const RunId id = hello.hello.tasks[i].task.run;
    const auto [place, unread] = runs.try_emplace(id);
    if (unread && runs.size() <= kMostRunsLookedAt) {
      auto run = store.FindRun(id);
      if (!run) return Fail(run.error());
      if (run->value)
        place->second = NodeHello::LookedRun{.over = IsFinal(run->value->state),
                                             .stop = std::move(run->value->stop),
                                             .stop_commit = run->value->stop_commit};
    }
    hello.looked[i].run = place->second;
  }
  return {};
}

const StopWish* StopOver(const State& state, const TaskKey& task, const NodeHello::Looked& looked) {
  if (const auto open = state.runs.open.find(task.run); open != state.runs.open.end())
    return open->second.run.stop ? &*open->second.run.stop : nullptr;
  if (looked.record || !looked.run || !looked.run->stop || !state.keeping.restored) return nullptr;
  // After a stop that is in the backup, the run may have been retried.
  const CommitNumber restored = state.keeping.restored->number;
  return restored && looked.run->stop_commit > restored ? &*looked.run->stop : nullptr;
}

bool RunLookedTooEarly(const State& state, const TaskKey& task, const NodeHello::Looked& looked) {
  return !looked.record && looked.run && !looked.run->over && !state.runs.open.contains(task.run);
}

void TellStranger(Turn& turn, const HostEntry& entry, const TaskKey& task, bool stopped) {
  // A host may list what it likes.
  auto& strangers = turn.state.tasks.strangers[entry.host.id];
  if (strangers.size() >= kMostStrangers || !strangers.insert(task).second) return;
  turn.Audit({.request = {}, .name = "musterd", .address = entry.address}, "task.unknown",
             FormatTaskKey(task),
             fmt::format("'{}' runs a task that is not in the backup this server was restored "
                         "from; {}",
                         entry.host.name,
                         stopped ? "its run was stopped, so it is killed"
                                 : "it goes on, and is forgotten when it ends"),
             {entry.host.id});
}

void KillStrangers(Turn& turn, RunId run, Duration grace) {
  KillOf(turn, turn.state.tasks.strangers, run, grace, [](const TaskKey&) { return true; });
  KillOf(turn, turn.state.tasks.lingering_by_host, run, grace, [&](const TaskKey& task) {
    const TaskRecord& record = turn.state.tasks.lingering.at(task);
    return record.state == TaskState::kLost && !record.late;
  });
}

}  // namespace muster::engine
