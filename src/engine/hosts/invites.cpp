#include "engine/hosts/invites.hpp"

#include <algorithm>

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
  for (const auto& [id, invite] : turn.state.invites) {
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

}  // namespace

void Decide(Turn& turn, const ListInvites& command) {
  OpenInvites answer;
  for (const auto& [id, invite] : turn.state.invites)
    if (invite.IsOpen(turn.now.wall)) answer.invites.push_back(invite);
  std::ranges::sort(answer.invites, [](const Invite& a, const Invite& b) {
    return a.created != b.created ? a.created > b.created : a.id < b.id;
  });
  turn.Answer(command, std::move(answer));
}

void Decide(Turn& turn, const RevokeInvite& command) {
  const auto invite = FindInvite(turn, command.id);
  if (!invite) return turn.Answer(command, Fail(invite.error()));
  turn.state.invites.erase(invite->id);
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
