#pragma once

#include <vector>

#include "domain/audit.hpp"
#include "domain/ordinals.hpp"
#include "domain/run.hpp"

namespace muster::engine {

// Says in the entry how many hosts it touches, and their names, folded. Gives their ids, for
// Turn::Audit.
std::vector<HostId> PutHosts(AuditEntry& entry, const Targets& targets, const Ordinals& hosts);

}  // namespace muster::engine
