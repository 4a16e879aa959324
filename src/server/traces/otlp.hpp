#pragma once

#include <string>
#include <vector>

#include <boost/json/object.hpp>

#include "server/traces/trace.hpp"

namespace muster::server {

// Traces as OpenTelemetry's collectors take them: an ExportTraceServiceRequest in OTLP's JSON.
// `server` is the name of the one that tells. Spans that have not ended have no end time.
boost::json::object OtlpView(const std::vector<Trace>& traces, const std::string& server);

}  // namespace muster::server
