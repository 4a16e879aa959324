#pragma once

#include <memory>
#include <string>

#include <boost/json/array.hpp>

#include "server/api/services.hpp"

namespace muster::server::api {

// What would hold such a start back, in words for a person. With `during_freeze` no freeze does.
boost::json::array HindrancesView(Services& services, const RunSpec& plan, const Targets& targets,
                                  bool during_freeze);

// The targets that are not in maintenance, and in words which are; "" when none is.
struct WithoutMaintained {
  std::shared_ptr<const Targets> targets;
  std::string left_out;
};
WithoutMaintained LeaveOutMaintained(Services& services, std::shared_ptr<const Targets> targets);

}  // namespace muster::server::api
