#include "cli/terminal/times.hpp"

#include <cstdlib>
#include <ctime>

#include <gtest/gtest.h>

namespace muster::cli {
namespace {

// The local zone of this process, until the end of a test.
class Moments : public testing::Test {
 protected:
  void SetUp() override { UseZone("Europe/Berlin"); }
  void TearDown() override {
    unsetenv("TZ");
    tzset();
  }

  static void UseZone(const char* name) {
    setenv("TZ", name, 1);
    tzset();
  }
  // As the API would take it; "" when it is refused.
  static std::string Read(const std::string& text) {
    const auto moment = Moment("--since", text);
    return moment ? *moment : "";
  }

  const Times terminal_{true};
};

TEST_F(Moments, InAPipeTheyAreWhatTheApiReturns) {
  const Times pipe;
  EXPECT_EQ(pipe.Text("2026-11-15T14:26:08.105Z"), "2026-11-15T14:26:08.105Z");
  EXPECT_EQ(pipe.Stamp("2026-11-15T14:26:08.105Z"), "2026-11-15T14:26:08.105Z");
  EXPECT_EQ(pipe.Day("2026-11-15T23:26:08.105Z"), "2026-11-15");
}

TEST_F(Moments, AtATerminalTheyAreLocalInSeconds) {
  EXPECT_EQ(terminal_.Text("2026-11-15T14:26:08.105Z"), "2026-11-15 15:26:08 CET");
  EXPECT_EQ(terminal_.Text("2026-07-15T14:26:08.999Z"), "2026-07-15 16:26:08 CEST");
  EXPECT_EQ(terminal_.Stamp("2026-07-15T14:26:08.105Z"), "2026-07-15T16:26:08.105+02:00");
  EXPECT_EQ(terminal_.Day("2026-11-15T23:26:08Z"), "2026-11-16");
}

TEST_F(Moments, EachSideOfAClockChangeHasItsOwnOffset) {
  EXPECT_EQ(terminal_.Text("2027-03-28T00:59:59Z"), "2027-03-28 01:59:59 CET");
  EXPECT_EQ(terminal_.Text("2027-03-28T01:00:00Z"), "2027-03-28 03:00:00 CEST");
}

TEST_F(Moments, ZonesWithoutAnAbbreviationShowTheirOffset) {
  UseZone("America/Sao_Paulo");
  EXPECT_EQ(terminal_.Text("2026-11-15T14:26:08Z"), "2026-11-15 11:26:08 -03");
  EXPECT_EQ(terminal_.Stamp("2026-11-15T14:26:08Z"), "2026-11-15T11:26:08.000-03:00");
  UseZone("EST5EDT,M3.2.0,M11.1.0");  // a rule instead of a name
  EXPECT_EQ(terminal_.Text("2026-11-15T14:26:08Z"), "2026-11-15 09:26:08 EST");
}

TEST_F(Moments, UtcIsAZoneLikeOthers) {
  UseUtc();
  EXPECT_EQ(terminal_.Text("2026-11-15T14:26:08.105Z"), "2026-11-15 14:26:08 UTC");
  EXPECT_EQ(Read("2026-11-15 14:26"), "2026-11-15T14:26:00.000Z");
}

TEST_F(Moments, WhatIsNoTimeIsShownAsOneVisibleLine) {
  EXPECT_EQ(terminal_.Text(""), "");
  EXPECT_EQ(terminal_.Text("soon\n"), "soon␊");
  EXPECT_EQ(Times().Text("\x1b[31m"), "␛[31m");
}

TEST_F(Moments, TimesInsideASentenceAreLocalToo) {
  EXPECT_EQ(terminal_.InText("T, until 2026-11-15T14:26:08.105Z: TZ, 2026-07-15T14:26:08.000Z"),
            "T, until 2026-11-15 15:26:08 CET: TZ, 2026-07-15 16:26:08 CEST");
  for (const char* text : {"", "T", "2026-11-15T14:26:08Z, as typed", "2026-99-15T14:26:08.105Z",
                           "TTTTTTTTTTTTTTTTTTTTTTTTTZ", "2026-11-15T14:26:08.1234Z"})
    EXPECT_EQ(terminal_.InText(text), text);
  EXPECT_EQ(Times().InText("at 2026-11-15T14:26:08.105Z"), "at 2026-11-15T14:26:08.105Z");
}

TEST_F(Moments, WhatIsShownIsReadBack) {
  for (const std::string time :
       {"2026-07-15T14:26:08.000Z", "2026-10-25T00:30:00.000Z", "2026-10-25T01:30:00.000Z"}) {
    EXPECT_EQ(Read(terminal_.Text(time)), time);
    EXPECT_EQ(Read(terminal_.Stamp(time)), time);
  }
  UseZone("America/Sao_Paulo");
  EXPECT_EQ(Read("2026-11-15 11:26:08 -03"), "2026-11-15T14:26:08.000Z");
}

TEST_F(Moments, TimesWithoutAnOffsetAreLocal) {
  EXPECT_EQ(Read("2026-11-15 15:26"), "2026-11-15T14:26:00.000Z");
  EXPECT_EQ(Read("2026-07-15"), "2026-07-14T22:00:00.000Z");
  EXPECT_EQ(Read("2026-11-15T15:26:08+05:30"), "2026-11-15T09:56:08.000Z");
  EXPECT_EQ(Read("2026-11-15 15:26:08 +05:30"), "2026-11-15T09:56:08.000Z");
  EXPECT_EQ(Read("2026-11-15 15:26:08 UTC"), "2026-11-15T15:26:08.000Z");
}

TEST_F(Moments, ClockChangesLeaveNoTimeWithoutAMoment) {
  EXPECT_EQ(Read("2026-10-25 02:30"), "2026-10-25T00:30:00.000Z");  // comes twice
  EXPECT_EQ(Read("2027-03-28 02:30"), "2027-03-28T01:30:00.000Z");  // does not come
}

TEST_F(Moments, OtherTextIsRefused) {
  for (const char* text : {"yesterday", "2026-13-01", "2026-11-15 15:26 XYZ", "15:26",
                           "2026-11-15T15:26Z CET", "2026-11-15 25:00"})
    EXPECT_EQ(Moment("--since", text).error().code, ErrorCode::kInvalid) << text;
  EXPECT_EQ(Read(""), "");
}

TEST_F(Moments, OnlyAnOffsetMeansTheSameEverywhere) {
  EXPECT_TRUE(HasOffset("2027-03-28T01:30:00Z"));
  EXPECT_TRUE(HasOffset("2027-03-28T03:00:00+02:00"));
  EXPECT_FALSE(HasOffset("2027-03-28T03:00:00"));
  EXPECT_FALSE(HasOffset("2027-03-28"));
}

}  // namespace
}  // namespace muster::cli
