#include "cron/zone.hpp"

#include <algorithm>

namespace muster::cron {
namespace {

constexpr int kStretchBits = 23;  // 97 days: no zone changes its clocks much more often
constexpr std::int64_t kLongBefore = kFirstSecond - kCycle;
constexpr std::int64_t kLongAfter = kLastSecond + kCycle;

}  // namespace

Zone::Zone(std::string_view name, std::int32_t first_offset, std::span<const ZoneChange> changes)
    : name_(name) {
  spans_.push_back({kLongBefore, 0, first_offset});
  for (std::size_t i = 0; i < changes.size(); ++i) {
    if (i + 1 < changes.size() && changes[i + 1].at == changes[i].at) continue;
    if (changes[i].offset == spans_.back().offset || changes[i].at <= kLongBefore) continue;
    spans_.push_back({changes[i].at, 0, changes[i].offset});
  }
  std::int64_t high = kLongBefore;
  for (std::size_t i = 0; i < spans_.size(); ++i) {
    high = std::max(high, EndOf(i) + spans_[i].offset);
    spans_[i].high = high;
  }
  std::size_t span = 0;
  for (std::int64_t time = 0; time <= kKnownUntil; time += std::int64_t{1} << kStretchBits) {
    while (EndOf(span) <= time) ++span;
    index_.push_back(static_cast<std::uint16_t>(span));
  }
}

Zone Zone::Utc() { return Zone("UTC", 0, {}); }

std::int64_t Zone::EndOf(std::size_t span) const noexcept {
  return span + 1 < spans_.size() ? spans_[span + 1].start : kLongAfter;
}

std::size_t Zone::SpanAt(std::int64_t time) const noexcept {
  if (time < 0) {
    const auto after = std::ranges::upper_bound(spans_, time, {}, &ZoneSpan::start);
    return static_cast<std::size_t>(after - spans_.begin()) - 1;
  }
  const auto stretch = std::min(static_cast<std::size_t>(time >> kStretchBits), index_.size() - 1);
  std::size_t span = index_[stretch];
  while (span + 1 < spans_.size() && spans_[span + 1].start <= time) ++span;
  return span;
}

std::int32_t Zone::OffsetAt(WallTime time) const noexcept {
  const std::int64_t seconds = std::clamp(FloorDiv(time.ms, 1000), kFirstSecond, kLastSecond);
  return spans_[SpanAt(seconds - CyclesBefore(seconds) * kCycle)].offset;
}

}  // namespace muster::cron
