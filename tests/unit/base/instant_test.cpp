#include "base/instant.hpp"

#include <gtest/gtest.h>

namespace muster {
namespace {

TEST(ParseDuration, ReadsUnitsAndSums) {
  EXPECT_EQ(*ParseDuration("90s"), std::chrono::seconds(90));
  EXPECT_EQ(*ParseDuration("1h30m"), std::chrono::minutes(90));
  EXPECT_EQ(*ParseDuration("250ms"), Duration(250));
  EXPECT_EQ(*ParseDuration("0"), Duration(0));
}

TEST(ParseDuration, RefusesWhatIsNotADuration) {
  for (const char* text : {"", "s", "-5s", "5x", "1h30", "1e3s", "99999999999d", "5 s", "15"}) {
    const auto parsed = ParseDuration(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().code, ErrorCode::kInvalid);
  }
}

TEST(FormatDuration, RoundTrips) {
  for (const std::int64_t ms : {0LL, 1LL, 250LL, 1000LL, 61'000LL, 5'400'000LL, 90'061'001LL})
    EXPECT_EQ(*ParseDuration(FormatDuration(Duration(ms))), Duration(ms));
}

TEST(FormatTime, IsRfc3339InUtc) {
  EXPECT_EQ(FormatTime({0}), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(FormatTime({1'795'000'000'123}), "2026-11-18T11:06:40.123Z");
  EXPECT_EQ(FormatTime({-1}), "1969-12-31T23:59:59.999Z");
}

TEST(ParseTime, ReadsWhatFormatTimeWrites) {
  for (const std::int64_t ms : {1LL, 951'782'400'000LL, 1'795'000'000'123LL})
    EXPECT_EQ(ParseTime(FormatTime({ms})), WallTime{ms});
  EXPECT_EQ(ParseTime("2026-11-18T11:06:40Z"), WallTime{1'795'000'000'000});
  EXPECT_EQ(ParseTime("2026-11-18T11:06:40.5Z"), WallTime{1'795'000'000'500});
  for (const char* text :
       {"", "2026-11-18", "2026-13-01T00:00:00Z", "2026-02-30T00:00:00Z",
        "2026-11-18T11:06:40+01:00", "2026-11-18T-1:-6:-4Z", "2026-11-18T11:06:40.123xZ",
        "2026-11-18T11:06:40.Z", "2026-11-18T11:06:40Zx", " 202-11-18T11:06:40Z",
        "2026-11-18T11:6:40Z", "9999-12-31T23:59:60Z"})
    EXPECT_FALSE(ParseTime(text)) << text;
}

}  // namespace
}  // namespace muster
