#include "cron/zone.hpp"

#include <cstring>
#include <fstream>

#include <gtest/gtest.h>

#include "cron/local_text.hpp"
#include "cron/zone_rule.hpp"

namespace muster::cron {
namespace {

std::string FileOf(const std::string& name) {
  std::ifstream file("/usr/share/zoneinfo/" + name, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(CronZone, KnowsOffsetsOfTheFileAndOfItsRule) {
  const auto berlin = LoadZone("Europe/Berlin");
  ASSERT_TRUE(berlin);
  const auto offset = [&](std::string_view time) {
    return berlin->OffsetAt(*ParseLocal(Zone::Utc(), time));
  };
  EXPECT_EQ(offset("1800-01-01"), 3208);
  EXPECT_EQ(offset("1945-07-01"), 7200 + 3600);
  EXPECT_EQ(offset("2027-01-01"), 3600);
  EXPECT_EQ(offset("2027-03-28T00:59:59Z"), 3600);
  EXPECT_EQ(offset("2027-03-28T01:00:00Z"), 7200);
  EXPECT_EQ(offset("2300-07-01"), 7200);
  EXPECT_EQ(offset("9999-07-01"), 7200);
}

TEST(CronZone, ANameThatIsNoneIsRefused) {
  EXPECT_EQ(LoadZone("Mars/Olympus").error().code, ErrorCode::kNotFound);
  for (const auto* name : {"", "/etc/passwd", "../../../etc/passwd", "Europe/Ber lin", "a\nb"})
    EXPECT_FALSE(LoadZone(name)) << name;
  EXPECT_FALSE(LoadZone("Europe"));
  EXPECT_FALSE(LoadZone("tzdata.zi"));
}

TEST(CronZone, AFileCutShortIsRefusedEverywhere) {
  const auto bytes = FileOf("Australia/Lord_Howe");
  ASSERT_TRUE(Zone::Read("x", bytes));
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(Zone::Read("x", std::string_view(bytes).substr(0, size))) << size;
}

TEST(CronZone, AReadingIsTheFirstMomentThatTheClockComesUpToIt) {
  const auto berlin = LoadZone("Europe/Berlin");
  ASSERT_TRUE(berlin);
  const auto moment = [&](std::string_view text) {
    const auto time = ParseLocal(*berlin, text);
    return time ? FormatLocal(*berlin, *time) : time.error().message;
  };
  EXPECT_EQ(moment("2027-07-01"), "2027-07-01T00:00:00+02:00");
  EXPECT_EQ(moment("2027-03-28 02:30"), "2027-03-28T03:00:00+02:00");
  EXPECT_EQ(moment("2027-10-31T02:30:15"), "2027-10-31T02:30:15+02:00");
  EXPECT_EQ(moment("2027-10-31T02:30+01:00"), "2027-10-31T02:30:00+01:00");
  EXPECT_EQ(moment("2027-10-31T02:30:00Z"), "2027-10-31T03:30:00+01:00");
  for (const auto* text :
       {"", "2027", "2027-02-29", "2027-13-01", "2027-01-01T24:00", "2027-01-01T1:00",
        "2027-01-01T10:00:00+0100", "2027-01-01T10:00Zx", "0000-01-01"})
    EXPECT_FALSE(ParseLocal(*berlin, text)) << text;
}

std::vector<ZoneChange> ChangesOf(std::string_view text, int year) {
  const auto rule = ParseZoneRule(text);
  EXPECT_TRUE(rule) << text;
  std::vector<ZoneChange> all;
  if (rule) AddChanges(*rule, DaysOf({year, 1, 1}) * kDay - 1, all);
  all.resize(std::min<std::size_t>(all.size(), 2));
  return all;
}

std::string At(const ZoneChange& change) { return FormatLocal(Zone::Utc(), {change.at * 1000}); }

TEST(CronZoneRule, FormsOfDays) {
  auto changes = ChangesOf("CET-1CEST,M3.5.0,M10.5.0/3", 2027);
  ASSERT_EQ(changes.size(), 2U);
  EXPECT_EQ(At(changes[0]), "2027-03-28T01:00:00Z");
  EXPECT_EQ(changes[0].offset, 7200);
  EXPECT_EQ(At(changes[1]), "2027-10-31T01:00:00Z");
  changes = ChangesOf("<+1030>-10:30<+11>-11,M10.1.0,M4.1.0", 2027);
  ASSERT_EQ(changes.size(), 2U);
  EXPECT_EQ(At(changes[0]), "2027-04-03T15:00:00Z");
  EXPECT_EQ(changes[0].offset, 37800);
  // Hours beyond a day, and below zero.
  changes = ChangesOf("EET-2EEST,M3.4.4/50,M10.4.4/50", 2027);
  ASSERT_EQ(changes.size(), 2U);
  EXPECT_EQ(At(changes[0]), "2027-03-27T00:00:00Z");
  changes = ChangesOf("<-02>2<-01>,M3.5.0/-1,M10.5.0/0", 2027);
  ASSERT_EQ(changes.size(), 2U);
  EXPECT_EQ(At(changes[0]), "2027-03-28T01:00:00Z");
  // J60 is the first of March in every year, 60 is not.
  EXPECT_EQ(At(ChangesOf("AAA0BBB,J60/0,J300/0", 2028).at(0)), "2028-03-01T00:00:00Z");
  EXPECT_EQ(At(ChangesOf("AAA0BBB,60/0,300/0", 2028).at(0)), "2028-03-01T00:00:00Z");
  EXPECT_EQ(At(ChangesOf("AAA0BBB,60/0,300/0", 2027).at(0)), "2027-03-02T00:00:00Z");
}

TEST(CronZoneRule, WhatIsNoRuleIsRefused) {
  for (const auto* text :
       {"", "CET", "C-1", "CET-1CEST", "CET-1CEST,M3.5.0", "CET-1CEST,M13.5.0,M10.5.0",
        "CET-1CEST,M3.6.0,M10.5.0", "CET-1CEST,M3.5.7,M10.5.0", "<CET-1", "CET-1CEST,J0,J300",
        "CET-1CEST,M3.5.0/168,M10.5.0", "CET-1CEST,M3.5.0,M10.5.0x"})
    EXPECT_FALSE(ParseZoneRule(text)) << text;
}

}  // namespace
}  // namespace muster::cron
