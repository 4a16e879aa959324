#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "server/api/call.hpp"
#include "server/auth/authenticator.hpp"
#include "server/worker_pool.hpp"

namespace muster::server::api {

// One route. `privilege` is declared for every route; "public" needs no token, "join" brings its
// own.
struct Route {
  std::string method;
  std::string pattern;  // "/api/v1/runs/{id}/stop"
  std::string privilege;
  std::function<void(CallPtr)> handle;  // on a worker's thread; may block on reads
};

// Finds the route, checks the caller, and runs the handler on the workers.
class Router {
 public:
  Router(const Authenticator& authenticator, WorkerPool& workers);

  void Add(std::vector<Route> routes);
  const std::vector<Route>& routes() const { return routes_; }

  // On the network loop's thread.
  void Handle(net::HttpRequest request, std::shared_ptr<net::HttpExchange> exchange);

 private:
  const Authenticator& authenticator_;
  WorkerPool& workers_;
  std::vector<Route> routes_;
  std::uint64_t next_request_ = 1;
};

}  // namespace muster::server::api
