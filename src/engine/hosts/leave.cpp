#include "engine/hosts/leave.hpp"

#include "engine/documents/apply.hpp"
#include "engine/hosts/presence.hpp"
#include "engine/limiter/limiter.hpp"
#include "engine/runs/ending.hpp"

namespace muster::engine {
namespace {

Result<HostEntry*> Known(Turn& turn, const std::string& name) {
  const auto id = turn.state.hosts.by_name.find(name);
  if (id == turn.state.hosts.by_name.end())
    return Fail(ErrorCode::kNotFound, "there is no host '{}'; see 'muster hosts'", name);
  return &turn.state.hosts.entries.at(id->second);
}

// Tasks that wait for the host will wait in vain.
void GiveUpWaiting(Turn& turn, HostEntry& entry, const std::string& why) {
  const auto queued = entry.queued;  // the loop changes the original
  for (const TaskPlace& place : queued) {
    OpenRun& run = turn.state.runs.open.at(place.run);
    OpenVisit& visit = run.visits.at(place.visit);
    if (run.restored)
      LoseUnsent(turn, run, visit, place.ordinal, why);
    else
      EndUnsent(turn, run, visit, place.ordinal, TaskEvent::kOfflineOver, why);
  }
}

}  // namespace

void Disown(Turn& turn, HostEntry& entry, const std::string& why) {
  if (entry.link) {
    turn.effects.closes.push_back(entry.link);
    turn.state.hosts.by_link.erase(entry.link);
    entry.link = {};
    entry.host.last_hello = turn.now.wall;
  }
  const auto open = entry.open;  // the loop changes the original
  for (const TaskPlace& place : open) {
    OpenRun& run = turn.state.runs.open.at(place.run);
    LoseAttempt(turn, run, run.visits.at(place.visit), place.ordinal, why);
  }
  GiveUpOutputs(turn, entry.host.id, {});
}

void Decide(Turn& turn, const RevokeHost& command) {
  const auto known = Known(turn, command.name);
  if (!known) return turn.Answer(command, Fail(known.error()));
  HostEntry& entry = **known;
  Host& host = entry.host;
  if (host.state == HostState::kRevoked) return turn.Answer(command, HostChanged{host});
  host.state = HostState::kRevoked;
  host.note = fmt::format("revoked by {}{}{}", command.caller.name,
                          command.reason.empty() ? "" : ": ", command.reason);
  if (entry.link)
    turn.FrameFor(entry.link).refusal =
        link::Refusal{"revoked", "this host's key was revoked; it gets no more work"};
  Disown(turn, entry, "the host's key was revoked");
  GiveUpWaiting(turn, entry, "the host is revoked");
  turn.Put(PutHost{host});
  AuditEntry revoked;
  revoked.act = "agent.revoke";
  revoked.object = "host " + host.name;
  revoked.detail = "key " + host.key;
  revoked.reason = command.reason;
  turn.Audit(command.caller, std::move(revoked), {host.id});
  turn.Tell(HostNews{host, false, entry.address});
  turn.Answer(command, HostChanged{host});
}

void Decide(Turn& turn, const RemoveHost& command) {
  const auto known = Known(turn, command.name);
  if (!known) {
    // Declared, and never joined: the document is all there is of it.
    if (!DropDocumentOf(turn, command.caller, "host", command.name, command.reason))
      return turn.Answer(command, Fail(known.error()));
    Host declared;
    declared.name = command.name;
    declared.note = "it never joined";
    return turn.Answer(command, HostChanged{declared});
  }
  HostEntry& entry = **known;
  if (entry.host.state != HostState::kRevoked && entry.Online())
    return turn.Answer(command,
                       Fail(ErrorCode::kConflict,
                            "host '{0}' is online; revoke it first with 'muster agents revoke {0}'",
                            entry.host.name));
  Disown(turn, entry, "the host was removed");
  GiveUpWaiting(turn, entry, "the host was removed");
  FreeLost(turn, entry.host.id);
  const Host host = entry.host;
  DropWishes(turn, host.id);
  turn.state.hosts.by_key.erase(host.key);
  turn.state.hosts.by_name.erase(host.name);
  turn.state.hosts.entries.erase(host.id);
  if (turn.state.hosts.pending.erase(host.name) > 0) turn.Put(DropPending{host.name});
  turn.Put(DropHost{host.id});
  // Else it would be missing from now on.
  DropDocumentOf(turn, command.caller, "host", host.name, command.reason);
  AuditEntry audit;
  audit.act = kActHostRemove;
  audit.object = "host " + host.name;
  audit.detail = "key " + host.key;
  audit.reason = command.reason;
  turn.Audit(command.caller, std::move(audit), {host.id});
  turn.Tell(HostNews{host, false, {}, true});
  turn.Answer(command, HostChanged{host});
}

}  // namespace muster::engine
