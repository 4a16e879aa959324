#pragma once

#include <boost/json/object.hpp>

#include "server/api/services.hpp"

namespace muster::server::api {

// Which part of the fleet some hosts are, label by label: of zone sh1 so many of so many. Only
// labels with few values say anything here; the rest are left out.
boost::json::object SharesView(Services& services, const Targets& targets);

}  // namespace muster::server::api
