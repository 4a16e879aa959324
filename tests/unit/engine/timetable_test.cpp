#include "engine/triggers/timetable.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::engine {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::SizeIs;

constexpr WallTime kNow{1'794'997'600'000};  // 2026-11-18T10:26:40Z
constexpr Duration kDay = 24h;

class UpcomingSlots : public ::testing::Test {
 protected:
  UpcomingSlots() {
    spec_.name = "often";
    spec_.tz = "UTC";
    spec_.every = 1s;
  }
  std::vector<WallTime> Upcoming(std::size_t most) {
    const FixedZones zones;
    const auto table = Timetable::Of(spec_, kNow, zones);
    EXPECT_TRUE(table) << (table ? "" : table.error().message);
    return table->Upcoming(kNow, most);
  }
  void Dark(std::string cron, Duration lasts) {
    spec_.blackouts.push_back({.cron = std::move(cron), .lasts = lasts});
  }

  TriggerSpec spec_;
};

TEST_F(UpcomingSlots, AreThoseOutsideOfBlackouts) {
  EXPECT_THAT(Upcoming(2), ElementsAre(kNow + 1s, kNow + 2s));
  Dark("0 10 * * *", 1h);
  const WallTime eleven = kNow + 33min + 20s;
  EXPECT_THAT(Upcoming(2), ElementsAre(eleven, eleven + 1s)) << "2,000 slots later";
  Dark("0 11 * * *", 12h);
  Dark("30 22 * * *", 1h);
  EXPECT_THAT(Upcoming(1), ElementsAre(eleven + 12h + 30min));
}

TEST_F(UpcomingSlots, ABlackoutWithoutEndIsNotSearchedForEver) {
  Dark("0 0 1 1 *", 400 * kDay);
  EXPECT_THAT(Upcoming(5), SizeIs(0));
  spec_.blackouts.clear();
  Dark("* * * * *", 1min);
  EXPECT_THAT(Upcoming(5), SizeIs(0));
  for (int i = 0; i < 2'000; ++i) Dark("* * * * *", 1min);
  EXPECT_THAT(Upcoming(5), SizeIs(0));
}

}  // namespace
}  // namespace muster::engine
