#pragma once

#include <string>

#include "cron/schedule.hpp"

namespace muster::cron {

// The schedule in plain words, without its zone: "at 02:30 on weekdays", "every 5 minutes",
// "every 1h30m". For people; the words may change.
std::string Describe(const Schedule& schedule);

}  // namespace muster::cron
