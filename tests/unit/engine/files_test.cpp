#include "domain/features.hpp"
#include "unit/engine/engine_fixture.hpp"

namespace muster::engine {
namespace {

// What hosts may have to do with files, by their open tasks.
class Files : public EngineFixture {
 protected:
  Files() { features_ = {kFeatureFiles}; }

  static StageSpec Moving(std::shared_ptr<const FilePush> push,
                          std::shared_ptr<const FilePull> pull = {}) {
    auto command = std::make_shared<muster::Command>();
    command->push = std::move(push);
    command->pull = std::move(pull);
    StageSpec stage;
    stage.action = std::move(command);
    return stage;
  }
  static StageSpec Pushing(std::string sha256) {
    return Moving(std::make_shared<const FilePush>(
        FilePush{.files = {{.path = "", .sha256 = std::move(sha256), .size = 1}}, .to = "/a"}));
  }
  bool May(const std::string& key, const std::string& sha256, bool sends = false) {
    const auto id = Ask(AskFile{.caller = {}, .key = key, .sha256 = sha256, .sends = sends});
    Settle();
    const auto& answer = replies_.at(id);
    return answer && std::get<FileAnswer>(*answer).may;
  }

  bool Sends(const std::string& sha256, std::uint64_t size) {
    const auto id =
        Ask(AskFile{.caller = {}, .key = "key-h1", .sha256 = sha256, .sends = true, .size = size});
    Settle();
    const auto& answer = replies_.at(id);
    return answer && std::get<FileAnswer>(*answer).may;
  }
  static StageSpec Pulling(std::uint64_t max_bytes) {
    return Moving(
        {}, std::make_shared<const FilePull>(FilePull{.paths = {"/a"}, .max_bytes = max_bytes}));
  }

  const std::string hash_ = std::string(32, 'h');
  const std::string other_ = std::string(32, 'o');
};

TEST_F(Files, AHostReadsWhatItsOpenTaskBrings) {
  AddHosts(2);
  EXPECT_FALSE(May("key-h1", hash_));
  Start(1, Pushing(hash_));
  EXPECT_TRUE(May("key-h1", hash_));
  EXPECT_FALSE(May("key-h1", other_));
  EXPECT_FALSE(May("key-h1", hash_, true));
  EXPECT_FALSE(May("key-h2", hash_)) << "it is none of its business";
  EXPECT_FALSE(May("key-nobody", hash_));
}

TEST_F(Files, AHostSendsWhileItHasATaskThatPulls) {
  AddHosts(1);
  EXPECT_FALSE(May("key-h1", hash_, true));
  Start(1, Moving({}, std::make_shared<const FilePull>(FilePull{.paths = {"/a"}})));
  EXPECT_TRUE(May("key-h1", hash_, true));
  EXPECT_FALSE(May("key-h1", hash_));
}

TEST_F(Files, AHostSendsNoMoreThanItsTaskTakes) {
  AddHosts(1);
  Start(1, Pulling(100));
  EXPECT_FALSE(Sends(hash_, 101));
  EXPECT_TRUE(Sends(hash_, 60));
  EXPECT_TRUE(Sends(hash_, 60)) << "a broken upload goes on";
  EXPECT_TRUE(Sends(hash_, 70)) << "only what is more counts";
  EXPECT_FALSE(Sends(other_, 31));
  EXPECT_TRUE(Sends(other_, 30));
  EXPECT_FALSE(Sends(std::string(32, 'x'), 1));
  EXPECT_TRUE(May("key-h1", std::string(32, 'x'), true)) << "it may ask whether a file is needed";
}

TEST_F(Files, TwoTasksTakeTogether) {
  AddHosts(1);
  Start(1, Pulling(100));
  Start(1, Pulling(50));
  EXPECT_TRUE(Sends(hash_, 100));
  EXPECT_TRUE(Sends(other_, 50));
  EXPECT_FALSE(Sends(std::string(32, 'x'), 1));
}

TEST_F(Files, WhatWasNotKeptCountsNoLonger) {
  AddHosts(1);
  Start(1, Pulling(100));
  ASSERT_TRUE(Sends(hash_, 100));
  ASSERT_FALSE(Sends(other_, 100));
  Ask(AskFile{.caller = {}, .key = "key-h1", .sha256 = hash_, .sends = true, .discarded = true});
  EXPECT_TRUE(Sends(other_, 100));
}

TEST_F(Files, WhatWasKeptCountsAlsoAfterOtherBytesCame) {
  AddHosts(1);
  Start(1, Pulling(100));
  ASSERT_TRUE(Sends(hash_, 60));
  Ask(AskFile{.caller = {}, .key = "key-h1", .sha256 = hash_, .sends = true, .kept = true});
  ASSERT_TRUE(Sends(hash_, 60));
  Ask(AskFile{.caller = {}, .key = "key-h1", .sha256 = hash_, .sends = true, .discarded = true});
  EXPECT_FALSE(Sends(other_, 41));
  EXPECT_TRUE(Sends(other_, 40));
}

TEST_F(Files, ANewLeadershipKnowsIt) {
  AddHosts(1);
  Start(1, Pushing(hash_));
  Lead();
  EXPECT_TRUE(May("key-h1", hash_));
}

TEST_F(Files, AnyOpenRunKeepsItsFiles) {
  AddHosts(1);
  EXPECT_FALSE(May("", hash_));
  Start(1, Pushing(hash_));
  EXPECT_TRUE(May("", hash_));
  EXPECT_FALSE(May("", other_));
}

TEST_F(Files, AnOlderAgentIsNotSentTheOrder) {
  features_ = {};
  AddHosts(1);
  const RunId run = Start(1, Pushing(hash_));
  EXPECT_TRUE(TakeOrders().empty());
  EXPECT_EQ(RecordOf(run, 1).state, TaskState::kRefused);
}

TEST_F(Files, AnOrderNamesTheFeature) {
  AddHosts(1);
  Start(1, Pushing(hash_));
  ASSERT_EQ(frames_.size(), 1U);
  ASSERT_EQ(frames_[0].frame.orders.size(), 1U);
  EXPECT_EQ(frames_[0].frame.orders[0].needs, std::vector<std::string>{kFeatureFiles});
}

// Two jobs on each of many levels, each of which starts both of the next: few plans, but more ways
// to them than could ever be walked.
TEST_F(Files, AJobThatManyPlansStartIsLookedAtOnce) {
  AddHosts(1);
  RunSpec bottom;
  bottom.stages = {Pushing(hash_)};
  auto left = std::make_shared<const RunSpec>(bottom);
  auto right = left;
  for (int level = 0; level < 300; ++level) {
    RunSpec next;
    next.jobs = {{"left", left}, {"right", right}};
    left = std::make_shared<const RunSpec>(next);
    right = std::make_shared<const RunSpec>(next);
  }
  StageSpec waits;
  waits.action = WaitAction{.time = std::chrono::hours(1)};
  StartRun start;
  start.spec.stages = {waits};
  start.spec.jobs = {{"left", left}, {"right", right}};
  start.targets = std::make_shared<const Targets>(Targets{{HostId(1), "h1"}});
  Ask(std::move(start));
  Settle();
  EXPECT_TRUE(May("", hash_));
  EXPECT_FALSE(May("", other_));
}

}  // namespace
}  // namespace muster::engine
