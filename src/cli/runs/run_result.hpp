#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/client/api_client.hpp"
#include "cli/context.hpp"
#include "cli/runs/report.hpp"

namespace muster::cli {

// Where a run's tasks are.
std::string TasksPath(std::string_view run);

// {"id","state","hosts":[{"host","state","exit_code","attempt","log":{…}}]}
Result<boost::json::value> ResultDocument(ApiClient& api, const boost::json::value& run);

// What hosts came to, whatever they printed: few groups, for a summary.
Result<std::vector<OutcomeGroup>> Outcomes(const Context& context, ApiClient& api,
                                           std::string_view run);

// Equal outcomes on stdout, failing ones first, each with the output of one of its hosts. Cut by
// size: the last groups lack the output, then the others are only counted.
Result<> PrintGroups(const Context& context, ApiClient& api, const std::string& run);

}  // namespace muster::cli
