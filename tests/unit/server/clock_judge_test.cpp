#include "server/leading/clock_judge.hpp"

#include <gtest/gtest.h>

namespace muster::server {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

constexpr std::size_t kThree = 3;

// A machine whose wall clock somebody sets.
struct Machine {
  Now now{.wall = {1'700'000'000'000}, .mono = {5'000'000}};

  WallTime True() const { return WallTime{1'700'000'000'000} + (now.mono - MonoTime{5'000'000}); }
  void Pass(Duration time) { now = {now.wall + time, now.mono + time}; }
  void Set(Duration by) { now.wall = now.wall + by; }
  void AskStore(ClockJudge& judge) const { judge.StoreSaid(now, True(), now.mono); }
  Duration AskLeader(ClockJudge& judge, Duration leader_ahead = {}) const {
    return judge.LeaderSaid("s1", now.mono, True() + leader_ahead, now);
  }
};

TEST(ClockJudge, OnlyWhatIsSureCounts) {
  const WallTime t{1'000'000};
  EXPECT_EQ(SurelyAhead(t, t + seconds(3), t + seconds(5)), seconds(0));
  EXPECT_EQ(SurelyAhead(t, t + seconds(7), t + seconds(5)), -seconds(2));
  EXPECT_EQ(SurelyAhead(t + seconds(2), t, t + seconds(5)), seconds(2));
}

TEST(ClockJudge, KnowsNothingAgainstAClockBeforeAnybodySpoke) {
  const ClockJudge judge;
  Machine machine;
  machine.Set(hours(1));
  EXPECT_EQ(judge.Wrong(machine.now, kThree), "");
  EXPECT_EQ(judge.Hold(machine.now).wall, machine.now.wall);
  EXPECT_FALSE(judge.Ahead(machine.now));
}

TEST(ClockJudge, TheStoresWordDecides) {
  ClockJudge judge;
  Machine machine;
  machine.AskStore(judge);
  EXPECT_EQ(judge.Wrong(machine.now, kThree), "");
  machine.Set(-hours(1));
  machine.AskStore(judge);
  EXPECT_NE(judge.Wrong(machine.now, kThree).find("1h behind the store's"), std::string::npos);
  EXPECT_EQ(judge.Ahead(machine.now), -hours(1));
}

TEST(ClockJudge, ASecondIsTolerated) {
  ClockJudge judge;
  Machine machine;
  machine.Set(seconds(1));
  machine.AskStore(judge);
  EXPECT_EQ(judge.Wrong(machine.now, kThree), "");
  machine.Set(Duration(1));
  EXPECT_NE(judge.Wrong(machine.now, kThree), "");
}

TEST(ClockJudge, AJumpIsSeenAtOnceAndNotBelieved) {
  ClockJudge judge;
  Machine machine;
  machine.AskStore(judge);
  machine.Pass(seconds(30));
  EXPECT_EQ(judge.Wrong(machine.now, kThree), "");
  machine.Set(hours(1));
  EXPECT_NE(judge.Wrong(machine.now, kThree).find("1h ahead"), std::string::npos);
  EXPECT_EQ(judge.Hold(machine.now).wall, machine.True());
  EXPECT_EQ(judge.Hold(machine.now).mono, machine.now.mono);
  machine.Set(-hours(1));
  EXPECT_EQ(judge.Wrong(machine.now, kThree), "");
}

TEST(ClockJudge, AJumpDuringTheQuestionIsNotBlessedByTheAnswer) {
  ClockJudge judge;
  Machine machine;
  const Now asked = machine.now;
  machine.Pass(Duration(2));
  const WallTime there = machine.True();
  machine.Set(hours(1));
  judge.StoreSaid(asked, there, machine.now.mono);
  EXPECT_NE(judge.Wrong(machine.now, kThree), "");
  EXPECT_EQ(judge.Hold(machine.now).wall, there);
}

TEST(ClockJudge, AClockThatIsSetRightIsGoodAtOnce) {
  ClockJudge judge;
  Machine machine;
  machine.Set(-hours(2));
  machine.AskStore(judge);
  EXPECT_NE(judge.Wrong(machine.now, kThree), "");
  machine.Set(hours(2));
  EXPECT_EQ(judge.Wrong(machine.now, kThree), "");
  EXPECT_EQ(judge.Hold(machine.now).wall, machine.now.wall);
}

TEST(ClockJudge, AFollowerGoesByTheLeaderWhileTheStoreSaysNothing) {
  ClockJudge judge;
  Machine machine;
  machine.Set(seconds(90));
  EXPECT_EQ(machine.AskLeader(judge), seconds(90));
  EXPECT_NE(judge.Wrong(machine.now, kThree).find("1m30s ahead of that of s1"), std::string::npos);
  machine.Pass(ClockJudge::kFresh + Duration(1));
  EXPECT_EQ(judge.Wrong(machine.now, kThree), "")
      << "the leader may be gone, and was the wrong one";
}

TEST(ClockJudge, TheStoreVouchesForAFollowerAgainstItsLeader) {
  ClockJudge judge;
  Machine machine;
  machine.AskStore(judge);
  machine.AskLeader(judge, hours(1));
  EXPECT_EQ(judge.Wrong(machine.now, kThree), "") << "it must be able to take over";
  EXPECT_NE(judge.Differs(machine.now).find("1h behind that of s1"), std::string::npos);
}

TEST(ClockJudge, ALeaderBelievesMostMembersAndNoneAlone) {
  ClockJudge judge;
  Machine machine;
  judge.FollowerSaid("s2", hours(1), machine.now);
  EXPECT_EQ(judge.Wrong(machine.now, kThree), "");
  judge.FollowerSaid("s3", -hours(1), machine.now);
  EXPECT_EQ(judge.Wrong(machine.now, kThree), "") << "they do not find the same";
  judge.FollowerSaid("s3", hours(1), machine.now);
  EXPECT_NE(judge.Wrong(machine.now, kThree).find("1h behind those of most servers"),
            std::string::npos);
  machine.AskStore(judge);
  EXPECT_EQ(judge.Wrong(machine.now, kThree), "") << "the store's word is worth more";
}

}  // namespace
}  // namespace muster::server
