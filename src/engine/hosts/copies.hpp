#pragma once

#include <string>

#include "engine/turn.hpp"

// Hosts whose key is in more than one place: a cloned machine, or one that was put back to an older
// snapshot.
namespace muster::engine {

// The host gets no work from now on. Its link and the newcomer's are closed with the reason.
void MarkAsCopy(Turn& turn, HostEntry& entry, LinkId newcomer, const std::string& why);

// Whether the agent that says this Hello is the only one of a host that is shown as a copy: no
// other agent with its key said Hello for link::kAloneFor, while this one did so regularly. Notes
// the Hello.
bool IsOnlyOneLeft(Turn& turn, HostEntry& entry, const link::Hello& hello);

}  // namespace muster::engine
