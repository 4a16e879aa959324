#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "adapters/local/local_coordinator.hpp"
#include "adapters/local/local_election.hpp"

namespace muster {
namespace {

// Coordinators of one cluster, and the power to take its leadership away.
struct Cluster {
  std::function<std::unique_ptr<Coordinator>()> join;
  std::function<void()> depose;
};

struct Adapter {
  std::string name;
  std::function<Cluster()> make;
};

Cluster MakeLocal() {
  auto election = std::make_shared<LocalElection>();
  return {.join = [election] { return std::make_unique<LocalCoordinator>(election); },
          .depose = [election] { election->Depose(); }};
}

class CoordinatorContract : public testing::TestWithParam<Adapter> {
 protected:
  // Campaigns and writes down what it is told.
  Result<> Campaign(Coordinator& coordinator, const std::string& name) {
    return coordinator.Campaign(
        name, [this, name] { told_.push_back(name + " elected"); },
        [this, name] { told_.push_back(name + " lost"); });
  }

  Cluster cluster_ = GetParam().make();
  std::vector<std::string> told_;
};

using Told = std::vector<std::string>;

TEST_P(CoordinatorContract, OnlyCandidateIsElected) {
  auto one = cluster_.join();
  EXPECT_EQ(one->Leader(), "");
  ASSERT_TRUE(Campaign(*one, "a"));
  EXPECT_EQ(told_, Told{"a elected"});
  EXPECT_EQ(one->Leader(), "a");
}

TEST_P(CoordinatorContract, SecondCandidateWaitsUntilTheFirstResigns) {
  auto one = cluster_.join();
  auto two = cluster_.join();
  ASSERT_TRUE(Campaign(*one, "a"));
  ASSERT_TRUE(Campaign(*two, "b"));
  EXPECT_EQ(told_, Told{"a elected"});
  EXPECT_EQ(two->Leader(), "a");
  one->Resign();
  EXPECT_EQ(told_, (Told{"a elected", "b elected"}));
  EXPECT_EQ(one->Leader(), "b");
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
  one->Resign();
  EXPECT_EQ(one->Leader(), "");
  ASSERT_TRUE(Campaign(*one, "a"));
  EXPECT_EQ(told_, (Told{"a elected", "a elected"}));
}

TEST_P(CoordinatorContract, CandidateThatResignedIsNeverElected) {
  auto one = cluster_.join();
  auto two = cluster_.join();
  ASSERT_TRUE(Campaign(*one, "a"));
  ASSERT_TRUE(Campaign(*two, "b"));
  two->Resign();
  one->Resign();
  EXPECT_EQ(told_, Told{"a elected"});
  EXPECT_EQ(one->Leader(), "");
}

TEST_P(CoordinatorContract, LeaderIsToldOfItsLossBeforeTheNextIsElected) {
  auto one = cluster_.join();
  auto two = cluster_.join();
  ASSERT_TRUE(Campaign(*one, "a"));
  ASSERT_TRUE(Campaign(*two, "b"));
  cluster_.depose();
  EXPECT_EQ(told_, (Told{"a elected", "a lost", "b elected"}));
  EXPECT_EQ(one->Leader(), "b");
  two->Resign();
  EXPECT_EQ(one->Leader(), "a");
}

TEST_P(CoordinatorContract, NothingIsCalledAfterResign) {
  auto one = cluster_.join();
  ASSERT_TRUE(Campaign(*one, "a"));
  one->Resign();
  cluster_.depose();
  EXPECT_EQ(told_, Told{"a elected"});
}

TEST_P(CoordinatorContract, LeaderMayResignFromItsCallback) {
  auto one = cluster_.join();
  auto two = cluster_.join();
  ASSERT_TRUE(one->Campaign("a", [&] { one->Resign(); }, [] {}));
  ASSERT_TRUE(Campaign(*two, "b"));
  EXPECT_EQ(two->Leader(), "b");
}

TEST_P(CoordinatorContract, LeaderThatGoesAwayMakesRoom) {
  auto one = cluster_.join();
  auto two = cluster_.join();
  ASSERT_TRUE(Campaign(*one, "a"));
  ASSERT_TRUE(Campaign(*two, "b"));
  one.reset();
  EXPECT_EQ(two->Leader(), "b");
}

INSTANTIATE_TEST_SUITE_P(Adapters, CoordinatorContract,
                         testing::Values(Adapter{"local", MakeLocal}),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace muster
