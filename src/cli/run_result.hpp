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

// Equal outcomes on stdout, failing ones first, each with the output of one of its hosts.
Result<> PrintGroups(const Context& context, ApiClient& api, const std::string& run,
                     const std::vector<OutcomeGroup>& groups);

inline constexpr Duration kPatience = std::chrono::seconds(30);  // with a server that is away

// Calls `call` again while the server does not answer, for as long as `patience`; a third of it
// when there is no server at all. So `call` must be harmless when repeated.
Result<boost::json::value> Persist(const Context& context, Duration patience,
                                   const std::function<Result<boost::json::value>()>& call);

}  // namespace muster::cli
