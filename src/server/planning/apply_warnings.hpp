#pragma once

#include <string>
#include <vector>

#include "base/instant.hpp"
#include "documents/documents.hpp"
#include "server/planning/inventory.hpp"

namespace muster::server {

// Sentences for people about documents that are right and perhaps not what was meant: a group lists
// hosts that are neither known nor declared, or a trigger's only moment has passed.
std::vector<std::string> ApplyWarnings(const Inventory& inventory, WallTime now,
                                       const std::vector<documents::Document>& puts);

}  // namespace muster::server
