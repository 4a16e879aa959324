#pragma once

#include <set>
#include <vector>

#include "documents/documents.hpp"
#include "ports/store.hpp"
#include "server/planning/applied_set.hpp"

namespace muster::server {

// What would be wrong once `puts` are applied and `drops` are gone: documents that are named and
// not there, or that name each other in a circle; time zones that nobody knows; and what the rules
// of each kind say (kind_rules.hpp). Looks also at documents that are kept, when something that
// they hold is dropped. An error is the store's.
Result<std::vector<documents::Problem>> CheckReferences(
    Store& store, const std::vector<documents::Document>& puts, const std::set<DocumentKey>& drops);

}  // namespace muster::server
