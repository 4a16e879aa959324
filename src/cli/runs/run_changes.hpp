#pragma once

#include <string>

#include <boost/json/fwd.hpp>

namespace muster::cli {

// What a run does, as a person names it: "rel (version 3)", or its title. One line.
std::string WorkText(const boost::json::value& run);

// The parameters it was started with: "version=6.1, token=secret:deploy-token"; long values are
// cut.
// "" when there are none. One line.
std::string ParamsText(const boost::json::value& run);

// What persons changed of it since it started: "skips verify; concurrency=1; roll:
// max_failures=5%".
// "" when nothing. One line.
std::string ChangesText(const boost::json::value& run);

}  // namespace muster::cli
