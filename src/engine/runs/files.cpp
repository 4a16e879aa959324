#include "engine/runs/files.hpp"

#include <algorithm>

namespace muster::engine {
namespace {

bool Brings(const muster::Command& command, const std::string& sha256) {
  return command.push && std::ranges::any_of(command.push->files, [&](const FileEntry& file) {
           return file.sha256 == sha256;
         });
}

// Only what was sent counts: a host has no business with files of tasks it has not heard of.
bool HostMay(const State& state, const AskFile& ask) {
  const auto id = state.host_by_key.find(ask.key);
  if (id == state.host_by_key.end()) return false;
  const HostEntry& host = state.hosts.at(id->second);
  if (host.host.state == HostState::kRevoked) return false;
  return std::ranges::any_of(host.open, [&](const TaskPlace& place) {
    const auto run = state.runs.find(place.run);
    if (run == state.runs.end()) return false;
    const auto visit = run->second.visits.find(place.visit);
    if (visit == run->second.visits.end()) return false;
    const muster::Command* command = CommandOf(run->second.SpecOf(visit->second));
    if (command == nullptr) return false;
    return ask.sends ? command->pull != nullptr : Brings(*command, ask.sha256);
  });
}

bool PlanNames(const RunSpec& plan, const std::string& sha256) {
  const bool here = std::ranges::any_of(plan.stages, [&](const StageSpec& stage) {
    const muster::Command* command = CommandOf(stage);
    return command != nullptr && Brings(*command, sha256);
  });
  return here || std::ranges::any_of(
                     plan.jobs, [&](const auto& job) { return PlanNames(*job.second, sha256); });
}

bool AnyRunNames(const State& state, const std::string& sha256) {
  return std::ranges::any_of(
      state.runs, [&](const auto& item) { return PlanNames(item.second.run.spec, sha256); });
}

bool AnyDocumentNames(const State& state, const std::string& sha256) {
  return std::ranges::any_of(state.documents, [&](const auto& item) {
    return !item.second.dropped && std::ranges::binary_search(item.second.files, sha256);
  });
}

}  // namespace

void Decide(Turn& turn, const AskFile& command) {
  const bool may = command.key.empty() ? AnyRunNames(turn.state, command.sha256) ||
                                             AnyDocumentNames(turn.state, command.sha256)
                                       : HostMay(turn.state, command);
  turn.Answer(command.caller, FileAnswer{may});
}

}  // namespace muster::engine
