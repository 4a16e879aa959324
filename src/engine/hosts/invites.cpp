#include "engine/hosts/invites.hpp"

#include <algorithm>
#include <string_view>

#include "engine/keys.hpp"

namespace muster::engine {
namespace {

std::string LeftText(const Invite& invite) {
  std::string text =
      invite.uses_left == 1 ? std::string("1 use") : fmt::format("{} uses", invite.uses_left);
  text += " left";
  if (!invite.server_key.empty())
    text += fmt::format(", server {} joined with it", invite.server_name);
  return text;
}

Result<Invite> FindInvite(const Turn& turn, const std::string& beginning) {
  if (beginning.size() < kLeastInviteDigits)
    return Fail(ErrorCode::kInvalid, "'{}' is too short; give at least {} digits of the id",
                beginning, kLeastInviteDigits);
  const Invite* found = nullptr;
  for (const auto& [id, invite] : turn.state.hosts.invites) {
    if (!id.starts_with(beginning) || !invite.IsOpen(turn.now.wall)) continue;
    if (found != nullptr)
      return Fail(ErrorCode::kConflict, "several invites begin with '{}'; give more digits",
                  beginning);
    found = &invite;
  }
  if (found != nullptr) return *found;
  return Fail(ErrorCode::kNotFound,
              "there is no invite '{}' that could still be used; see 'muster invites'", beginning);
}

// Whether the host of this name, or the newcomer that waits under it, came with this invite.
bool WasUsedFor(const State& state, const std::string& invite, const std::string& name) {
  const auto host = state.hosts.by_name.find(name);
  if (host != state.hosts.by_name.end() &&
      state.hosts.entries.at(host->second).host.invite == invite)
    return true;
  const auto waits = state.hosts.pending.find(name);
  return waits != state.hosts.pending.end() && waits->second.join.invite == invite;
}

// ", labels zone=sh1 app=web".
std::string LabelsText(const Labels& labels) {
  std::string text;
  for (const auto& [key, value] : labels)
    text += fmt::format("{} {}={}", text.empty() ? ", labels" : "", key, value);
  return text;
}

}  // namespace

Result<Invite*> UsableInvite(Turn& turn, const std::string& id, const std::string& name,
                             InviteKind kind) {
  const std::string_view maker =
      kind == InviteKind::kServer ? "muster servers invite" : "muster agents invite";
  const auto found = turn.state.hosts.invites.find(id);
  if (found == turn.state.hosts.invites.end() || found->second.uses_left == 0)
    return Fail(ErrorCode::kDenied,
                "the join token is unknown or used up; make a new one with '{}'", maker);
  Invite& invite = found->second;
  if (invite.server != (kind == InviteKind::kServer))
    return Fail(ErrorCode::kDenied, "the join token is for {}; make one with '{}'",
                invite.server ? "a server, not a host" : "hosts, not a server", maker);
  if (invite.expires < turn.now.wall)
    return Fail(ErrorCode::kDenied, "the join token expired at {}; make a new one with '{}'",
                FormatTime(invite.expires), maker);
  if (!invite.names.empty() && !MatchesPattern(name, invite.names))
    return Fail(ErrorCode::kDenied,
                "the join token is for {} named '{}', not '{}'; give this one a fitting --name "
                "or make another token with '{}'",
                invite.server ? "servers" : "hosts", invite.names, name, maker);
  return &invite;
}

void UseUp(Turn& turn, Invite& invite) {
  --invite.uses_left;
  turn.Put(PutInvite{invite});
  if (!invite.Counts()) turn.state.hosts.invites.erase(std::string(invite.id));
}

std::string InviteText(const Invite& invite) {
  return fmt::format("invite {} of {}", invite.id.substr(0, 12), invite.created_by);
}

void Decide(Turn& turn, const CreateInvite& command) {
  const KeyedRequest request{command.caller, command.key, command.body_sha256, command.known};
  if (!command.key.empty()) {
    const auto known = KnownKey(turn, request);
    if (!known) return turn.Answer(command, Fail(known.error()));
    if (*known) {
      const auto made = turn.state.hosts.invites.find(command.invite.id);
      if (made == turn.state.hosts.invites.end() || made->second.uses_left == 0)
        return turn.Answer(
            command,
            Fail(ErrorCode::kConflict,
                 "the token of this Idempotency-Key is used up; send a new key for a new one"));
      return turn.Answer(command, InviteCreated{made->second});
    }
    RememberKey(turn, request, RunId{});
  }
  turn.state.hosts.invites[command.invite.id] = command.invite;
  turn.Put(PutInvite{command.invite});
  turn.Audit(command.caller, command.invite.server ? "server.invite" : "agent.invite", "",
             fmt::format("invite {}, uses {}, expires {}{}{}{}{}", command.invite.id.substr(0, 12),
                         command.invite.uses_left, FormatTime(command.invite.expires),
                         command.invite.replace ? ", may replace" : "",
                         command.invite.no_own_labels ? ", without own labels" : "",
                         command.invite.names.empty() ? "" : ", names " + command.invite.names,
                         LabelsText(command.invite.labels)));
  turn.Answer(command, InviteCreated{command.invite});
}

void Decide(Turn& turn, const CheckInvite& command) {
  if (!WasUsedFor(turn.state, command.invite, command.name))
    if (const auto invite = UsableInvite(turn, command.invite, command.name, InviteKind::kHost);
        !invite)
      return turn.Answer(command, Fail(invite.error()));
  turn.Answer(command, Done{});
}

void Decide(Turn& turn, const ListInvites& command) {
  OpenInvites answer;
  for (const auto& [id, invite] : turn.state.hosts.invites)
    if (invite.IsOpen(turn.now.wall)) answer.invites.push_back(invite);
  std::ranges::sort(answer.invites, [](const Invite& a, const Invite& b) {
    return a.created != b.created ? a.created > b.created : a.id < b.id;
  });
  turn.Answer(command, std::move(answer));
}

void Decide(Turn& turn, const RevokeInvite& command) {
  const auto invite = FindInvite(turn, command.id);
  if (!invite) return turn.Answer(command, Fail(invite.error()));
  turn.state.hosts.invites.erase(invite->id);
  turn.Put(DropInvite{invite->id});
  AuditEntry entry;
  entry.act = "invite.revoke";
  entry.object = "invite " + invite->id.substr(0, 12);
  entry.detail = fmt::format("made by {}, {}", invite->created_by, LeftText(*invite));
  entry.reason = command.reason;
  turn.Audit(command.caller, std::move(entry));
  turn.Answer(command, InviteRevoked{*invite});
}

}  // namespace muster::engine
