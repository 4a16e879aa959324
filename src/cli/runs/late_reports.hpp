#pragma once

#include <string>

#include <boost/json/value.hpp>

#include "cli/client/api_client.hpp"

namespace muster::cli {

// Of the run's hosts that are lost, what some reported later, a line each: "web1: lost; later it
// reported: failed (exit 3)". "" when there are none, or the server does not say.
std::string LateReports(ApiClient& api, const boost::json::value& run);

}  // namespace muster::cli
