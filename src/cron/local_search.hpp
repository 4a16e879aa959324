#pragma once

#include <optional>

#include "cron/calendar.hpp"
#include "cron/schedule.hpp"

// The search on the clock's face alone: no zone, no clock change. Not for `@every`.
namespace muster::cron {

// The first reading at or after `from` that is due. Nothing when none is within 400 years.
std::optional<LocalSeconds> NextLocal(const Schedule& schedule, LocalSeconds from) noexcept;

// The last reading at or before `from` that is due.
std::optional<LocalSeconds> PrevLocal(const Schedule& schedule, LocalSeconds from) noexcept;

// How many readings are due from `from` up to `last`, both included. It takes time by the months
// between them, not by the readings; they are at most 400 years apart.
std::uint64_t CountLocal(const Schedule& schedule, LocalSeconds from, LocalSeconds last) noexcept;

}  // namespace muster::cron
