#pragma once

#include <string>
#include <vector>

#include "cli/client/api_client.hpp"
#include "cli/runs/run_request.hpp"
#include "cli/runs/run_start.hpp"
#include "imports/crontab.hpp"

namespace muster::cli {

struct CrontabsOfHosts {
  std::vector<imports::CrontabFile> files;
  std::vector<imports::CrontabNote> notes;  // hosts and files that could not be read, too
  int code = 0;                             // the program's exit code
  bool ended = false;                       // there is nothing to go on with
};

// Runs one script on the hosts that prints their crontabs, waits for its end, and reads what it
// said. `root` is where their files begin; "" is /.
Result<CrontabsOfHosts> CollectCrontabs(const Context& context, const RunOptions& options,
                                        const StartOptions& start, const std::string& root);

}  // namespace muster::cli
