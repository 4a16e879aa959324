#pragma once

#include <boost/json/value.hpp>

#include "cli/client/api_client.hpp"
#include "cli/context.hpp"
#include "cli/runs/run_follow.hpp"

// How commands follow a run to its end, and what they print then.
namespace muster::cli {

// Once a run has its id, its result is worth more patience.
inline constexpr Duration kResultPatience = std::chrono::minutes(15);

// Hosts whose lines are shown as they come; of more, equal outcomes are grouped at the end.
inline constexpr std::uint64_t kMostLive = 20;

// Whether the run has ended and its output is whole. `run`: as GET /runs/ID gives it.
bool HasEnded(const boost::json::value& run);

// The exit code of a client that waited for this run, which has ended.
int ExitCodeAtEnd(const boost::json::value& run);

struct EndOptions {
  bool live = false;          // its output was printed as it came
  bool lines = false;         // a line of JSON was printed for each host
  bool largest_code = false;  // exit with the largest exit code of the hosts
};

// Prints what became of an ended run: of a job its stages, of a command the output of equal
// outcomes, then the summary. Gives the exit code of the program.
Result<int> PrintEnd(const Context& context, ApiClient& api, const std::string& run,
                     const EndOptions& options);

// Follows the run to its end and prints what became of it. Gives the exit code of the program.
Result<int> FollowToEnd(const Context& context, ApiClient& api, const FollowOptions& follow,
                        bool largest_code = false);

}  // namespace muster::cli
