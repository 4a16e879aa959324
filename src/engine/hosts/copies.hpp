#pragma once

#include <string>

#include "engine/turn.hpp"

// Hosts whose key is in more than one place: a cloned machine, or one that was put back to an older
// snapshot.
namespace muster::engine {

// The host gets no work from now on. Its link and the newcomer's are closed with the reason.
void MarkAsCopy(Turn& turn, HostEntry& entry, LinkId newcomer, const std::string& address,
                const std::string& why);

// Those of the targets that are copies, for people: "1 copy, which takes no work: web7"; "" when
// none is.
std::string CopiesAmong(const State& state, const Targets& targets);

// Whether the agent that says this Hello is the only one of a host that is shown as a copy: it has
// the host's data folder, and no other agent with its key said Hello for link::kAloneFor, while
// this one did so regularly. Notes the Hello.
bool IsOnlyOneLeft(Turn& turn, HostEntry& entry, const link::Hello& hello);

// That one is about to be accepted. The other may still run what was lost so far.
void TakeBack(Turn& turn, HostEntry& entry, const std::string& address);

}  // namespace muster::engine
