#pragma once

#include "ports/store.hpp"
#include "server/live/declared_hosts.hpp"
#include "server/live/live_view.hpp"

namespace muster::server {

// What plans are made of: what is on record, what is true now, and the hosts that documents
// declare. All of it outlives the plan that is made.
struct Inventory {
  Store& store;
  const LiveView& live;
  DeclaredHosts& declared;
};

}  // namespace muster::server
