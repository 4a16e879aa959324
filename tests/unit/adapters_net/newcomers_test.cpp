#include "adapters/net/newcomers.hpp"

#include <algorithm>
#include <deque>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace muster::net {
namespace {

using State = Newcomer::State;

class FakeNewcomer final : public Newcomer {
 public:
  explicit FakeNewcomer(std::string source) : source(std::move(source)) {}
  void Enter() override {}
  void GiveWay() override {}

  const std::string source;
};

class NewcomersTest : public ::testing::Test {
 protected:
  ~NewcomersTest() override {
    for (FakeNewcomer& one : all_) {
      if (one.state() != State::kNone) newcomers_.Left(one);
    }
  }
  FakeNewcomer& Silent(const std::string& source) {
    newcomers_.Came(all_.emplace_back(source), source);
    return all_.back();
  }
  FakeNewcomer& Waiting(const std::string& source) {
    FakeNewcomer& made = Silent(source);
    newcomers_.Spoke(made);
    return made;
  }
  // The sources of those that may enter, in their order.
  std::string LetIn() {
    std::string order;
    while (auto* next = static_cast<FakeNewcomer*>(newcomers_.Next())) order += next->source;
    return order;
  }
  std::size_t Inside() const {
    return static_cast<std::size_t>(std::ranges::count_if(
        all_, [](const FakeNewcomer& one) { return one.state() == State::kInside; }));
  }

  static constexpr std::size_t kPlaces = 4;
  Newcomers newcomers_{kPlaces};
  std::deque<FakeNewcomer> all_;
};

TEST_F(NewcomersTest, OneAddressAloneGetsAllPlaces) {
  for (int i = 0; i < 6; ++i) Waiting("a");
  EXPECT_EQ(LetIn(), "aaaa");
  EXPECT_EQ(newcomers_.waiting(), 2U);
}

TEST_F(NewcomersTest, OldestAndNewestOfAnAddressTakeTurns) {
  std::vector<FakeNewcomer*> came;
  for (int i = 0; i < 4; ++i) came.push_back(&Waiting("a"));
  for (int next : {0, 3, 1, 2}) EXPECT_EQ(newcomers_.Next(), came[static_cast<std::size_t>(next)]);
}

TEST_F(NewcomersTest, SilentOnesNeedNoPlace) {
  for (int i = 0; i < 100; ++i) Silent("a");
  Waiting("a");
  EXPECT_EQ(LetIn(), "a");
}

TEST_F(NewcomersTest, AddressesTakeTurns) {
  for (int i = 0; i < 3; ++i) Waiting("a");
  for (int i = 0; i < 3; ++i) Waiting("b");
  EXPECT_EQ(LetIn(), "abab");
}

TEST_F(NewcomersTest, AnotherAddressGetsItsShareBeyondThePlaces) {
  for (int i = 0; i < 10; ++i) Waiting("a");
  EXPECT_EQ(LetIn(), "aaaa");
  for (int i = 0; i < 10; ++i) Waiting("b");
  EXPECT_EQ(LetIn(), "bb");
}

TEST_F(NewcomersTest, FreePlaceGoesToTheAddressWithFewest) {
  for (int i = 0; i < 10; ++i) Waiting("a");
  LetIn();
  for (int i = 0; i < 10; ++i) Waiting("b");
  LetIn();
  newcomers_.Left(all_[0]);
  newcomers_.Left(all_[1]);
  EXPECT_EQ(LetIn(), "");  // each has two, which are all the places
  newcomers_.Left(all_[9]);
  EXPECT_EQ(LetIn(), "a");
  newcomers_.Left(all_[10]);
  EXPECT_EQ(LetIn(), "b");
}

TEST_F(NewcomersTest, ManyAddressesGetTwiceThePlacesAtMost) {
  for (char source = 'a'; source <= 'z'; ++source) Waiting(std::string(1, source));
  EXPECT_EQ(LetIn(), "abcdefgh");
}

TEST_F(NewcomersTest, OldestSilentOneOfTheLargestAddressGivesWay) {
  EXPECT_EQ(newcomers_.ToGiveWay("a"), nullptr);
  Silent("b");
  Waiting("a");
  FakeNewcomer& oldest = Silent("a");
  Silent("a");
  for (const char* source : {"a", "b", "c"}) EXPECT_EQ(newcomers_.ToGiveWay(source), &oldest);
}

TEST_F(NewcomersTest, LastOneThatWaitsGivesWayToOtherAddressesOnly) {
  Silent("b");
  Waiting("a");
  Waiting("a");
  FakeNewcomer& last = Waiting("a");
  EXPECT_EQ(newcomers_.ToGiveWay("a"), nullptr);
  EXPECT_EQ(newcomers_.ToGiveWay("b"), &last);
  EXPECT_EQ(newcomers_.ToGiveWay("c"), &last);
}

TEST_F(NewcomersTest, OnesInsideDoNotGiveWay) {
  Waiting("a");
  LetIn();
  EXPECT_EQ(newcomers_.ToGiveWay("b"), nullptr);
}

TEST_F(NewcomersTest, OnlyThoseWhoHoldUpOthersHurryUp) {
  FakeNewcomer& silent = Silent("a");
  std::vector<FakeNewcomer*> spoke;
  for (std::size_t i = 0; i < kPlaces - 1; ++i) spoke.push_back(&Waiting("a"));
  LetIn();
  EXPECT_FALSE(newcomers_.HurriesUp(silent));
  EXPECT_FALSE(newcomers_.HurriesUp(*spoke[0]));
  spoke.push_back(&Waiting("a"));
  LetIn();
  EXPECT_TRUE(newcomers_.HurriesUp(silent));
  EXPECT_FALSE(newcomers_.HurriesUp(*spoke[0]));
  FakeNewcomer& held_back = Waiting("a");
  EXPECT_TRUE(newcomers_.HurriesUp(*spoke[0]));
  EXPECT_FALSE(newcomers_.HurriesUp(held_back));
}

// Whatever happens in whatever order: everyone who waits comes in, and never more than twice the
// places are taken.
TEST_F(NewcomersTest, RandomOrdersKeepTheBoundsAndForgetNobody) {
  std::mt19937 random(7);
  std::vector<FakeNewcomer*> present;
  for (int i = 0; i < 5'000; ++i) {
    if (random() % 3 != 0 || present.empty())
      present.push_back(&Silent(std::string(1, static_cast<char>('a' + random() % 5))));
    FakeNewcomer& one = *present[random() % present.size()];
    if (one.state() == State::kSilent && random() % 2 == 0) {
      newcomers_.Spoke(one);
    } else if (random() % 2 == 0) {
      newcomers_.Left(one);
      std::erase(present, &one);
    }
    LetIn();
    ASSERT_LE(Inside(), 2 * kPlaces);
    ASSERT_EQ(newcomers_.size(), present.size());
    if (newcomers_.waiting() > 0) ASSERT_GE(Inside(), kPlaces);
  }
  for (FakeNewcomer* one : present) {
    if (one->state() == State::kSilent) newcomers_.Spoke(*one);
  }
  while (!present.empty()) {
    LetIn();
    const auto inside = std::ranges::find(present, State::kInside, &FakeNewcomer::state);
    ASSERT_NE(inside, present.end());
    newcomers_.Left(**inside);
    present.erase(inside);
  }
  EXPECT_EQ(newcomers_.size(), 0U);
  EXPECT_EQ(newcomers_.waiting(), 0U);
  EXPECT_EQ(newcomers_.Largest().second, 0U);
}

}  // namespace
}  // namespace muster::net
