#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace muster {

// A place in a trace, as the header `traceparent` of W3C Trace Context has it: under which span of
// whose trace something happens.
struct TraceParent {
  std::string trace;    // 32 hex digits, not all zero
  std::string span;     // 16 hex digits, likewise
  bool sampled = true;  // whoever began the trace keeps it

  friend bool operator==(const TraceParent&, const TraceParent&) = default;
};

// "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01". Nothing for any other text: who cannot
// read the header goes on as if there were none, says the standard. Later versions may be longer.
std::optional<TraceParent> ParseTraceParent(std::string_view text);
std::string FormatTraceParent(const TraceParent& parent);

}  // namespace muster
