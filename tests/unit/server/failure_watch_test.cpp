#include "server/auth/failure_watch.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace muster::server {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

class FailureWatchTest : public ::testing::Test {
 protected:
  std::optional<seconds> Fail(const std::string& source, Failure kind = Failure::kToken) {
    return watch_.Failed(source, kind, now_);
  }
  void Advance(Duration time) {
    now_ = now_ + time;
    watch_.Sweep(now_);
  }

  MonoTime now_{1'000'000};
  std::vector<std::string> lines_;
  FailureWatch watch_{{.per_minute = 3, .most_sources = 4},
                      [this](const std::string& line) { lines_.push_back(line); }};
};

TEST_F(FailureWatchTest, AsksToWaitOnceASourceHasFailedTooOften) {
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(Fail("10.0.0.1"));
  const auto wait = Fail("10.0.0.1");
  ASSERT_TRUE(wait);
  EXPECT_GE(*wait, seconds(20));
  EXPECT_LE(*wait, seconds(21));
  EXPECT_FALSE(Fail("10.0.0.2"));
}

TEST_F(FailureWatchTest, RetryAfterIsTrue) {
  for (int i = 0; i < 3; ++i) Fail("10.0.0.1");
  const auto wait = Fail("10.0.0.1");
  ASSERT_TRUE(wait);
  Advance(*wait);
  EXPECT_FALSE(Fail("10.0.0.1"));
  EXPECT_TRUE(Fail("10.0.0.1"));
}

TEST_F(FailureWatchTest, LogsTheFirstAtOnceAndTheRestOnceAMinute) {
  Fail("10.0.0.1");
  ASSERT_EQ(lines_.size(), 1U);
  EXPECT_EQ(lines_[0], "not let in source=10.0.0.1 tokens=1 joins=0 links=0");
  for (int i = 0; i < 500; ++i) Fail("10.0.0.1", Failure::kJoin);
  Fail("10.0.0.1", Failure::kLink);
  EXPECT_EQ(lines_.size(), 1U);
  Advance(seconds(59));
  EXPECT_EQ(lines_.size(), 1U);
  Advance(seconds(1));
  ASSERT_EQ(lines_.size(), 2U);
  EXPECT_EQ(lines_[1], "not let in source=10.0.0.1 tokens=0 joins=500 links=1");
  EXPECT_EQ(watch_.Total(Failure::kJoin), 500U);
}

TEST_F(FailureWatchTest, ForgetsWhoIsQuiet) {
  Fail("10.0.0.1");
  EXPECT_EQ(watch_.Sources(), 1U);
  Advance(minutes(1));
  EXPECT_EQ(watch_.Sources(), 0U);
  EXPECT_EQ(lines_.size(), 1U);
}

TEST_F(FailureWatchTest, RemembersABoundedNumberOfSources) {
  for (int i = 0; i < 1000; ++i) Fail("10.0.0." + std::to_string(i));
  EXPECT_EQ(watch_.Sources(), 5U);  // four, and all others together
  EXPECT_TRUE(Fail("10.9.9.9"));
  EXPECT_EQ(lines_.size(), 5U);
  // A known source keeps an account of its own.
  EXPECT_FALSE(Fail("10.0.0.0"));
}

}  // namespace
}  // namespace muster::server
