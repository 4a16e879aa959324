#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "ports/artifacts.hpp"
#include "server/api/router.hpp"
#include "server/worker_pool.hpp"

namespace muster::server::api {

// What a host may do with artifacts, by the key of its certificate. Asked on the workers' threads,
// for each request.
struct HostFiles {
  // True while the host has an open order that names this hash.
  std::function<bool(const std::string& key, const std::string& sha256)> may_get;
  // True while the host has an open order to pull.
  std::function<bool(const std::string& key)> may_put;
};

// What the artifact routes work with. Everything here outlives the router.
struct ArtifactServices {
  ArtifactStore& store;
  WorkerPool& workers;
  HostFiles hosts;
};

// GET, HEAD and PUT of /api/v1/artifacts/{sha256}. Files pass in pieces, whatever their size: about
// 1 MB of memory for each transfer, and a worker only while it reads or writes a piece.
std::vector<Route> ArtifactRoutes(ArtifactServices& services);

// For net::ServerHandlers::streams_body: of the uploads alone.
bool StreamsBody(std::string_view method, std::string_view target);

}  // namespace muster::server::api
