#pragma once

#include <string>

#include "domain/records.hpp"
#include "engine/kinds.hpp"

// What hosts tell of themselves.
namespace muster::engine {

struct HostNews {
  Host host;
  bool online = false;
  std::string address;
  bool removed = false;  // it is no longer known
};

using NewsOfHosts = Kinds<HostNews>;

}  // namespace muster::engine
