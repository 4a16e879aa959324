#pragma once

#include <vector>

#include <boost/json/object.hpp>
#include <prometheus/metric_family.h>

#include "server/leading/engine_thread.hpp"

// What /status and /metrics tell of triggers. Neither walks over them, however many there are.
namespace muster::server::api {

boost::json::object TriggersView(const EngineThread::Status::Triggers& triggers);

void AddTriggerMetrics(const EngineThread::Status::Triggers& triggers, WallTime now,
                       std::vector<prometheus::MetricFamily>& families);

}  // namespace muster::server::api
