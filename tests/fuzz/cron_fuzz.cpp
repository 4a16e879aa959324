#include <cstddef>
#include <cstdint>
#include <string_view>

#include "cron/describe.hpp"
#include "cron/local_text.hpp"
#include "cron/next.hpp"
#include "cron/zone_rule.hpp"

namespace {

using namespace muster;

void TrySchedule(std::string_view text, const cron::Zone& zone, bool odd) {
  const cron::ParseOptions options{.seed = "fuzz",
                                   .both_days = odd,
                                   .gap = odd ? cron::GapRule::kSkip : cron::GapRule::kFirst,
                                   .fold = odd ? cron::FoldRule::kBoth : cron::FoldRule::kOnce};
  const auto schedule = cron::Parse(text, options);
  if (!schedule) {
    MUSTER_CHECK(schedule.error().column >= 1 && schedule.error().column <= text.size() + 1);
    return;
  }
  MUSTER_CHECK(!cron::Describe(*schedule).empty());
  WallTime after{1'806'000'000'000};
  for (int i = 0; i < 4; ++i) {
    const auto next = cron::Next(*schedule, zone, after);
    // What every clock change of a zone jumps over is never due by a rule that skips it.
    MUSTER_CHECK(!(next && schedule->never));
    MUSTER_CHECK(next || schedule->never || schedule->gap == cron::GapRule::kSkip);
    if (!next) return;
    MUSTER_CHECK(*next > after && cron::Prev(*schedule, zone, {next->ms + 1}) == next);
    int due = 0;
    cron::VisitSlots(*schedule, zone, after, *next, [&due](const cron::Slot& slot) {
      due += cron::IsDue(slot.kind) ? 1 : 0;
      return true;
    });
    MUSTER_CHECK(due == 1);
    after = *next;
  }
}

}  // namespace

// An expression, the rule of a zone after a newline; or the bytes of a zone file.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  static const cron::Zone utc = cron::Zone::Utc();
  if (bytes.starts_with("TZif")) {
    if (const auto zone = cron::Zone::Read("fuzz", bytes)) TrySchedule("30 2 * * *", *zone, false);
    return 0;
  }
  const auto line_end = bytes.find('\n');
  const auto text = bytes.substr(0, line_end);
  TrySchedule(text, utc, false);
  (void)cron::ParseLocal(utc, text);
  if (line_end == std::string_view::npos) return 0;
  const auto rule = cron::ParseZoneRule(bytes.substr(line_end + 1));
  if (!rule) return 0;
  std::vector<cron::ZoneChange> changes;
  cron::AddChanges(*rule, 1'800'000'000, changes);
  const cron::Zone zone("fuzz", rule->offset, changes);
  TrySchedule(text, zone, false);
  TrySchedule(text, zone, true);
  return 0;
}
