#include "engine/hosts/enrol.hpp"

#include "engine/runs/ending.hpp"

namespace muster::engine {
namespace {

Result<Invite*> UsableInvite(Turn& turn, const std::string& id) {
  const auto found = turn.state.invites.find(id);
  if (found == turn.state.invites.end() || found->second.uses_left == 0)
    return Fail(ErrorCode::kDenied,
                "the join token is unknown or used up; make a new one with 'muster agents invite'");
  if (found->second.expires < turn.now.wall)
    return Fail(ErrorCode::kDenied,
                "the join token expired at {}; make a new one with 'muster agents invite'",
                FormatTime(found->second.expires));
  return &found->second;
}

void UseUp(Turn& turn, Invite& invite) {
  --invite.uses_left;
  turn.Put(PutInvite{invite});
  if (invite.uses_left == 0) turn.state.invites.erase(std::string(invite.id));
}

Labels JoinedLabels(const Labels& own, const Labels& from_invite) {
  Labels labels = own;
  for (const auto& [key, value] : from_invite) labels[key] = value;
  return labels;
}

// The old key's link and tasks end here; whatever it still runs nobody can ask about any more.
void Disown(Turn& turn, HostEntry& entry) {
  if (entry.link) {
    turn.effects.closes.push_back(entry.link);
    turn.state.host_by_link.erase(entry.link);
    entry.link = {};
  }
  turn.state.host_by_key.erase(entry.host.key);
  const auto open = entry.open;
  for (const auto& [run, ordinal] : open)
    LoseAttempt(turn, turn.state.runs.at(run), ordinal, "the host joined anew with another key");
  GiveUpOutputs(turn, entry.host.id, {});
}

}  // namespace

void Decide(Turn& turn, const CreateInvite& command) {
  turn.state.invites[command.invite.id] = command.invite;
  turn.Put(PutInvite{command.invite});
  turn.Audit(command.caller, "agent.invite", "",
             fmt::format("uses {}, expires {}{}", command.invite.uses_left,
                         FormatTime(command.invite.expires),
                         command.invite.replace ? ", may replace" : ""));
  turn.Answer(command.caller, InviteCreated{command.invite});
}

void Decide(Turn& turn, const JoinHost& command) {
  State& state = turn.state;
  const auto refuse = [&](Error error) { turn.Answer(command.caller, Fail(std::move(error))); };
  const auto by_name = state.host_by_name.find(command.name);
  if (by_name != state.host_by_name.end()) {
    const HostEntry& known = state.hosts.at(by_name->second);
    if (known.host.key == command.key && known.host.state == HostState::kActive) {
      turn.Answer(command.caller, HostJoined{known.host, state.cluster});
      return;
    }
  }
  const auto invite = UsableInvite(turn, command.invite);
  if (!invite) return refuse(invite.error());
  if (state.host_by_key.contains(command.key))
    return refuse({ErrorCode::kConflict,
                   "this key belongs to another host already; join with an empty data folder"});
  const bool replaces = by_name != state.host_by_name.end();
  if (replaces && !(*invite)->replace)
    return refuse(
        {ErrorCode::kConflict,
         fmt::format(
             "a host named '{0}' is known already with another key; if this machine takes its "
             "place, "
             "join with a token of 'muster agents invite --replace', else give it another --name",
             command.name)});
  const HostId id = replaces ? by_name->second : HostId(state.next_host++);
  HostEntry& entry = state.hosts[id];
  if (replaces) Disown(turn, entry);
  entry.host = Host{.id = id,
                    .name = command.name,
                    .key = command.key,
                    .state = HostState::kActive,
                    .note = {},
                    .labels = JoinedLabels(command.labels, (*invite)->labels),
                    .facts = {},
                    .store = {},
                    .boot = {},
                    .session = 0,
                    .joined = turn.now.wall,
                    .last_hello = {}};
  state.host_by_key[command.key] = id;
  state.host_by_name[command.name] = id;
  UseUp(turn, **invite);
  turn.Put(PutHost{entry.host});
  turn.Audit(command.caller, replaces ? "agent.rejoin" : "agent.join", "host " + command.name,
             "key " + command.key, {id});
  turn.Tell(HostNews{entry.host, false, command.caller.address});
  turn.Answer(command.caller, HostJoined{entry.host, state.cluster});
}

}  // namespace muster::engine
