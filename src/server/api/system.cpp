#include <charconv>
#include <memory>
#include <optional>
#include <sstream>
#include <string_view>

#include <boost/json.hpp>
#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include "base/version.hpp"
#include "server/api/gauge.hpp"
#include "server/api/notices.hpp"
#include "server/api/routes.hpp"
#include "server/api/status.hpp"
#include "server/api/trigger_status.hpp"

namespace muster::server::api {
namespace {

namespace json = boost::json;

void Status(Services& services, const CallPtr& call, MonoTime started) {
  const auto engine = services.engine.GetStatus();
  const auto hosts = services.live.CountHosts();
  const auto fence = services.store.ReadFence();
  json::object view{{"version", kVersion},
                    {"cluster", engine.cluster},
                    {"term", engine.term.value},
                    {"commit", fence ? fence->number.value : engine.commit.value},
                    {"leader", engine.leading},
                    {"reason", engine.reason},
                    {"hosts", hosts.all},
                    {"online", hosts.online},
                    {"open_runs", engine.open_runs},
                    {"triggers", TriggersView(engine.triggers)},
                    {"notices", NoticesView(services.channel_book)},
                    {"finalize_due", services.finalize_due()},
                    {"uptime_ms", (services.clock.Read().mono - started).count()}};
  for (auto& part : KeepingView(services)) view[part.key()] = std::move(part.value());
  call->Json(200, view);
}

void Ready(Services& services, const CallPtr& call) {
  const std::string why_not = services.not_ready();
  if (why_not.empty()) return call->Text(200, "text/plain", "ready\n");
  call->Text(503, "text/plain", why_not + "\n");
}

prometheus::MetricFamily Metric(const char* name, const char* help, prometheus::MetricType type,
                                double value) {
  prometheus::ClientMetric metric;
  if (type == prometheus::MetricType::Counter)
    metric.counter.value = value;
  else
    metric.gauge.value = value;
  return {name, help, type, {metric}};
}

void Metrics(Services& services, const CallPtr& call) {
  using prometheus::MetricType;
  const auto engine = services.engine.GetStatus();
  const auto hosts = services.live.CountHosts();
  const auto number = [](auto value) { return static_cast<double>(value); };
  std::vector<prometheus::MetricFamily> families{
      Metric("muster_leading", "1 when this server leads", MetricType::Gauge,
             engine.leading ? 1 : 0),
      Metric("muster_term", "Term of the current leadership", MetricType::Gauge,
             number(engine.term.value)),
      Metric("muster_commit_number", "Number of the last durable batch", MetricType::Gauge,
             number(engine.commit.value)),
      Metric("muster_engine_commands_total", "Commands decided", MetricType::Counter,
             number(engine.commands)),
      Metric("muster_engine_batches_total", "Batches committed", MetricType::Counter,
             number(engine.batches)),
      Metric("muster_engine_queue", "Commands waiting for the engine", MetricType::Gauge,
             number(engine.queued)),
      Metric("muster_open_runs", "Runs that have not ended", MetricType::Gauge,
             number(engine.open_runs)),
      Metric("muster_hosts", "Known hosts", MetricType::Gauge, number(hosts.all)),
      Metric("muster_hosts_online", "Hosts with a link", MetricType::Gauge, number(hosts.online)),
      Metric("muster_links", "Open links", MetricType::Gauge, number(services.links())),
      Metric("muster_connections", "Open connections on the port", MetricType::Gauge,
             number(services.connections())),
      Metric("muster_stream_subscribers", "Clients of /api/v1/stream", MetricType::Gauge,
             number(services.hub.Subscribers())),
      Metric("muster_ca_expires_seconds", "Until the CA that signs ends", MetricType::Gauge,
             number((services.identity.ca_ends - services.clock.Read().wall).count()) / 1000),
      Metric("muster_server_certificate_expires_seconds",
             "Until the certificate that the port shows ends", MetricType::Gauge,
             number((services.server_cert_ends() - services.clock.Read().wall).count()) / 1000),
      Metric("muster_refused_tokens_total", "Calls without a valid token", MetricType::Counter,
             number(services.refusals.Total(Failure::kToken))),
      Metric("muster_refused_joins_total", "Joins that were not let in", MetricType::Counter,
             number(services.refusals.Total(Failure::kJoin))),
      Metric("muster_refused_links_total", "Handshakes and links that were not let in",
             MetricType::Counter, number(services.refusals.Total(Failure::kLink))),
  };
  const auto standing = services.standing();
  families.push_back(Metric("muster_sends_away", "1 while nodes are sent to other servers",
                            MetricType::Gauge, standing.sends_away ? 1 : 0));
  families.push_back(
      Metric("muster_clock_ahead_seconds",
             "How far this clock is ahead of the store's or leader's, at least; 0: none to ask",
             MetricType::Gauge, number(standing.clock_ahead.value_or(Duration(0)).count()) / 1000));
  const auto traces = services.traces.Count();
  families.push_back(Metric("muster_traces_sent_total", "Runs whose traces the collector has",
                            MetricType::Counter, number(traces.sent)));
  families.push_back(Metric("muster_traces_dropped_total", "Runs whose traces were dropped",
                            MetricType::Counter, number(traces.dropped)));
  families.push_back(Metric("muster_traces_queue", "Runs whose traces wait to be sent",
                            MetricType::Gauge, number(traces.queued)));
  AddKeepingMetrics(services, families);
  AddTriggerMetrics(engine.triggers, services.clock.Read().wall, families);
  families.push_back(Gauge("muster_notices_undelivered", "Notices that their channels did not take",
                           number(services.channel_book.Sum().undelivered)));
  std::ostringstream out;
  prometheus::TextSerializer().Serialize(out, families);
  call->Text(200, "text/plain; version=0.0.4", out.str());
}

void StreamEvents(Services& services, const CallPtr& call) {
  const auto topics = StreamHub::ParseTopics(call->Query("topics"));
  if (!topics) return call->Fail(topics.error());
  // A browser that reconnects repeats the address it began with; what it saw last is in the header.
  const auto header = net::FindHeader(call->request().headers, "Last-Event-ID");
  const std::string_view asked = header.empty() ? std::string_view(call->Query("from")) : header;
  std::optional<CommitNumber> from;
  if (!asked.empty()) {
    const auto end = asked.data() + asked.size();
    const auto read = std::from_chars(asked.data(), end, from.emplace().value);
    if (read.ec != std::errc() || read.ptr != end)
      return call->Fail(Error{ErrorCode::kInvalid,
                              fmt::format("from: '{}' is not the number of a commit", asked)});
  }
  if (!services.streams.Take(call)) return;
  services.hub.Subscribe(*topics, from, call->exchange(), call->actor().name);
}

}  // namespace

std::vector<Route> SystemRoutes(Services& services) {
  const MonoTime started = services.clock.Read().mono;
  // Shared by the answers that are on their way.
  const auto openapi = std::make_shared<const std::string>(services.openapi);
  return {
      {"GET", "/healthz", Privilege::kPublic,
       [](const CallPtr& call) { call->Text(200, "text/plain", "alive\n"); }, !kOnRecord, !kUrgent,
       Vital::kHealth},
      {"GET", "/readyz", Privilege::kPublic,
       [&services](const CallPtr& call) { Ready(services, call); }, !kOnRecord, !kUrgent,
       Vital::kHealth},
      {"GET", "/metrics", Privilege::kPublic,
       [&services](const CallPtr& call) { Metrics(services, call); }, !kOnRecord, !kUrgent,
       Vital::kMetrics},
      {"GET", "/api/v1/openapi.yaml", Privilege::kPublic,
       [openapi](const CallPtr& call) { call->Shared("application/yaml", openapi); }},
      {"GET", "/api/v1/status", Privilege::kView,
       [&services, started](const CallPtr& call) { Status(services, call, started); }},
      {"GET", "/api/v1/stream", Privilege::kView,
       [&services](const CallPtr& call) { StreamEvents(services, call); }},
  };
}

}  // namespace muster::server::api
