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

}  // namespace muster::cron
