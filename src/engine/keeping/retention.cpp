#include "engine/keeping/retention.hpp"

#include <algorithm>
#include <set>

namespace muster::engine {
namespace {

// So long after its end an invite still says "expired" rather than "unknown".
constexpr Duration kExpiredInvitesKept = std::chrono::hours(24);

// What memory keeps of an ended run: stops its hosts have not heard of, attempts that may speak
// again. Their rows go, so their memory must, or a late word would write a row without a run.
void ForgetRuns(State& state, const std::set<RunId>& runs) {
  std::vector<TaskKey> lingering;
  for (const auto& [key, record] : state.tasks.lingering)
    if (runs.contains(key.run)) lingering.push_back(key);
  for (const auto& key : lingering) state.tasks.Unlinger(key);
  for (auto& [host, wishes] : state.tasks.wishes)
    std::erase_if(wishes, [&](const auto& wish) { return runs.contains(wish.first.run); });
  std::erase_if(state.tasks.wishes, [](const auto& item) { return item.second.empty(); });
}

std::uint32_t DropRuns(Turn& turn, const std::vector<Expired::OldRun>& old) {
  std::set<RunId> dropped;
  std::size_t rows = 0;
  for (const auto& [run, hosts] : old) {
    if (rows >= turn.state.options.most_things) break;
    if (turn.state.runs.open.contains(run) || turn.state.runs.logs_open.contains(run)) continue;
    const std::size_t room = turn.state.options.most_things - rows;
    turn.Put(DropRun{.run = run, .most = static_cast<std::uint32_t>(room)});
    rows += hosts + std::size_t{1};
    dropped.insert(run);
  }
  if (!dropped.empty()) ForgetRuns(turn.state, dropped);
  return static_cast<std::uint32_t>(dropped.size());
}

std::uint32_t DropInvites(Turn& turn, const std::vector<std::string>& used_up) {
  std::vector<std::string> ids;
  for (const auto& id : used_up)
    if (!turn.state.hosts.invites.contains(id)) ids.push_back(id);
  for (const auto& [id, invite] : turn.state.hosts.invites) {
    if (ids.size() >= turn.state.options.most_things) break;
    if (invite.expires + kExpiredInvitesKept < turn.now.wall) ids.push_back(id);
  }
  for (const auto& id : ids) {
    turn.state.hosts.invites.erase(id);
    turn.Put(DropInvite{id});
  }
  return static_cast<std::uint32_t>(ids.size());
}

}  // namespace

void Decide(Turn& turn, const DropOld& command) {
  std::uint32_t things = DropRuns(turn, command.old.runs);
  things += DropInvites(turn, command.old.invites);
  if (command.old.audit_below > 1 && command.old.audit_below <= turn.state.audit.number) {
    turn.Put(DropAudit{command.old.audit_below});
    ++things;
  }
  for (const auto& [trigger, first, act] : command.old.slots) {
    turn.Put(DropSlot{trigger, first, act});
    ++things;
  }
  turn.Answer(command, OldDropped{things});
}

}  // namespace muster::engine
