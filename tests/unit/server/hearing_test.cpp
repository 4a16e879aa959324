#include "server/gateway/hearing.hpp"

#include <gtest/gtest.h>

namespace muster::server {
namespace {

using By = Hearing::By;

TEST(Hearing, WordsAreForWhoeverAskedLast) {
  Hearing hearing;
  EXPECT_EQ(hearing.Now(), By::kNobody);
  EXPECT_TRUE(hearing.Begins(By::kThisServer, Term(3)));
  EXPECT_EQ(hearing.Now(), By::kThisServer);
  EXPECT_TRUE(hearing.Begins(By::kLeaderElsewhere, Term(4)));
  EXPECT_EQ(hearing.Now(), By::kLeaderElsewhere);
}

TEST(Hearing, LeaderThatConnectsAgainAsksAgain) {
  Hearing hearing;
  EXPECT_TRUE(hearing.Begins(By::kLeaderElsewhere, Term(4)));
  EXPECT_TRUE(hearing.Begins(By::kLeaderElsewhere, Term(4)));
}

// It took its term, was frozen, and begins when another leads already.
TEST(Hearing, EarlierLeadershipThatBeginsLateIsNotHeard) {
  Hearing hearing;
  EXPECT_TRUE(hearing.Begins(By::kLeaderElsewhere, Term(6)));
  EXPECT_FALSE(hearing.Begins(By::kThisServer, Term(5)));
  EXPECT_EQ(hearing.Now(), By::kLeaderElsewhere);
}

// It took its term from a leader that does not know of it, and gave up at once.
TEST(Hearing, LeadershipThatIsOverStandsInNobodysWay) {
  Hearing hearing;
  EXPECT_TRUE(hearing.Begins(By::kThisServer, Term(7)));
  hearing.EndsHere();
  EXPECT_EQ(hearing.Now(), By::kNobody);
  EXPECT_TRUE(hearing.Begins(By::kLeaderElsewhere, Term(6)));
  hearing.EndsHere();
  EXPECT_EQ(hearing.Now(), By::kLeaderElsewhere);
}

}  // namespace
}  // namespace muster::server
