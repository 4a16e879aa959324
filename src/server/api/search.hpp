#pragma once

#include <vector>

#include "server/api/line_stream.hpp"
#include "server/api/router.hpp"

namespace muster::server::api {

using SearchServices = LineStreams;

// GET /api/v1/runs/{id}/search: the lines of a run's output that match, as they are found. A search
// holds a worker for about 1 MB of output at a time, one search after the other, reads no faster
// than its client, and ends when that goes; so it costs the server bounded memory, and other calls
// come in between. There are four at a time, one of each caller; a search ends with its token, and
// after `longest`, so that nobody keeps the four from others.
std::vector<Route> SearchRoutes(SearchServices& services);

}  // namespace muster::server::api
