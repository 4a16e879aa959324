#pragma once

#include <boost/json/array.hpp>

#include "engine/command.hpp"
#include "server/api/services.hpp"

namespace muster::server::api {

// How many of a run's hosts each freeze means that is about hosts. Goes with the start.
engine::FrozenHosts CountFrozen(Services& services, const Targets& targets);

// What would hold such a start back, or leave hosts out of it, in words for a person.
boost::json::array HindrancesView(Services& services, const std::string& job,
                                  const Targets& targets);

}  // namespace muster::server::api
