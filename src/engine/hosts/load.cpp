#include "engine/hosts/load.hpp"

#include <utility>

namespace muster::engine {

void LoadHosts(State& state, Snapshot& snapshot, Now now) {
  state.hosts.next = snapshot.next_host;
  for (auto& host : snapshot.hosts) {
    state.hosts.by_key[host.key] = host.id;
    state.hosts.by_name[host.name] = host.id;
    state.hosts.entries[host.id].host = std::move(host);
  }
  for (auto& invite : snapshot.invites) state.hosts.invites[invite.id] = std::move(invite);
  for (auto& join : snapshot.pending) state.hosts.pending[join.name] = {join, now.mono};
}

void AnnounceHosts(const State& state, Effects& effects) {
  for (const auto& [id, entry] : state.hosts.entries)
    effects.news.push_back(HostNews{entry.host, entry.Online(), entry.address});
}

}  // namespace muster::engine
