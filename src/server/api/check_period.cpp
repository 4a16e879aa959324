#include "server/api/check_period.hpp"

#include <utility>

namespace muster::server::api {
namespace {

constexpr Duration kDay = std::chrono::hours(24);

}  // namespace

Result<Period> PeriodOf(const CallPtr& call, WallTime now) {
  Period period{.since = now + -kDay, .until = now};
  for (const auto& [name, time] : {std::pair{"since", &period.since}, {"until", &period.until}}) {
    const std::string text = call->Query(name);
    if (text.empty()) continue;
    *time = ParseTime(text);
    if (!*time)
      return Fail(ErrorCode::kInvalid, "{}: expected a moment, as 2027-03-28T02:30:00Z", name);
  }
  if (period.since >= period.until)
    return Fail(ErrorCode::kInvalid, "since: must lie before until");
  return period;
}

}  // namespace muster::server::api
