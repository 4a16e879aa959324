#pragma once

#include <string>

namespace muster::cli {

// What the audit trail shows as the client of this program's calls: "muster/0.1.0 alice@desk".
// Whoever calls can write what he likes there; the token says who he is.
std::string ClientName();

}  // namespace muster::cli
