#include "server/runtime/log_ring.hpp"

#include <algorithm>

#include <gtest/gtest.h>
#include <spdlog/spdlog.h>

namespace muster::server {
namespace {

constexpr WallTime kFarAway{INT64_MAX};

std::vector<std::string> Messages(LogRing& ring, std::string_view level, std::uint64_t after = 0,
                                  std::size_t limit = 100) {
  std::vector<std::string> messages;
  const auto page = ring.Read(level, after, limit);
  if (page)
    for (const auto& line : page->lines) messages.push_back(line.message);
  return messages;
}

using Texts = std::vector<std::string>;

TEST(LogRing, KeepsTheNewestLines) {
  const auto ring = LogRing::Install("info", 3);
  for (int i = 1; i <= 5; ++i) spdlog::info("line {}", i);
  EXPECT_EQ(Messages(*ring, "info"), (Texts{"line 3", "line 4", "line 5"}));
  EXPECT_EQ(Messages(*ring, "info", 0, 2), (Texts{"line 4", "line 5"}));
  EXPECT_EQ(Messages(*ring, "info", 4), (Texts{"line 5"}));
  EXPECT_EQ(ring->Read("info", 1, 10)->lost, 1u);
  EXPECT_EQ(ring->Read("info", 5, 10)->next, 5u);
}

TEST(LogRing, KeepsAMessageOnOneVisibleLine) {
  testing::internal::CaptureStderr();
  const auto ring = LogRing::Install("info");
  spdlog::info("remote said \"{}\"",
               "\x1b]0;x\x07\u009b\u202e\n2026-01-01T00:00:00.000Z info all is well");
  spdlog::default_logger()->flush();
  const std::string visible = "remote said \"␛]0;x␇��␊2026-01-01T00:00:00.000Z info all is well\"";
  EXPECT_EQ(Messages(*ring, "info"), Texts{visible});
  const auto written = testing::internal::GetCapturedStderr();
  EXPECT_TRUE(written.ends_with("Z info " + visible + "\n")) << written;
  EXPECT_EQ(std::ranges::count(written, '\n'), 1) << written;
}

TEST(LogRing, GivesOnlyTheLevelAskedFor) {
  const auto ring = LogRing::Install("info");
  spdlog::info("calm");
  spdlog::warn("odd");
  spdlog::error("bad");
  EXPECT_EQ(Messages(*ring, "warn"), (Texts{"odd", "bad"}));
  EXPECT_EQ(ring->Read("loud", 0, 1).error().code, ErrorCode::kInvalid);
}

TEST(LogRing, RaisesItsLevelUntilAMoment) {
  const auto ring = LogRing::Install("info");
  spdlog::debug("before");
  ASSERT_TRUE(ring->Raise("debug", kFarAway));
  spdlog::debug("while");
  EXPECT_EQ(ring->Read("debug", 0, 1)->level, "debug");
  ASSERT_TRUE(ring->Raise("debug", WallTime{1}));  // long past
  EXPECT_EQ(ring->Read("debug", 0, 1)->level, "info");
  spdlog::debug("after");
  EXPECT_EQ(Messages(*ring, "debug"), (Texts{"while"}));
}

TEST(LogRing, IsNeverLessDetailedThanStderr) {
  const auto ring = LogRing::Install("info");
  ASSERT_TRUE(ring->Raise("error", kFarAway));
  spdlog::info("still here");
  EXPECT_EQ(Messages(*ring, "info"), (Texts{"still here"}));
}

TEST(LogRing, FollowsAChangedLevel) {
  const auto ring = LogRing::Install("error");
  spdlog::info("unheard");
  ring->SetLevel("debug");
  spdlog::debug("heard");
  EXPECT_EQ(Messages(*ring, "debug"), (Texts{"heard"}));
}

}  // namespace
}  // namespace muster::server
