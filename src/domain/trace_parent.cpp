#include "domain/trace_parent.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace muster {
namespace {

// version "-" trace "-" span "-" flags
constexpr std::size_t kTrace = 3;
constexpr std::size_t kTraceSize = 32;
constexpr std::size_t kSpan = kTrace + kTraceSize + 1;
constexpr std::size_t kSpanSize = 16;
constexpr std::size_t kFlags = kSpan + kSpanSize + 1;
constexpr std::size_t kSize = kFlags + 2;

bool IsHex(std::string_view text) {
  return std::ranges::all_of(
      text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

bool IsZero(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c == '0'; });
}

// The lowest bit of a hex digit.
bool IsOdd(char digit) { return (digit <= '9' ? digit - '0' : digit - 'a' + 10) % 2 == 1; }

}  // namespace

std::optional<TraceParent> ParseTraceParent(std::string_view text) {
  if (text.size() < kSize) return std::nullopt;
  for (const std::size_t dash : {kTrace - 1, kSpan - 1, kFlags - 1})
    if (text[dash] != '-') return std::nullopt;
  const std::string_view version = text.substr(0, 2);
  const std::string_view trace = text.substr(kTrace, kTraceSize);
  const std::string_view span = text.substr(kSpan, kSpanSize);
  const std::string_view flags = text.substr(kFlags, 2);
  for (const std::string_view part : {version, trace, span, flags})
    if (!IsHex(part)) return std::nullopt;
  if (version == "ff" || IsZero(trace) || IsZero(span)) return std::nullopt;
  if (text.size() > kSize && (version == "00" || text[kSize] != '-')) return std::nullopt;
  return TraceParent{
      .trace = std::string(trace), .span = std::string(span), .sampled = IsOdd(flags.back())};
}

std::string FormatTraceParent(const TraceParent& parent) {
  return fmt::format("00-{}-{}-{}", parent.trace, parent.span, parent.sampled ? "01" : "00");
}

}  // namespace muster
