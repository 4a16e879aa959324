#pragma once

#include <array>
#include <cstdint>

#include "cron/schedule.hpp"

namespace muster::cron {

// The days due in a month that begins on weekday `first` and has `length` days.
std::uint32_t DaysDue(const DayFields& fields, unsigned first, unsigned length) noexcept;

// The same for all 28 kinds of months, in the order of Schedule::month_days.
std::array<std::uint32_t, 28> AllMonthKinds(const DayFields& fields) noexcept;

}  // namespace muster::cron
