#include "cli/triggers/trigger_text.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

namespace muster::cli {
namespace {

TEST(Distance, SaysOfATimeThatHasPassedThatItIsDue) {
  const WallTime now{1'000'000};
  EXPECT_EQ(Distance({now.ms + 5'000}, now), "in 5s");
  EXPECT_EQ(Distance({now.ms - 37'000}, now), "due, waits 37s");
  EXPECT_EQ(Distance(now, now), "due, waits 0s");
}

TEST(SlotTimes, OfARangeSayOnceWhatIsAlike) {
  const auto times = [](const char* first, const char* last) {
    return SlotTimes(cron::Zone::Utc(), {{"first", first}, {"last", last}});
  };
  EXPECT_EQ(times("2026-11-20T00:11:16Z", "2026-11-20T00:11:16Z"), "2026-11-20T00:11:16Z");
  EXPECT_EQ(times("2026-11-20T00:11:16Z", "2026-11-20T00:11:26Z"),
            "2026-11-20T00:11:16 to 00:11:26Z");
  EXPECT_EQ(times("2026-11-20T00:11:16Z", "2026-12-02T00:11:26Z"),
            "2026-11-20T00:11:16 to 12-02T00:11:26Z");
  EXPECT_EQ(times("2026-12-31T00:00:00Z", "2027-01-01T00:00:00Z"),
            "2026-12-31T00:00:00Z to 2027-01-01T00:00:00Z");
}

}  // namespace
}  // namespace muster::cli
