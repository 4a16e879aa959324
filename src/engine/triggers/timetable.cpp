#include "engine/triggers/timetable.hpp"

#include <algorithm>

#include "cron/next.hpp"

namespace muster::engine {
namespace {

// A search for the next slots looks at so many of them, and with many blackouts at fewer.
constexpr std::size_t kMostLooks = 1000;
constexpr std::size_t kMostLooksAtBlackouts = 20'000;

constexpr WallTime Before(WallTime time) { return {time.ms - 1}; }

std::string Expression(const TriggerSpec& spec) {
  if (!spec.cron.empty()) return spec.cron;
  return fmt::format("@every {}s", spec.every.count() / 1000);
}

// What `@every` counts from: of a document without a start, `every` from when it was applied, the
// expression from 1970.
WallTime AnchorOf(const TriggerSpec& spec, WallTime applied) {
  if (spec.start) return spec.start;
  return spec.cron.empty() ? applied : WallTime{};
}

Result<cron::Schedule> Read(std::string_view text, const cron::ParseOptions& options) {
  auto schedule = cron::Parse(text, options);
  if (!schedule) return Fail(cron::ToError(text, schedule.error()));
  return *schedule;
}

Result<std::shared_ptr<const cron::Zone>> ZoneOf(const Zones& zones, const std::string& name) {
  auto zone = zones.Find(name);
  if (!zone) return Fail(ErrorCode::kInvalid, "there is no time zone '{}'", name);
  return zone;
}

}  // namespace

Result<Timetable> Timetable::Of(const TriggerSpec& spec, WallTime applied, const Zones& zones) {
  Timetable table;
  table.name_ = spec.name;
  table.once_ = spec.once;
  table.start_ = spec.start;
  table.end_ = spec.end;
  table.jitter_ = spec.jitter;
  auto zone = ZoneOf(zones, spec.tz);
  if (!zone) return Fail(zone.error());
  table.zone_ = *zone;
  if (!spec.once) {
    auto schedule = Read(Expression(spec), {.seed = spec.name,
                                            .both_days = spec.both_days,
                                            .gap = spec.gap,
                                            .fold = spec.fold,
                                            .anchor = AnchorOf(spec, applied)});
    if (!schedule) return Fail(schedule.error());
    table.schedule_ = *schedule;
  }
  for (const auto& blackout : spec.blackouts) {
    auto dark_zone = ZoneOf(zones, blackout.tz);
    if (!dark_zone) return Fail(dark_zone.error());
    auto schedule = Read(blackout.cron, {.seed = spec.name});
    if (!schedule) return Fail(schedule.error());
    table.dark_.push_back({.schedule = *schedule, .zone = *dark_zone, .lasts = blackout.lasts});
  }
  return table;
}

std::optional<WallTime> Timetable::Once() const {
  if (!once_ || once_ < start_ || (end_ && once_ >= end_)) return std::nullopt;
  return once_;
}

std::optional<WallTime> Timetable::NextPlanned(WallTime after) const {
  if (!schedule_) return Once() > after ? Once() : std::nullopt;
  if (start_) after = std::max(after, Before(start_));
  const auto next = cron::Next(*schedule_, *zone_, after);
  if (!next || (end_ && *next >= end_)) return std::nullopt;
  return next;
}

std::optional<WallTime> Timetable::PrevPlanned(WallTime before) const {
  if (!schedule_) return Once() && Once() < before ? Once() : std::nullopt;
  if (end_) before = std::min(before, end_);
  const auto prev = cron::Prev(*schedule_, *zone_, before);
  if (!prev || (start_ && *prev < start_)) return std::nullopt;
  return prev;
}

std::optional<WallTime> Timetable::Next(WallTime after) const {
  const auto planned = NextPlanned(after);
  if (!asked_ || asked_ <= after) return planned;
  return planned ? std::min(*planned, asked_) : asked_;
}

std::optional<WallTime> Timetable::Prev(WallTime before) const {
  const auto planned = PrevPlanned(before);
  if (!asked_ || asked_ >= before) return planned;
  return planned ? std::max(*planned, asked_) : asked_;
}

WallTime Timetable::DueAt(WallTime slot) const {
  if (jitter_ <= Duration::zero()) return slot;
  Duration room = jitter_;
  if (const auto next = Next(slot)) room = std::min(room, *next - slot);
  const std::uint64_t hash = cron::StableHash(name_, fmt::format("{}", slot.ms / 1000));
  return slot + Duration(hash % static_cast<std::uint64_t>(room.count()));
}

bool Timetable::InBlackout(WallTime slot) const {
  return std::ranges::any_of(dark_, [slot](const Dark& dark) {
    const auto began = cron::Prev(dark.schedule, *dark.zone, {slot.ms + 1});
    return began && slot - *began < dark.lasts;
  });
}

std::optional<WallTime> Timetable::BlackoutEnd(WallTime slot) const {
  std::optional<WallTime> end;
  for (const Dark& dark : dark_) {
    const auto began = cron::Prev(dark.schedule, *dark.zone, {slot.ms + 1});
    if (began && slot - *began < dark.lasts)
      end = std::max(end, std::optional(*began + dark.lasts));
  }
  return end;
}

std::vector<WallTime> Timetable::Upcoming(WallTime after, std::size_t most) const {
  std::vector<WallTime> slots;
  std::optional<WallTime> slot = Next(after);
  std::size_t looks = std::min(kMostLooks, kMostLooksAtBlackouts / (dark_.size() + 1));
  for (; slot && slots.size() < most && looks > 0; --looks) {
    const auto end = BlackoutEnd(*slot);
    if (!end) slots.push_back(*slot);
    slot = Next(end ? std::max(*slot, Before(*end)) : *slot);
  }
  return slots;
}

bool Timetable::CrossesChange(WallTime after, WallTime until) const {
  const auto span = [this](WallTime time) {
    return zone_->SpanAt(std::clamp(time.ms / 1000, cron::kFirstSecond, cron::kKnownUntil - 1));
  };
  return schedule_ && span(after) != span(until);
}

void Timetable::Visit(
    WallTime after, WallTime until,
    const std::function<bool(WallTime slot, bool gap, std::uint32_t count)>& visit) const {
  if (!CrossesChange(after, until)) {
    for (auto slot = Next(after); slot && *slot <= until; slot = Next(*slot))
      if (!visit(*slot, false, 1)) return;
    return;
  }
  bool asked_due = asked_ > after && asked_ <= until;
  bool on = true;
  const WallTime first = start_ ? std::max(after, Before(start_)) : after;
  const WallTime last = end_ ? std::min(until, Before(end_)) : until;
  cron::VisitSlots(*schedule_, *zone_, first, last, [&](const cron::Slot& slot) {
    if (slot.kind == cron::SlotKind::kFold) return true;
    const bool gap = slot.kind == cron::SlotKind::kGap;
    const WallTime at = gap ? Before(slot.at) : slot.at;
    if (asked_due && asked_ <= at) {
      asked_due = false;
      if (asked_ < at) on = visit(asked_, false, 1);
    }
    if (on && at > after) on = visit(at, gap, gap ? slot.count : 1);
    return on;
  });
  if (on && asked_due) visit(asked_, false, 1);
}

void Timetable::VisitPlanned(WallTime after, WallTime until,
                             const std::function<void(const Stretch&)>& visit) const {
  if (!schedule_) {
    if (const auto once = NextPlanned(after); once && *once <= until)
      visit({.first = *once, .last = *once});
    return;
  }
  const WallTime first = start_ ? std::max(after, Before(start_)) : after;
  const WallTime last = end_ ? std::min(until, Before(end_)) : until;
  cron::VisitStretches(*schedule_, *zone_, first, last, [&](const cron::Stretch& found) {
    const bool gap = found.kind == cron::SlotKind::kGap;
    const Stretch stretch{.first = gap ? Before(found.first) : found.first,
                          .last = gap ? Before(found.last) : found.last,
                          .gap = gap,
                          .count = found.count};
    if (stretch.first > after) visit(stretch);
    return true;
  });
}

void Timetable::VisitStretches(WallTime after, WallTime until,
                               const std::function<void(const Stretch&)>& visit) const {
  if (asked_ > after && asked_ <= until && !IsPlanned(asked_)) {
    VisitPlanned(after, asked_, visit);
    visit({.first = asked_, .last = asked_});
    after = asked_;
  }
  VisitPlanned(after, until, visit);
}

}  // namespace muster::engine
