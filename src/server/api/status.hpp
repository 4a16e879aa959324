#pragma once

#include <vector>

#include <boost/json/object.hpp>
#include <prometheus/metric_family.h>

#include "server/api/services.hpp"

namespace muster::server::api {

// How the data is kept, for /status: disk, last backup, restore, retention, certificates, closed
// gates.
boost::json::object KeepingView(Services& services);

// The same in numbers.
void AddKeepingMetrics(Services& services, std::vector<prometheus::MetricFamily>& families);

}  // namespace muster::server::api
