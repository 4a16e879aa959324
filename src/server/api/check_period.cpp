#include "server/api/check_period.hpp"

#include <algorithm>
#include <utility>

namespace muster::server::api {
namespace {

constexpr Duration kDay = std::chrono::hours(24);

}  // namespace

Result<Period> PeriodOf(const Call& call, WallTime now) {
  Period period{.since = now + -kDay, .until = now};
  for (const auto& [name, time] : {std::pair{"since", &period.since}, {"until", &period.until}}) {
    const std::string text = call.Query(name);
    if (text.empty()) continue;
    *time = ParseTime(text);
    if (!*time)
      return Fail(ErrorCode::kInvalid, "{}: expected a moment, as 2027-03-28T02:30:00Z", name);
  }
  period.until = std::min(period.until, now);  // what is to come is on no record
  if (period.since >= period.until)
    return Fail(ErrorCode::kInvalid, "since: must lie before until, and before now ({})",
                FormatTime(now));
  return period;
}

}  // namespace muster::server::api
