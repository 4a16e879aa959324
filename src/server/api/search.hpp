#pragma once

#include <atomic>
#include <cstddef>
#include <vector>

#include "ports/log_store.hpp"
#include "ports/store.hpp"
#include "server/api/lane.hpp"
#include "server/api/router.hpp"

namespace muster::server::api {

// What searches work with. Everything here outlives the router.
struct SearchServices {
  Store& store;
  LogStore& logs;
  Lane lane;
  std::atomic<std::size_t> under_way = 0;
};

// GET /api/v1/runs/{id}/search: the lines of a run's output that match, as they are found. A search
// holds a worker for about 1 MB of output at a time, one search after the other, reads no faster
// than its client, and ends when that goes; so it costs the server bounded memory, and other calls
// come in between.
std::vector<Route> SearchRoutes(SearchServices& services);

}  // namespace muster::server::api
