#include "cron/next.hpp"

#include <algorithm>

#include "cron/local_search.hpp"

namespace muster::cron {
namespace {

constexpr WallTime ToWall(std::int64_t seconds) noexcept { return {seconds * 1000}; }

std::optional<WallTime> InRange(std::int64_t seconds) noexcept {
  if (seconds < kFirstSecond || seconds > kLastSecond) return std::nullopt;
  return ToWall(seconds);
}

constexpr std::int64_t kFarthestOffset = 26 * 3600;  // of any zone; see zone_file.cpp
constexpr std::int64_t kPiece =
    18'250 * kDay;  // 50 years: from a known year to one before kKnownUntil

// What the clock has come up to before a span began.
LocalSeconds HighBefore(std::span<const ZoneSpan> spans, std::size_t span) noexcept {
  return span == 0 ? kFirstSecond - kCycle : spans[span - 1].high;
}

bool ShiftsGaps(const Schedule& schedule) noexcept {
  return !schedule.follows_clock && schedule.gap == GapRule::kFirst;
}

bool RepeatsFolds(const Schedule& schedule) noexcept {
  return schedule.follows_clock || schedule.fold == FoldRule::kBoth;
}

// The common case, without a loop over spans: the first reading the clock has not come up to yet,
// and when it does.
std::optional<std::int64_t> NextFixed(const Schedule& schedule, const Zone& zone,
                                      std::int64_t after) noexcept {
  const auto spans = zone.Spans();
  std::size_t span = zone.SpanAt(after);
  const LocalSeconds reached = std::max(after + spans[span].offset, HighBefore(spans, span) - 1);
  const auto reading = NextLocal(schedule, reached + 1);
  if (!reading) return std::nullopt;
  if (*reading >= spans[span].high) {
    // That early the clock cannot have come up to it.
    span = std::max(span, zone.SpanAt(std::min(*reading - kFarthestOffset, kKnownUntil)));
    while (*reading >= spans[span].high) ++span;
  }
  return std::max(spans[span].start, *reading - spans[span].offset);
}

std::optional<std::int64_t> PrevFixed(const Schedule& schedule, const Zone& zone,
                                      std::int64_t before) noexcept {
  const auto spans = zone.Spans();
  std::size_t span = zone.SpanAt(before - 1);
  const LocalSeconds reached =
      std::max(before - 1 + spans[span].offset, HighBefore(spans, span) - 1);
  const auto reading = PrevLocal(schedule, reached);
  if (!reading) return std::nullopt;
  while (*reading < HighBefore(spans, span)) --span;
  return std::max(spans[span].start, *reading - spans[span].offset);
}

// Readings of one span that are due at themselves.
struct Window {
  LocalSeconds from;
  LocalSeconds end;
};

Window OwnReadings(const Schedule& schedule, const Zone& zone, std::size_t span) noexcept {
  const auto spans = zone.Spans();
  const auto offset = spans[span].offset;
  LocalSeconds from = spans[span].start + offset;
  if (!RepeatsFolds(schedule)) from = std::max(from, HighBefore(spans, span));
  return {from, zone.EndOf(span) + offset};
}

// Whether a fixed time was jumped over right before this span.
bool HasJumpedOver(const Schedule& schedule, const Zone& zone, std::size_t span) noexcept {
  if (span == 0) return false;
  const auto spans = zone.Spans();
  const auto reading = NextLocal(schedule, HighBefore(spans, span));
  return reading && *reading < spans[span].start + spans[span].offset;
}

// Span by span: for schedules that follow the clock, and for the rules that are not the default.
std::optional<std::int64_t> NextBySpans(const Schedule& schedule, const Zone& zone,
                                        std::int64_t after) noexcept {
  const auto spans = zone.Spans();
  // The last search: where it began, and what it found. It holds for what begins between the two,
  // so a rare day is searched once and not again in each of the spans before it.
  LocalSeconds searched = INT64_MAX;
  std::optional<LocalSeconds> reading;
  for (std::size_t span = zone.SpanAt(after + 1); span < spans.size(); ++span) {
    const auto& at = spans[span];
    if (ShiftsGaps(schedule) && after < at.start && HasJumpedOver(schedule, zone, span))
      return at.start;
    const auto window = OwnReadings(schedule, zone, span);
    const LocalSeconds from = std::max(window.from, after + 1 + at.offset);
    if (!reading || from < searched || from > *reading) {
      searched = from;
      reading = NextLocal(schedule, from);
      if (!reading) return std::nullopt;
    }
    if (*reading < window.end) return *reading - at.offset;
  }
  return std::nullopt;
}

std::optional<std::int64_t> PrevBySpans(const Schedule& schedule, const Zone& zone,
                                        std::int64_t before) noexcept {
  const auto spans = zone.Spans();
  for (std::size_t span = zone.SpanAt(before - 1) + 1; span-- > 0;) {
    const auto& at = spans[span];
    const auto window = OwnReadings(schedule, zone, span);
    const auto reading = PrevLocal(schedule, std::min(window.end, before + at.offset) - 1);
    if (!reading) return std::nullopt;
    if (*reading >= window.from) return *reading - at.offset;
    if (ShiftsGaps(schedule) && HasJumpedOver(schedule, zone, span)) return at.start;
  }
  return std::nullopt;
}

bool IsPlain(const Schedule& schedule, const Zone& zone) noexcept {
  return zone.Spans().size() == 1 || (ShiftsGaps(schedule) && !RepeatsFolds(schedule));
}

std::int64_t GridAfter(const Schedule& schedule, std::int64_t after) noexcept {
  return schedule.anchor + (FloorDiv(after - schedule.anchor, schedule.every) + 1) * schedule.every;
}

struct JumpedOver {
  SlotKind kind;
  LocalSeconds first;
  LocalSeconds last;
  std::uint32_t count;
};

// What the jump right before a span passed over. Only fixed times can miss something.
std::optional<JumpedOver> JumpBefore(const Schedule& schedule, const Zone& zone,
                                     std::size_t span) noexcept {
  if (schedule.follows_clock || span == 0) return std::nullopt;
  const auto& at = zone.Spans()[span];
  const LocalSeconds end = at.start + at.offset;
  const auto first = NextLocal(schedule, HighBefore(zone.Spans(), span));
  if (!first || *first >= end) return std::nullopt;
  const bool shifted = ShiftsGaps(schedule) && NextLocal(schedule, end) != end;
  return JumpedOver{.kind = shifted ? SlotKind::kShifted : SlotKind::kGap,
                    .first = *first,
                    .last = *PrevLocal(schedule, end - 1),
                    .count = static_cast<std::uint32_t>(CountLocal(schedule, *first, end - 1))};
}

// The slots of a span after `after` and not after `until` that are due at themselves.
std::optional<Stretch> OwnStretch(const Schedule& schedule, const Zone& zone, std::size_t span,
                                  std::int64_t after, std::int64_t until) noexcept {
  const auto& at = zone.Spans()[span];
  const auto window = OwnReadings(schedule, zone, span);
  const LocalSeconds from = std::max(window.from, after + 1 + at.offset);
  const LocalSeconds last = std::min(window.end - 1, until + at.offset);
  const auto first = NextLocal(schedule, from);
  if (!first || *first > last) return std::nullopt;
  return Stretch{.first = ToWall(*first - at.offset),
                 .last = ToWall(*PrevLocal(schedule, last) - at.offset),
                 .kind = SlotKind::kDue,
                 .count = static_cast<std::uint32_t>(CountLocal(schedule, *first, last))};
}

// Calls `walk` with each piece of a time in which the zone's changes are known, and with the whole
// cycles taken from it. It returns false to end.
template <typename Walk>
void EachPiece(WallTime after, WallTime until, Walk walk) {
  std::int64_t from = std::max(FloorDiv(after.ms, 1000), kFirstSecond - 1);
  const std::int64_t last = std::min(FloorDiv(until.ms, 1000), kLastSecond);
  while (from < last) {
    const std::int64_t to = std::min(from + kPiece, last);
    const std::int64_t cycles = CyclesBefore(from);
    if (!walk(from - cycles * kCycle, to - cycles * kCycle, cycles)) return;
    from = to;
  }
}

class SlotWalk {
 public:
  SlotWalk(const Schedule& schedule, const Zone& zone, std::int64_t cycles,
           const std::function<bool(const Slot&)>& visit)
      : schedule_(schedule), zone_(zone), moved_(cycles * kCycle), visit_(visit) {}

  // False when the visitor has had enough.
  bool Walk(std::int64_t after, std::int64_t until) const {
    const auto spans = zone_.Spans();
    for (std::size_t span = zone_.SpanAt(after + 1);
         span < spans.size() && spans[span].start <= until; ++span)
      if ((after < spans[span].start && !Jump(span)) || !Own(span, after, until)) return false;
    return true;
  }

 private:
  bool Tell(std::int64_t at, SlotKind kind, LocalSeconds first, LocalSeconds last,
            std::uint32_t count) const {
    return visit_({ToWall(at + moved_), kind, first + moved_, last + moved_, count});
  }

  bool Jump(std::size_t span) const {
    const auto jump = JumpBefore(schedule_, zone_, span);
    return !jump ||
           Tell(zone_.Spans()[span].start, jump->kind, jump->first, jump->last, jump->count);
  }

  bool Own(std::size_t span, std::int64_t after, std::int64_t until) const {
    const auto& at = zone_.Spans()[span];
    const LocalSeconds last = std::min(until, zone_.EndOf(span) - 1) + at.offset;
    const LocalSeconds due_from = OwnReadings(schedule_, zone_, span).from;
    auto reading = NextLocal(schedule_, std::max(after + 1, at.start) + at.offset);
    for (; reading && *reading <= last; reading = NextLocal(schedule_, *reading + 1)) {
      const auto kind = *reading < due_from ? SlotKind::kFold : SlotKind::kDue;
      if (!Tell(*reading - at.offset, kind, *reading, *reading, 1)) return false;
    }
    return true;
  }

  const Schedule& schedule_;
  const Zone& zone_;
  std::int64_t moved_;
  const std::function<bool(const Slot&)>& visit_;
};

void VisitGrid(const Schedule& schedule, const Zone& zone, WallTime after, WallTime until,
               const std::function<bool(const Slot&)>& visit) {
  const std::int64_t from = std::max(FloorDiv(after.ms, 1000), kFirstSecond - 1);
  const std::int64_t last = std::min(FloorDiv(until.ms, 1000), kLastSecond);
  for (auto at = GridAfter(schedule, from); at <= last; at += schedule.every) {
    const LocalSeconds shown = at + zone.OffsetAt(ToWall(at));
    if (!visit({ToWall(at), SlotKind::kDue, shown, shown, 1})) return;
  }
}

std::optional<Stretch> GridStretch(const Schedule& schedule, std::int64_t after,
                                   std::int64_t until) noexcept {
  const std::int64_t first = GridAfter(schedule, after);
  if (first > until) return std::nullopt;
  const std::int64_t more = (until - first) / schedule.every;
  return Stretch{.first = ToWall(first),
                 .last = ToWall(first + more * schedule.every),
                 .kind = SlotKind::kDue,
                 .count = static_cast<std::uint32_t>(more + 1)};
}

}  // namespace

std::optional<WallTime> Next(const Schedule& schedule, const Zone& zone, WallTime after) noexcept {
  const std::int64_t from = std::max(FloorDiv(after.ms, 1000), kFirstSecond - 1);
  if (from >= kLastSecond) return std::nullopt;
  if (schedule.every != 0) return InRange(GridAfter(schedule, from));
  const auto search = IsPlain(schedule, zone) ? NextFixed : NextBySpans;
  std::int64_t moved = CyclesBefore(from) * kCycle;
  auto next = search(schedule, zone, from - moved);
  if (next && *next >= kKnownUntil) {
    // Not in the spans that are known. Those after repeat them; what is jumped over in all of a
    // cycle is never due.
    moved += kCycle;
    next = search(schedule, zone, kKnownUntil - kCycle - 1);
    if (next && *next >= kKnownUntil) return std::nullopt;
  }
  if (!next) return std::nullopt;
  return InRange(*next + moved);
}

std::optional<WallTime> Prev(const Schedule& schedule, const Zone& zone, WallTime before) noexcept {
  // The first second that is not before `before`.
  const std::int64_t until =
      std::min(-FloorDiv(-std::max(before.ms, INT64_MIN + 1), 1000), kLastSecond + 1);
  if (until <= kFirstSecond) return std::nullopt;
  if (schedule.every != 0) return InRange(GridAfter(schedule, until - 1) - schedule.every);
  const auto search = IsPlain(schedule, zone) ? PrevFixed : PrevBySpans;
  std::int64_t moved = CyclesBefore(until) * kCycle;
  auto prev = search(schedule, zone, until - moved);
  const auto before_repeating = [&] { return moved > 0 && prev && *prev < kRepeatsFrom; };
  if (before_repeating()) {
    moved -= kCycle;
    prev = search(schedule, zone, kRepeatsFrom + kCycle);
  }
  if (before_repeating()) {
    // Jumped over in all of a cycle, so in all of them.
    moved = 0;
    prev = search(schedule, zone, kRepeatsFrom);
  }
  if (!prev) return std::nullopt;
  return InRange(*prev + moved);
}

void VisitSlots(const Schedule& schedule, const Zone& zone, WallTime after, WallTime until,
                const std::function<bool(const Slot&)>& visit) {
  if (schedule.every != 0) return VisitGrid(schedule, zone, after, until, visit);
  EachPiece(after, until, [&](std::int64_t from, std::int64_t to, std::int64_t cycles) {
    return SlotWalk(schedule, zone, cycles, visit).Walk(from, to);
  });
}

void VisitStretches(const Schedule& schedule, const Zone& zone, WallTime after, WallTime until,
                    const std::function<bool(const Stretch&)>& visit) {
  EachPiece(after, until, [&](std::int64_t from, std::int64_t to, std::int64_t cycles) {
    const Duration moved = std::chrono::seconds(cycles * kCycle);
    if (schedule.every != 0) {
      const auto grid = GridStretch(schedule, from + cycles * kCycle, to + cycles * kCycle);
      return !grid || visit(*grid);
    }
    const auto spans = zone.Spans();
    for (std::size_t span = zone.SpanAt(from + 1); span < spans.size() && spans[span].start <= to;
         ++span) {
      const bool crossed = from < spans[span].start;
      if (const auto jump = crossed ? JumpBefore(schedule, zone, span) : std::nullopt) {
        const WallTime at = ToWall(spans[span].start) + moved;
        const bool gap = jump->kind == SlotKind::kGap;
        if (!visit({at, at, jump->kind, gap ? jump->count : 1})) return false;
      }
      if (auto own = OwnStretch(schedule, zone, span, from, to)) {
        own->first = own->first + moved;
        own->last = own->last + moved;
        if (!visit(*own)) return false;
      }
    }
    return true;
  });
}

}  // namespace muster::cron
