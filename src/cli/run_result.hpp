#pragma once

#include <string>

#include "cli/api_client.hpp"
#include "cli/context.hpp"
#include "cli/report.hpp"

namespace muster::cli {

// Where a run's tasks are.
std::string TasksPath(std::string_view run);

// {"id","state","hosts":[{"host","state","exit_code","attempt","log":{…}}]}
Result<boost::json::value> ResultDocument(ApiClient& api, const boost::json::value& run);

// Equal outcomes on stdout, failing ones first, each with the output of one of its hosts. Cut by
// size: the last groups lack the output, then the others of all `total` are only counted.
Result<> PrintGroups(const Context& context, ApiClient& api, const std::string& run,
                     const std::vector<OutcomeGroup>& groups, std::size_t total);

}  // namespace muster::cli
