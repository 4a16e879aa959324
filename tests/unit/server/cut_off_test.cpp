#include "server/peers/cut_off.hpp"

#include <gtest/gtest.h>

namespace muster::server {
namespace {

using std::chrono::seconds;
using Sees = CutOff::Sees;

constexpr MonoTime kStart{1'000'000};

MonoTime At(int second) { return kStart + seconds(second); }

// A server that heard its leader last at second 60.
CutOff Followed() {
  CutOff cut_off(kStart, seconds(5));
  cut_off.See(Sees::kLeader, At(60), At(60));
  return cut_off;
}

TEST(CutOff, SendsNodesAwayWhenNoLeaderWasHeardForAWhile) {
  CutOff cut_off = Followed();
  Duration over{0};
  cut_off.See(Sees::kNothing, At(65));
  EXPECT_FALSE(cut_off.SendsAway(At(65)));
  EXPECT_FALSE(cut_off.Tell(At(65), over));
  cut_off.See(Sees::kNothing, At(66));
  EXPECT_TRUE(cut_off.SendsAway(At(66)));
  EXPECT_TRUE(cut_off.Tell(At(66), over));
  EXPECT_EQ(over, seconds(5));
}

TEST(CutOff, CountsFromTheLastWordOfALeaderNotFromWhenItsSilenceWasNoticed) {
  CutOff cut_off = Followed();
  cut_off.See(Sees::kLeader, At(63), At(60));
  cut_off.See(Sees::kNothing, At(66));
  EXPECT_TRUE(cut_off.SendsAway(At(66)));
}

TEST(CutOff, KeepsNodesWhileNobodyLeads) {
  CutOff cut_off = Followed();
  for (int second = 61; second < 300; ++second) {
    cut_off.See(Sees::kNobody, At(second));
    EXPECT_FALSE(cut_off.SendsAway(At(second)));
  }
  cut_off.See(Sees::kNothing, At(304));
  EXPECT_FALSE(cut_off.SendsAway(At(304))) << "the next leader gets its time";
}

TEST(CutOff, GivesAClusterTimeToStart) {
  CutOff cut_off(kStart, seconds(5));
  cut_off.See(Sees::kNothing, At(15));
  EXPECT_FALSE(cut_off.SendsAway(At(15)));
  cut_off.See(Sees::kNothing, At(16));
  EXPECT_TRUE(cut_off.SendsAway(At(16)));
  EXPECT_FALSE(CutOff(kStart, seconds(40)).SendsAway(At(40))) << "its patience is longer than that";
}

TEST(CutOff, TellsThoseThatStayAgainAfterPausesThatDouble) {
  CutOff cut_off = Followed();
  std::vector<int> rounds;
  Duration over{0};
  for (int second = 61; second < 60 + 1200; ++second) {
    cut_off.See(Sees::kNothing, At(second));
    if (!cut_off.Tell(At(second), over)) continue;
    rounds.push_back(second - 66);
    EXPECT_LE(over, seconds(120));
  }
  EXPECT_EQ(rounds, (std::vector<int>{0, 15, 45, 105, 225, 465, 705, 945, 1185}));
}

TEST(CutOff, BeginsAnewAfterALeaderWasHeard) {
  CutOff cut_off = Followed();
  Duration over{0};
  cut_off.See(Sees::kNothing, At(70));
  EXPECT_TRUE(cut_off.Tell(At(70), over));
  cut_off.See(Sees::kLeader, At(71), At(71));
  EXPECT_FALSE(cut_off.SendsAway(At(71)));
  cut_off.See(Sees::kNothing, At(77));
  EXPECT_TRUE(cut_off.Tell(At(77), over));
}

}  // namespace
}  // namespace muster::server
