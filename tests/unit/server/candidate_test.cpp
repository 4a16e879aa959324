#include "server/leading/candidate.hpp"

#include <gtest/gtest.h>

#include "adapters/local/local_coordinator.hpp"
#include "adapters/memory/memory_store.hpp"
#include "support/no_links.hpp"

namespace muster::server {
namespace {

class SteppedClock final : public Clock {
 public:
  Now Read() const override { return {.wall = {ms}, .mono = {ms}}; }

  std::int64_t ms = 1'000'000;
};

class CandidateTest : public ::testing::Test {
 protected:
  MemoryStore store_;
  NoLinks links_;
  LocalCoordinator coordinator_;
  SteppedClock clock_;
  bool elected_ = false;
  std::string stepped_down_;
  engine::Pipeline pipeline_{store_,
                             links_,
                             {.reply = [](engine::Reply) {},
                              .news = [](std::vector<engine::News>) {},
                              .deposed = [](const Error&) {},
                              .committed = [](engine::Pipeline::CommitTicket, Result<>) {}},
                             {}};
  Candidate candidate_{{.store = store_,
                        .clock = clock_,
                        .coordinator = coordinator_,
                        .name = "one",
                        .pipeline = pipeline_,
                        .set_elected = [this](bool elected) { elected_ = elected; },
                        .stepped_down = [this](const std::string& why) { stepped_down_ = why; }}};
};

TEST_F(CandidateTest, LeadsWhenElected) {
  ASSERT_TRUE(candidate_.Campaign());
  EXPECT_TRUE(candidate_.Campaigning());
  ASSERT_TRUE(elected_);
  EXPECT_TRUE(candidate_.TriesNow());
  candidate_.TryToLead();
  EXPECT_TRUE(pipeline_.Leading());
  EXPECT_EQ(candidate_.NextTry(true, false), kNever);
}

TEST_F(CandidateTest, LeavesTheElectionWhileItStandsBy) {
  ASSERT_TRUE(candidate_.Campaign());
  candidate_.TryToLead();
  candidate_.KeepCampaigning(true, false);
  EXPECT_FALSE(pipeline_.Leading());
  EXPECT_FALSE(candidate_.Campaigning());
  EXPECT_FALSE(elected_);
  EXPECT_EQ(stepped_down_, "the server stands by");
}

TEST_F(CandidateTest, ComesBackAfterOthersHadTheirChance) {
  ASSERT_TRUE(candidate_.Campaign());
  candidate_.KeepCampaigning(true, false);
  candidate_.KeepCampaigning(false, false);
  EXPECT_FALSE(candidate_.Campaigning());
  EXPECT_EQ(candidate_.NextTry(false, false), MonoTime{clock_.ms} + Leading::kMakeRoomFor);
  clock_.ms += Leading::kMakeRoomFor.count();
  candidate_.KeepCampaigning(false, false);
  EXPECT_TRUE(candidate_.Campaigning());
  EXPECT_TRUE(elected_);
}

TEST_F(CandidateTest, EntersNoElectionWhileItStops) {
  candidate_.KeepCampaigning(false, true);
  EXPECT_FALSE(candidate_.Campaigning());
}

}  // namespace
}  // namespace muster::server
