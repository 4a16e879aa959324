#pragma once

#include "base/instant.hpp"
#include "engine/effects.hpp"
#include "engine/state.hpp"
#include "ports/store.hpp"

namespace muster::engine {

// Hosts, invites, and newcomers that wait, as the store has them. Hosts are offline until they say
// Hello.
void LoadHosts(State& state, Snapshot& snapshot, Now now);

// News of every host, for a fresh listener.
void AnnounceHosts(const State& state, Effects& effects);

}  // namespace muster::engine
