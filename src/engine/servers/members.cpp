#include "engine/servers/members.hpp"

#include <fmt/ranges.h>

#include "engine/hosts/invites.hpp"

namespace muster::engine {
namespace {

// The invite with which this server was answered before, if it may be answered again.
Invite* AskedAgain(Turn& turn, const JoinServer& command) {
  const auto found = turn.state.hosts.invites.find(command.invite);
  if (found == turn.state.hosts.invites.end()) return nullptr;
  Invite& invite = found->second;
  const bool same = invite.server_key == command.key && invite.server_name == command.name;
  // Keys that were changed since are for those with a new invite.
  const bool may = invite.MayAskAgain(turn.now.wall) && invite.given == command.keys;
  return same && may ? &invite : nullptr;
}

}  // namespace

void Decide(Turn& turn, const JoinServer& command) {
  Invite* again = AskedAgain(turn, command);
  if (again != nullptr) {
    ++again->answers;
    turn.Put(PutInvite{*again});
  } else {
    const auto invite = UsableInvite(turn, command.invite, command.name, InviteKind::kServer);
    if (!invite) return turn.Answer(command, Fail(invite.error()));
    (*invite)->server_name = command.name;
    (*invite)->server_key = command.key;
    (*invite)->answers = 1;
    (*invite)->answered = turn.now.wall;
    (*invite)->given = command.keys;
    UseUp(turn, **invite);
  }
  turn.Audit(command.caller, "server.join", "server " + command.name,
             again == nullptr ? "was given the keys of the cluster"
                              : "was given the keys of the cluster again: it asked with the same "
                                "key, as it does after it was interrupted");
  turn.Answer(command, ServerJoined{turn.state.cluster});
}

void Decide(Turn& turn, const DrainServer& command) {
  AuditEntry entry;
  entry.act = command.wanted ? "server.drain" : "server.undrain";
  entry.object = "server " + command.name;
  entry.reason = command.reason;
  turn.Audit(command.caller, std::move(entry));
  turn.Answer(command, Done{});
}

void Decide(Turn& turn, const FinalizeStore& command) {
  AuditEntry entry;
  entry.act = "store.finalize";
  entry.object = fmt::format("schema {}", fmt::join(command.steps, ", "));
  entry.reason = command.reason;
  turn.Audit(command.caller, std::move(entry));
  turn.Answer(command, Done{});
}

void Decide(Turn& turn, const NoteKeys& command) {
  for (const auto& news : command.news)
    turn.Audit(command.caller, "server.keys", "server " + command.server, news);
  turn.Answer(command, Done{});
}

}  // namespace muster::engine
