#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "documents/documents.hpp"
#include "ports/store.hpp"

namespace muster::server {

using DocumentKey = std::pair<std::string, std::string>;  // kind and name

// What documents refer to that would not be there once `puts` are applied and `drops` are gone:
// jobs, their parameters and channels; and jobs that start each other in a circle. Looks also at
// the jobs that are kept, when something they need is dropped. An error is the store's.
Result<std::vector<documents::Problem>> CheckReferences(
    Store& store, const std::vector<documents::Document>& puts, const std::set<DocumentKey>& drops);

}  // namespace muster::server
