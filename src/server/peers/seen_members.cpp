#include "server/peers/seen_members.hpp"

#include <algorithm>
#include <set>
#include <string_view>

namespace muster::server {

std::vector<std::string> SeenMembers::Note(const std::vector<Member>& members, WallTime now) {
  std::set<std::string_view> names;
  for (const auto& member : members) names.insert(member.name);
  std::vector<std::string> gone;
  for (auto& [name, view] : views_) {
    const bool here = names.contains(name);
    if (view.here && !here) {
      gone.push_back(name);
      view.since = now;
    }
    if (!view.here && here) view.since = now;
    view.here = here;
  }
  std::erase_if(views_, [&](const auto& entry) {
    return !entry.second.here && now - entry.second.since > kGoneKept;
  });
  bool room = true;
  for (const auto& member : members) {
    auto found = views_.find(member.name);
    if (found == views_.end()) {
      room = room && (views_.size() < kMost || ForgetOldest());
      if (!room) continue;
      found = views_.try_emplace(member.name).first;
      found->second.since = now;
    }
    if (member.draining && !found->second.member.draining) ++found->second.drains;
    found->second.member = member;
  }
  return gone;
}

bool SeenMembers::ForgetOldest() {
  auto oldest = views_.end();
  for (auto it = views_.begin(); it != views_.end(); ++it)
    if (!it->second.here && (oldest == views_.end() || it->second.since < oldest->second.since))
      oldest = it;
  if (oldest == views_.end()) return false;
  views_.erase(oldest);
  return true;
}

}  // namespace muster::server
