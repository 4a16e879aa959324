#pragma once

#include <string>

#include "adapters/net/client.hpp"
#include "base/result.hpp"

namespace muster::net {

// The certificate at the root of the chain a server shows, PEM, without believing it: for a person
// to compare its fingerprint before anything is said to that server. kNotFound when the chain shows
// no root; kUnavailable when there is no server, or none that speaks TLS.
Result<std::string> ShownRootPem(const Endpoint& endpoint, Duration timeout);

}  // namespace muster::net
