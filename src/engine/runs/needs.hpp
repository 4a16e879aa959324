#pragma once

#include <optional>
#include <string>
#include <vector>

#include "domain/command.hpp"
#include "engine/state.hpp"

namespace muster::engine {

// The features a node must have to obey an order for this command: what an older or poorer agent
// would silently leave out, a limit for example.
std::vector<std::string> NeedsOf(const muster::Command& command);

// Why this host is not sent such an order, in words for the task's end; nothing when it can be.
std::optional<std::string> WhatLacks(const muster::Command& command, const HostEntry& host);

}  // namespace muster::engine
