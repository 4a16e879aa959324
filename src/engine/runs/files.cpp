#include "engine/runs/files.hpp"

#include <algorithm>
#include <set>
#include <vector>

#include <fmt/format.h>

#include "domain/pull_paths.hpp"

namespace muster::engine {
namespace {

bool Brings(const muster::Command& command, const std::string& sha256) {
  return command.push && std::ranges::any_of(command.push->files, [&](const FileEntry& file) {
           return file.sha256 == sha256;
         });
}

const muster::Command* OpenCommand(const State& state, const TaskPlace& place) {
  const auto run = state.runs.open.find(place.run);
  if (run == state.runs.open.end()) return nullptr;
  const auto visit = run->second.visits.find(place.visit);
  if (visit == run->second.visits.end()) return nullptr;
  return CommandOf(run->second.SpecOf(visit->second));
}

// Only what was sent to it counts: a host has no business with files of tasks it has not heard of.
HostEntry* HostOf(State& state, const std::string& key) {
  const auto id = state.hosts.by_key.find(key);
  if (id == state.hosts.by_key.end()) return nullptr;
  HostEntry& host = state.hosts.entries.at(id->second);
  return host.host.state == HostState::kRevoked ? nullptr : &host;
}

FileAnswer NoTask() {
  return {.may = false, .why = "this host has no open task that is about this file"};
}

FileAnswer HostReads(const State& state, const HostEntry& host, const std::string& sha256) {
  const bool brings = std::ranges::any_of(host.open, [&](const TaskPlace& place) {
    const muster::Command* command = OpenCommand(state, place);
    return command != nullptr && Brings(*command, sha256);
  });
  return brings ? FileAnswer{.may = true} : NoTask();
}

// An open task that takes files, and what is left of what it takes.
struct Pulling {
  SentFiles* sent = nullptr;
  std::uint64_t left = 0;
};

std::vector<Pulling> PullsOf(const State& state, HostEntry& host) {
  std::vector<Pulling> pulls;
  for (const TaskPlace& place : host.open) {
    const muster::Command* command = OpenCommand(state, place);
    if (command == nullptr || !command->pull) continue;
    SentFiles& sent = host.sent[place];
    const std::uint64_t most = command->pull->max_bytes;
    pulls.push_back({&sent, most - std::min(most, sent.bytes)});
  }
  return pulls;
}

// Counts a file once for a task, however often it is sent: a broken upload goes on.
FileAnswer Count(std::vector<Pulling>& pulls, const std::string& sha256, std::uint64_t size) {
  for (const auto& pull : pulls)
    if (const auto found = pull.sent->files.find(sha256);
        found != pull.sent->files.end() && size <= found->second.size)
      return {.may = true};
  const Pulling& roomiest = *std::ranges::max_element(pulls, {}, &Pulling::left);
  SentFiles& sent = *roomiest.sent;
  const auto known = sent.files.find(sha256);
  const bool is_new = known == sent.files.end();
  const std::uint64_t more = size - (is_new ? 0 : known->second.size);
  if (more > roomiest.left)
    return {.may = false,
            .why =
                "the file is more than the task may still take of this host; see "
                "max_bytes of the pull (--max-size)"};
  if (is_new && sent.files.size() >= kMostPulledFiles)
    return {.may = false,
            .why = fmt::format("a task takes at most {} files of a host", kMostPulledFiles)};
  sent.files[sha256].size = size;
  sent.bytes += more;
  return {.may = true};
}

// Not for a file that was kept: other bytes that came later under its hash do not remove it.
void GiveBack(SentFiles& sent, decltype(SentFiles::files)::iterator file) {
  if (file->second.kept) return;
  sent.bytes -= file->second.size;
  sent.files.erase(file);
}

FileAnswer HostSends(const State& state, HostEntry& host, const AskFile& ask) {
  auto pulls = PullsOf(state, host);
  if (pulls.empty()) return NoTask();
  if (ask.size) return Count(pulls, ask.sha256, *ask.size);
  for (const auto& pull : pulls) {
    const auto found = pull.sent->files.find(ask.sha256);
    if (found == pull.sent->files.end()) continue;
    if (ask.kept) found->second.kept = true;
    if (ask.discarded) GiveBack(*pull.sent, found);
  }
  return {.may = true};
}

FileAnswer HostMay(State& state, const AskFile& ask) {
  HostEntry* host = HostOf(state, ask.key);
  if (host == nullptr) return NoTask();
  return ask.sends ? HostSends(state, *host, ask) : HostReads(state, *host, ask.sha256);
}

// Jobs that several plans start are looked at once: jobs that start jobs would double with every
// level otherwise.
bool PlanNames(const RunSpec& plan, const std::string& sha256, std::set<const RunSpec*>& seen) {
  if (!seen.insert(&plan).second) return false;
  const bool here = std::ranges::any_of(plan.stages, [&](const StageSpec& stage) {
    const muster::Command* command = CommandOf(stage);
    return command != nullptr && Brings(*command, sha256);
  });
  return here || std::ranges::any_of(plan.jobs, [&](const auto& job) {
           return job.second && PlanNames(*job.second, sha256, seen);
         });
}

bool AnyRunNames(const State& state, const std::string& sha256) {
  std::set<const RunSpec*> seen;
  return std::ranges::any_of(state.runs.open, [&](const auto& item) {
    return PlanNames(item.second.run.spec, sha256, seen);
  });
}

bool AnyDocumentNames(const State& state, const std::string& sha256) {
  return std::ranges::any_of(state.documents.heads, [&](const auto& item) {
    return !item.second.dropped && std::ranges::binary_search(item.second.files, sha256);
  });
}

}  // namespace

void Decide(Turn& turn, const AskFile& command) {
  if (!command.key.empty()) return turn.Answer(command, HostMay(turn.state, command));
  const bool named =
      AnyRunNames(turn.state, command.sha256) || AnyDocumentNames(turn.state, command.sha256);
  turn.Answer(command, FileAnswer{.may = named});
}

}  // namespace muster::engine
