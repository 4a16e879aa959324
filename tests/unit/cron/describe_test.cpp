#include "cron/describe.hpp"

#include <gtest/gtest.h>

namespace muster::cron {
namespace {

std::string Words(std::string_view text, const ParseOptions& options = {.seed = "nightly"}) {
  const auto schedule = Parse(text, options);
  EXPECT_TRUE(schedule) << text;
  return schedule ? Describe(*schedule) : "";
}

TEST(CronDescribe, SaysTimesAndDaysInPlainWords) {
  EXPECT_EQ(Words("30 2 * * 1-5"), "at 02:30 on weekdays");
  EXPECT_EQ(Words("0 6,18 * * *"), "at 06:00 and 18:00 every day");
  EXPECT_EQ(Words("* * * * *"), "every minute");
  EXPECT_EQ(Words("*/5 * * * *"), "every 5 minutes");
  EXPECT_EQ(Words("* * * * * *"), "every second");
  EXPECT_EQ(Words("0 * * * *"), "at minute 0 of every hour");
  EXPECT_EQ(Words("5,35 */2 * * *"), "at minutes 5 and 35 of every 2nd hour");
  EXPECT_EQ(Words("*/15 9-17 * * 1-5"), "every 15 minutes of hours 09 to 17 on weekdays");
  EXPECT_EQ(Words("15 0 12 * * SUN"), "at 12:00:15 on Sunday");
  EXPECT_EQ(Words("0 0 1,15 * 3"), "at 00:00 on the 1st and 15th of the month, and on Wednesday");
  EXPECT_EQ(Words("0 0 30 * 6", {.both_days = true}),
            "at 00:00 on the 30th of the month if that is on Saturday");
  EXPECT_EQ(Words("0 0 */2 * 1"), "at 00:00 on every 2nd day of the month if that is on Monday");
  EXPECT_EQ(Words("0 0 LW * *"), "at 00:00 on the last working day of the month");
  EXPECT_EQ(Words("0 0 * 6-8 fri#2"),
            "at 00:00 on the second Friday of the month in June to August");
  EXPECT_EQ(Words("0 12 1 */3 *"), "at 12:00 on the 1st of the month, every 3rd month");
  EXPECT_EQ(Words("H H * * *"), "at 06:08 every day");
  EXPECT_EQ(Words("@every 90s"), "every 1m30s");
  EXPECT_EQ(Words("0 0 12 1 1 ? 2027,2030-2032"),
            "at 12:00 on the 1st of the month in January, in 2027 and 2030 to 2032");
  EXPECT_NE(Words("0 0 31 2 *").find("never"), std::string::npos);
}

}  // namespace
}  // namespace muster::cron
