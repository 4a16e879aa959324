#pragma once

#include <string>

#include <boost/json/object.hpp>

#include "cli/client/api_client.hpp"
#include "cli/context.hpp"

namespace muster::cli {

// Which runs `muster stop` means without naming one: those of a job, or all that are open.
struct ManyRuns {
  std::string job;
  std::string host;  // only on this host; "" is on all of them
  bool all = false;
  bool yes = false;

  explicit operator bool() const { return all || !job.empty(); }
};

// Stops them, after a question at a terminal that says what is stopped. `body` goes with each stop.
// A run inside another that is stopped stops with it, and is not stopped by itself. Refusals stop
// nothing else: they are listed at the end, and the first of them decides the exit code. Runs that
// begin meanwhile are stopped too.
Result<int> StopMany(const Context& context, ApiClient& api, const ManyRuns& which,
                     const boost::json::object& body);

}  // namespace muster::cli
