#pragma once

#include <vector>

#include "server/api/line_stream.hpp"
#include "server/api/router.hpp"
#include "server/keeping/keeper.hpp"
#include "server/results/run_results.hpp"

namespace muster::server::api {

// What streams of output work with. Everything here outlives the router.
struct OutputServices {
  LineStreams& streams;
  RunResults& results;
  const Keeper& keeper;
};

// GET /api/v1/runs/{id}/outputs: the output of every host of a run, one after the other, in one
// answer. Bounded as a search is, and apart from searches.
std::vector<Route> OutputRoutes(OutputServices& services);

}  // namespace muster::server::api
