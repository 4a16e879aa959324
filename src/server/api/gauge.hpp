#pragma once

#include <prometheus/metric_family.h>

namespace muster::server::api {

// A family of one value.
inline prometheus::MetricFamily Gauge(const char* name, const char* help, double value) {
  prometheus::ClientMetric metric;
  metric.gauge.value = value;
  return {name, help, prometheus::MetricType::Gauge, {metric}};
}

}  // namespace muster::server::api
