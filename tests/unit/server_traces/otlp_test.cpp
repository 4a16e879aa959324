#include "server/traces/otlp.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include "base/version.hpp"

namespace muster::server {
namespace {

namespace json = boost::json;

Trace OneTrace() {
  Span span{.id = "00f067aa0ba902b7",
            .parent = "",
            .name = "uptime",
            .start = {1'000},
            .end = {2'500},
            .attributes = {{"muster.run", "r7"}, {"muster.hosts", std::int64_t{3}}}};
  return {.id = "4bf92f3577b34da6a3ce929d0e0e4736", .spans = {span}};
}

json::object FirstSpan(const Trace& trace) {
  const auto view = OtlpView({trace}, "s1");
  return view.at("resourceSpans").at(0).at("scopeSpans").at(0).at("spans").at(0).as_object();
}

TEST(Otlp, IsWhatCollectorsTake) {
  auto expected = json::parse(R"({"resourceSpans": [{
    "resource": {"attributes": [
      {"key": "service.name", "value": {"stringValue": "muster"}},
      {"key": "service.version", "value": {"stringValue": "VERSION"}},
      {"key": "service.instance.id", "value": {"stringValue": "s1"}}]},
    "scopeSpans": [{
      "scope": {"name": "muster", "version": "VERSION"},
      "spans": [{
        "traceId": "4bf92f3577b34da6a3ce929d0e0e4736",
        "spanId": "00f067aa0ba902b7",
        "name": "uptime",
        "kind": 1,
        "startTimeUnixNano": "1000000000",
        "attributes": [
          {"key": "muster.run", "value": {"stringValue": "r7"}},
          {"key": "muster.hosts", "value": {"intValue": "3"}}],
        "endTimeUnixNano": "2500000000",
        "status": {"code": 1}}]}]}]})");
  std::string text = json::serialize(expected);
  for (std::size_t at = 0; (at = text.find("VERSION")) != std::string::npos;)
    text.replace(at, 7, kVersion);
  EXPECT_EQ(json::value(OtlpView({OneTrace()}, "s1")), json::parse(text));
}

TEST(Otlp, AFailureSaysWhy) {
  Trace trace = OneTrace();
  trace.spans[0].failed = true;
  trace.spans[0].message = "no luck";
  trace.spans[0].parent = "eee19b7ec3c1b174";
  const auto span = FirstSpan(trace);
  EXPECT_EQ(span.at("status"), (json::value{{"code", 2}, {"message", "no luck"}}));
  EXPECT_EQ(span.at("parentSpanId"), "eee19b7ec3c1b174");
}

TEST(Otlp, WhatGoesOnHasNeitherEndNorStatus) {
  Trace trace = OneTrace();
  trace.spans[0].end = {};
  EXPECT_FALSE(FirstSpan(trace).contains("endTimeUnixNano"));
  EXPECT_FALSE(FirstSpan(trace).contains("status"));
}

TEST(Otlp, BytesOfAnyKindMakeNoBadJson) {
  Trace trace = OneTrace();
  trace.spans[0].name = "\xff\xfe";
  trace.spans[0].attributes = {{"muster.title", "\x80 \"quoted\""}};
  const auto text = json::serialize(OtlpView({trace}, "s1"));
  EXPECT_NE(text.find("(base64) //4="), std::string::npos) << text;
  EXPECT_NO_THROW((void)json::parse(text));
}

}  // namespace
}  // namespace muster::server
