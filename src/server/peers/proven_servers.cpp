#include "server/peers/proven_servers.hpp"

#include <algorithm>
#include <utility>

namespace muster::server {

void ProvenServers::Learn(ServerFacts facts) {
  ServerFacts& known = servers_[facts.name];
  if (facts.cas.empty()) facts.cas = std::move(known.cas);
  known = std::move(facts);
}

const ServerFacts* ProvenServers::Find(const std::string& name) const {
  const auto found = servers_.find(name);
  return found == servers_.end() ? nullptr : &found->second;
}

bool ProvenServers::All(const std::string& self, const std::vector<Member>& members) const {
  return std::ranges::all_of(
      members, [&](const Member& one) { return one.name == self || Find(one.name) != nullptr; });
}

std::vector<std::string> ProvenServers::Urls(const Member& self,
                                             const std::vector<Member>& members) const {
  std::vector<std::string> urls;
  std::vector<std::string> others;
  const auto add = [&](const Member& member, const std::string& url) {
    const bool takes = !member.draining && member.unfit.empty();
    if (!url.empty()) (takes ? urls : others).push_back(url);
  };
  add(self, self.url);
  for (const auto& member : members) {
    const ServerFacts* facts = member.name == self.name ? nullptr : Find(member.name);
    // One of an earlier version proves its name and does not say its URL.
    if (facts != nullptr) add(member, facts->url.empty() ? member.url : facts->url);
  }
  // One that knows a single server is lost with it; those that do not take it send it on.
  if (urls.size() < 2) urls.insert(urls.end(), others.begin(), others.end());
  return urls;
}

}  // namespace muster::server
