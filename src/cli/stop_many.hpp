#pragma once

#include <string>

#include <boost/json/object.hpp>

#include "cli/api_client.hpp"
#include "cli/context.hpp"

namespace muster::cli {

// Which runs `muster stop` means without naming one: those of a job, or all that are open.
struct ManyRuns {
  std::string job;
  bool all = false;
  bool yes = false;

  explicit operator bool() const { return all || !job.empty(); }
};

// Stops them, after a question at a terminal. `body` goes with each stop.
Result<int> StopMany(const Context& context, ApiClient& api, const ManyRuns& which,
                     const boost::json::object& body);

}  // namespace muster::cli
