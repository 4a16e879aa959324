#include <future>

#include "contract/coordinator_fixture.hpp"

namespace muster {
namespace {

TEST_P(CoordinatorContract, OnlyCandidateIsElected) {
  auto one = cluster_.join();
  EXPECT_EQ(one->Leader(), "");
  ASSERT_TRUE(Campaign(*one, "a"));
  EXPECT_EQ(Await(1), Told{"a elected"});
  EXPECT_TRUE(AwaitLeader(*one, "a"));
  EXPECT_EQ(one->Trouble(), "");
}

TEST_P(CoordinatorContract, SecondCandidateWaitsUntilTheFirstResigns) {
  auto one = cluster_.join();
  auto two = cluster_.join();
  ASSERT_TRUE(Campaign(*one, "a"));
  ASSERT_EQ(Await(1), Told{"a elected"});
  ASSERT_TRUE(Campaign(*two, "b"));
  EXPECT_TRUE(AwaitLeader(*two, "a"));
  Note("a resigns");
  one->Resign();
  EXPECT_EQ(Await(3), (Told{"a elected", "a resigns", "b elected"}));
  EXPECT_TRUE(AwaitLeader(*one, "b"));
}

TEST_P(CoordinatorContract, CampaigningTwiceConflicts) {
  auto one = cluster_.join();
  ASSERT_TRUE(Campaign(*one, "a"));
  const auto again = Campaign(*one, "a");
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, ErrorCode::kConflict);
}

TEST_P(CoordinatorContract, ResignedCandidateMayCampaignAgain) {
  auto one = cluster_.join();
  ASSERT_TRUE(Campaign(*one, "a"));
  ASSERT_EQ(Await(1), Told{"a elected"});
  one->Resign();
  EXPECT_TRUE(AwaitLeader(*one, ""));
  ASSERT_TRUE(Campaign(*one, "a2"));
  EXPECT_EQ(Await(2), (Told{"a elected", "a2 elected"}));
  EXPECT_TRUE(AwaitLeader(*one, "a2"));
}

TEST_P(CoordinatorContract, ResignedCandidateMayCampaignAgainAtOnce) {
  auto one = cluster_.join();
  ASSERT_TRUE(Campaign(*one, "a"));
  ASSERT_EQ(Await(1), Told{"a elected"});
  one->Resign();
  ASSERT_TRUE(Campaign(*one, "a2"));
  EXPECT_EQ(Await(2), (Told{"a elected", "a2 elected"}));
  EXPECT_TRUE(AwaitLeader(*one, "a2"));
}

TEST_P(CoordinatorContract, CandidateThatResignedIsNeverElected) {
  auto one = cluster_.join();
  auto two = cluster_.join();
  auto three = cluster_.join();
  ASSERT_TRUE(Campaign(*one, "a"));
  ASSERT_EQ(Await(1), Told{"a elected"});
  ASSERT_TRUE(Campaign(*two, "b"));
  two->Resign();
  one->Resign();
  EXPECT_TRUE(AwaitLeader(*one, ""));
  ASSERT_TRUE(Campaign(*three, "c"));
  EXPECT_EQ(Await(2), (Told{"a elected", "c elected"}));
}

TEST_P(CoordinatorContract, LeaderIsToldOfItsLossBeforeTheNextIsElected) {
  auto one = cluster_.join();
  auto two = cluster_.join();
  ASSERT_TRUE(Campaign(*one, "a"));
  ASSERT_EQ(Await(1), Told{"a elected"});
  ASSERT_TRUE(Campaign(*two, "b"));
  cluster_.depose();
  EXPECT_EQ(Await(3), (Told{"a elected", "a lost", "b elected"}));
  EXPECT_TRUE(AwaitLeader(*one, "b"));
  two->Resign();
  EXPECT_EQ(Await(4), (Told{"a elected", "a lost", "b elected", "a elected"}));
  EXPECT_TRUE(AwaitLeader(*two, "a"));
}

TEST_P(CoordinatorContract, LeaderThatLostIsACandidateAgain) {
  auto one = cluster_.join();
  ASSERT_TRUE(Campaign(*one, "a"));
  ASSERT_EQ(Await(1), Told{"a elected"});
  cluster_.depose();
  EXPECT_EQ(Await(3), (Told{"a elected", "a lost", "a elected"}));
}

TEST_P(CoordinatorContract, NothingIsCalledAfterResign) {
  auto one = cluster_.join();
  ASSERT_TRUE(Campaign(*one, "a"));
  ASSERT_EQ(Await(1), Told{"a elected"});
  one->Resign();
  EXPECT_EQ(one->LeadUntil(), MonoTime{0});
  auto two = cluster_.join();
  ASSERT_TRUE(Campaign(*two, "b"));
  ASSERT_EQ(Await(2), (Told{"a elected", "b elected"}));
  cluster_.depose();
  EXPECT_EQ(Await(4), (Told{"a elected", "b elected", "b lost", "b elected"}));
}

TEST_P(CoordinatorContract, ResignWaitsForACallbackUnderWay) {
  auto one = cluster_.join();
  const auto elected = [&] {
    Note("begins");
    Eventually([&] { return one->LeadUntil() == MonoTime{0}; });  // Resign has begun
    Note("ends");
  };
  // An adapter may call back before Campaign returns.
  auto campaign =
      std::async(std::launch::async, [&] { return one->Campaign("a", elected, [] {}); });
  ASSERT_EQ(Await(1), Told{"begins"});
  one->Resign();
  Note("resigned");
  EXPECT_TRUE(campaign.get());
  EXPECT_EQ(All(), (Told{"begins", "ends", "resigned"}));
}

TEST_P(CoordinatorContract, LeaderMayResignFromItsCallback) {
  auto one = cluster_.join();
  auto two = cluster_.join();
  ASSERT_TRUE(one->Campaign(
      "a",
      [&] {
        one->Resign();
        Note("a resigned");
      },
      [this] { Note("a lost"); }));
  ASSERT_EQ(Await(1), Told{"a resigned"});
  ASSERT_TRUE(Campaign(*two, "b"));
  EXPECT_EQ(Await(2), (Told{"a resigned", "b elected"}));
  EXPECT_TRUE(AwaitLeader(*one, "b"));
}

TEST_P(CoordinatorContract, LeaderThatGoesAwayMakesRoom) {
  auto one = cluster_.join();
  auto two = cluster_.join();
  ASSERT_TRUE(Campaign(*one, "a"));
  ASSERT_EQ(Await(1), Told{"a elected"});
  ASSERT_TRUE(Campaign(*two, "b"));
  one.reset();
  EXPECT_EQ(Await(2), (Told{"a elected", "b elected"}));
  EXPECT_TRUE(AwaitLeader(*two, "b"));
}

TEST_P(CoordinatorContract, OnlyTheLeaderMayActAndMovesItsTimeOn) {
  auto one = cluster_.join();
  auto two = cluster_.join();
  EXPECT_EQ(one->LeadUntil(), MonoTime{0});
  MonoTime at_election;
  ASSERT_TRUE(one->Campaign(
      "a",
      [&] {
        at_election = one->LeadUntil();
        Note("a elected");
      },
      [] {}));
  ASSERT_EQ(Await(1), Told{"a elected"});
  EXPECT_GT(at_election, MonoTime{0});
  ASSERT_TRUE(Campaign(*two, "b"));
  EXPECT_TRUE(AwaitLeader(*two, "a"));
  EXPECT_EQ(two->LeadUntil(), MonoTime{0});
  if (!cluster_.leases) {
    EXPECT_EQ(one->LeadUntil(), kNever);
  } else {
    EXPECT_TRUE(Eventually([&] { return one->LeadUntil() > at_election; }));
  }
  one->Resign();
  EXPECT_EQ(one->LeadUntil(), MonoTime{0});
}

}  // namespace
}  // namespace muster
