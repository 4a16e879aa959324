#include "server/traces/otlp.hpp"

#include <boost/json.hpp>

#include "base/text.hpp"
#include "base/version.hpp"

namespace muster::server {
namespace {

namespace json = boost::json;

constexpr int kInternal = 1;  // SPAN_KIND_INTERNAL
constexpr int kOk = 1;        // STATUS_CODE_OK
constexpr int kError = 2;     // STATUS_CODE_ERROR

// Numbers of 64 bits are strings in this form of JSON.
std::string Nanoseconds(WallTime time) {
  return time.ms == 0 ? "0" : std::to_string(time.ms) + "000000";
}

// Names and reasons may hold bytes of any kind; a JSON text may not.
std::string Readable(const std::string& text) {
  return IsUtf8(text) ? text : "(base64) " + ToBase64(text);
}

json::object Attribute(const std::string& key, json::object value) {
  return {{"key", key}, {"value", std::move(value)}};
}
json::object Attribute(const std::string& key, const std::string& text) {
  return Attribute(key, json::object{{"stringValue", Readable(text)}});
}
json::object Attribute(const std::string& key, std::int64_t number) {
  return Attribute(key, json::object{{"intValue", std::to_string(number)}});
}

json::object SpanView(const std::string& trace, const Span& span) {
  json::array attributes;
  for (const auto& [key, value] : span.attributes)
    std::visit([&](const auto& is) { attributes.push_back(Attribute(key, is)); }, value);
  json::object view{{"traceId", trace},
                    {"spanId", span.id},
                    {"name", Readable(span.name)},
                    {"kind", kInternal},
                    {"startTimeUnixNano", Nanoseconds(span.start)},
                    {"attributes", std::move(attributes)}};
  if (!span.parent.empty()) view["parentSpanId"] = span.parent;
  if (!span.end) return view;
  view["endTimeUnixNano"] = Nanoseconds(span.end);
  json::object status{{"code", span.failed ? kError : kOk}};
  if (span.failed && !span.message.empty()) status["message"] = Readable(span.message);
  view["status"] = std::move(status);
  return view;
}

}  // namespace

json::object OtlpView(const std::vector<Trace>& traces, const std::string& server) {
  json::array spans;
  for (const auto& trace : traces)
    for (const auto& span : trace.spans) spans.push_back(SpanView(trace.id, span));
  json::array about{Attribute("service.name", std::string("muster")),
                    Attribute("service.version", std::string(kVersion)),
                    Attribute("service.instance.id", server)};
  json::array scopes{
      json::object{{"scope", json::object{{"name", "muster"}, {"version", std::string(kVersion)}}},
                   {"spans", std::move(spans)}}};
  json::array resources{json::object{{"resource", json::object{{"attributes", std::move(about)}}},
                                     {"scopeSpans", std::move(scopes)}}};
  return {{"resourceSpans", std::move(resources)}};
}

}  // namespace muster::server
