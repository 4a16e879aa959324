#pragma once

#include <set>

#include "engine/turn.hpp"

namespace muster::engine {

// Who is there. Hello and the engine's memory are compared task by task, and both sides agree in
// the Welcome: go on, kill, forget, send again, lost.
void Decide(Turn& turn, const NodeHello& command);
void Decide(Turn& turn, const LinkClosed& command);

// Closes the link, and says why.
void Refuse(Turn& turn, LinkId link, std::string code, std::string message);

// Stops the host needs not hear of any more.
void DropWishes(Turn& turn, HostId host, const std::set<TaskKey>& except = {});

}  // namespace muster::engine
