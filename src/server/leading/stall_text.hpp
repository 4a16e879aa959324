#pragma once

#include <string>
#include <string_view>

namespace muster::server {

// Why the store keeps nothing now, for whoever calls: `stalled` is what it said. A full disk is
// named with the server's data folder, which may be "".
std::string StallText(std::string_view stalled, std::string_view folder);

}  // namespace muster::server
