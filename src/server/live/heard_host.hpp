#pragma once

#include "base/instant.hpp"
#include "domain/ids.hpp"

namespace muster::server {

// When a host with an open link was last heard, by the clock of the server that has the link; of
// what a server tells another: by the clock of whoever reads it.
struct HeardHost {
  HostId host;
  MonoTime at;
};

}  // namespace muster::server
