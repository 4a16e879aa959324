#include "server/api/trigger_status.hpp"

#include <limits>

#include <boost/json.hpp>

#include "server/api/gauge.hpp"

namespace muster::server::api {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;
using Triggers = EngineThread::Status::Triggers;

MetricFamily States(TriggerCounts counts) {
  MetricFamily family{
      "muster_triggers", "Triggers by state, whether they run or not", MetricType::Gauge, {}};
  for (const auto state : {TriggerState::kRunnable, TriggerState::kPaused, TriggerState::kComplete,
                           TriggerState::kError}) {
    ClientMetric metric;
    metric.label = {{"state", std::string(Name(state))}};
    metric.gauge.value = static_cast<double>(counts.Of(state));
    family.metric.push_back(std::move(metric));
  }
  return family;
}

// Every outcome is there from the start: a counter that appears with its first missed slot would
// hide that one from rate().
MetricFamily Decided(const engine::SlotTally& slots) {
  MetricFamily family{"muster_slots_total",
                      "Slots decided since this server leads, by outcome",
                      MetricType::Counter,
                      {}};
  for (std::size_t i = 0; i < slots.decided.size(); ++i) {
    ClientMetric metric;
    metric.label = {{"outcome", std::string(engine::SlotTally::kOutcomes[i])}};
    metric.counter.value = static_cast<double>(slots.decided[i]);
    family.metric.push_back(std::move(metric));
  }
  return family;
}

MetricFamily Lateness(const engine::SlotTally& slots) {
  ClientMetric metric;
  std::uint64_t below = 0;
  for (std::size_t i = 0; i < slots.late.size(); ++i) {
    below += slots.late[i];
    if (i < engine::SlotTally::kLateBounds.size())
      metric.histogram.bucket.push_back({below, engine::SlotTally::kLateBounds[i]});
  }
  metric.histogram.sample_count = below;
  metric.histogram.sample_sum = std::chrono::duration<double>(slots.late_sum).count();
  return {"muster_slot_lateness_seconds",
          "How long after they were due runs of schedules were started",
          MetricType::Histogram,
          {metric}};
}

}  // namespace

boost::json::object TriggersView(const Triggers& triggers) {
  return {{"all", triggers.counts.All()},         {"runnable", triggers.counts.runnable},
          {"running", triggers.running},          {"paused", triggers.counts.paused},
          {"complete", triggers.counts.complete}, {"error", triggers.counts.error}};
}

void AddTriggerMetrics(const Triggers& triggers, WallTime now,
                       std::vector<MetricFamily>& families) {
  families.push_back(States(triggers.counts));
  families.push_back(Gauge("muster_triggers_running", "Triggers with an open run",
                           static_cast<double>(triggers.running)));
  families.push_back(Gauge("muster_triggers_near", "Triggers in memory: due soon, or running",
                           static_cast<double>(triggers.near)));
  const double next = triggers.next ? static_cast<double>((triggers.next - now).count()) / 1000
                                    : std::numeric_limits<double>::infinity();
  families.push_back(Gauge("muster_next_slot_seconds",
                           "Until a trigger is due; +Inf when none is within the hour", next));
  families.push_back(Decided(triggers.slots));
  families.push_back(Lateness(triggers.slots));
}

}  // namespace muster::server::api
