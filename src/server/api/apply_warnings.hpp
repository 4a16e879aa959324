#pragma once

#include <string>
#include <vector>

#include "documents/documents.hpp"
#include "server/api/services.hpp"

namespace muster::server::api {

// Sentences for people about documents that are right and perhaps not what was meant: a group or a
// trigger names hosts that are neither known nor declared, or a trigger's only moment has passed.
std::vector<std::string> ApplyWarnings(Services& services,
                                       const std::vector<documents::Document>& puts);

}  // namespace muster::server::api
