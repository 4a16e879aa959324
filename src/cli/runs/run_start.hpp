#pragma once

#include <optional>

#include <boost/json/value.hpp>

#include "cli/client/api_client.hpp"
#include "cli/context.hpp"

namespace muster::cli {

struct StartOptions {
  bool dry_run = false;
  bool detach = false;
  bool live = false;
  bool grouped = false;
  bool yes = false;
  bool largest_code = false;
};

struct Started {
  boost::json::value answer;  // of POST /runs
  std::optional<int> code;    // the program's exit code, when there is nothing to follow
};

// Starts the run that `body` describes, after a question when a person is there and many hosts are
// meant; or says what would be, for a dry run.
Result<Started> StartRun(const Context& context, ApiClient& api, const boost::json::value& body,
                         const StartOptions& options);

// Starts it, watches it to its end, prints what it said; the program's exit code.
Result<int> StartAndFollow(const Context& context, ApiClient& api, const boost::json::value& body,
                           const StartOptions& options);

}  // namespace muster::cli
