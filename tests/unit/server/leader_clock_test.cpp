#include "server/peers/leader_clock.hpp"

#include <gtest/gtest.h>

namespace muster::server {
namespace {

TEST(LeaderClock, KnowsNothingBeforeTheFirstAnswer) {
  LeaderClock clock;
  EXPECT_FALSE(clock.Own(MonoTime{100}, MonoTime{100}));
  clock.Heard(MonoTime{100}, MonoTime{5000});
  EXPECT_TRUE(clock.Own(MonoTime{5000}, MonoTime{100}));
  clock.Forget();
  EXPECT_FALSE(clock.Own(MonoTime{5000}, MonoTime{100}));
}

TEST(LeaderClock, CountsFromTheQuestionAndTakesTheBestAnswer) {
  LeaderClock clock;
  clock.Heard(MonoTime{1000}, MonoTime{51'400});  // 400 ms under way
  clock.Heard(MonoTime{1300}, MonoTime{51'310});
  clock.Heard(MonoTime{1600}, MonoTime{51'900});
  const auto own = clock.Own(MonoTime{52'000}, MonoTime{1700});
  ASSERT_TRUE(own);
  EXPECT_LE(own->ms, 1990);
  EXPECT_GE(own->ms, 1980);
}

TEST(LeaderClock, IgnoresAnswersOutOfOrder) {
  LeaderClock clock;
  clock.Heard(MonoTime{2000}, MonoTime{52'000});
  clock.Heard(MonoTime{1000}, MonoTime{1});  // it would promise more time than there is
  clock.Heard(MonoTime{2000}, MonoTime{52'300});
  const auto own = clock.Own(MonoTime{53'000}, MonoTime{2000});
  ASSERT_TRUE(own);
  EXPECT_LE(own->ms, 3000);
  EXPECT_GE(own->ms, 2990);
}

// The leader's clock gains half a millisecond in a second; its answers take longer and longer, so
// that the oldest of a minute looks best.
TEST(LeaderClock, IsNeverLateThoughClocksDrift) {
  LeaderClock clock;
  const auto leaders = [](std::int64_t own) { return 40'000 + own + own / 2000; };
  for (std::int64_t asked = 0; asked <= 59'000; asked += 1000) {
    clock.Heard(MonoTime{asked}, MonoTime{leaders(asked + asked / 500)});
    const MonoTime theirs{leaders(asked) + 5000};
    const auto own = clock.Own(theirs, MonoTime{asked});
    ASSERT_TRUE(own);
    EXPECT_LE(leaders(own->ms), theirs.ms) << "asked at " << asked;
  }
}

TEST(LeaderClock, GivesOrdersAndWelcomeInOwnTime) {
  LeaderClock clock;
  link::ServerFrame frame;
  frame.welcome = link::Welcome{};
  frame.welcome->server_time = 51'000;
  frame.orders.emplace_back().start_by = 53'000;
  auto unheard = frame;
  ForOwnNodes(unheard, clock, MonoTime{1000});
  EXPECT_EQ(unheard.orders.front().start_by, 0);

  clock.Heard(MonoTime{1000}, MonoTime{51'000});
  ForOwnNodes(frame, clock, MonoTime{1000});
  EXPECT_EQ(frame.welcome->server_time, 1000);
  EXPECT_LE(frame.orders.front().start_by, 3000);
  EXPECT_GE(frame.orders.front().start_by, 2990);
}

TEST(LeaderClock, NobodyBeginsAnOrderWhoseMomentCannotBe) {
  LeaderClock clock;
  clock.Heard(MonoTime{1000}, MonoTime{51'000});
  for (const std::int64_t moment : {INT64_MAX, INT64_MIN, std::int64_t{-1}}) {
    link::ServerFrame frame;
    frame.orders.emplace_back().start_by = moment;
    ForOwnNodes(frame, clock, MonoTime{1000});
    EXPECT_EQ(frame.orders.front().start_by, 0) << moment;
  }
}

}  // namespace
}  // namespace muster::server
