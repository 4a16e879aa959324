#pragma once

#include <atomic>
#include <cstddef>
#include <vector>

#include "ports/clock.hpp"
#include "ports/log_store.hpp"
#include "ports/store.hpp"
#include "server/api/caller_slots.hpp"
#include "server/api/lane.hpp"
#include "server/api/look_again.hpp"
#include "server/api/refusals.hpp"
#include "server/api/router.hpp"

namespace muster::server::api {

// What searches work with. Everything here outlives the router.
struct SearchServices {
  Store& store;
  LogStore& logs;
  const Clock& clock;
  Lane lane;
  LookAgain look_again;
  Refusals::Later later;                       // on the loop's thread
  Duration longest = std::chrono::minutes(5);  // that a search may take
  CallerSlots callers{1};
  std::atomic<std::size_t> under_way = 0;
};

// GET /api/v1/runs/{id}/search: the lines of a run's output that match, as they are found. A search
// holds a worker for about 1 MB of output at a time, one search after the other, reads no faster
// than its client, and ends when that goes; so it costs the server bounded memory, and other calls
// come in between. There are four at a time, one of each caller; a search ends with its token, and
// after `longest`, so that nobody keeps the four from others.
std::vector<Route> SearchRoutes(SearchServices& services);

}  // namespace muster::server::api
