#pragma once

#include <boost/json/array.hpp>

#include "server/api/services.hpp"

namespace muster::server::api {

// What would hold such a start back, or leave hosts out of it, in words for a person.
boost::json::array HindrancesView(Services& services, const std::string& job,
                                  const Targets& targets);

}  // namespace muster::server::api
