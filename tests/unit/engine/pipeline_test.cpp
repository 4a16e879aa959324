#include "engine/pipeline.hpp"

#include "unit/engine/engine_fixture.hpp"

namespace muster::engine {
namespace {

class PipelineTest : public EngineFixture {};

StartRun StartOn(std::string key, Store& store) {
  StartRun start;
  start.key = std::move(key);
  start.known = *store.FindKey("", start.key);
  start.spec.stages = {StageSpec{}};
  start.targets = std::make_shared<const Targets>(Targets{{HostId(1), "h1"}});
  return start;
}

TEST_F(PipelineTest, AnswersNothingBeforeItsCommit) {
  AddHosts(1);
  const auto id = Ask(StartOn("", store_));
  EXPECT_FALSE(replies_.contains(id));
  EXPECT_TRUE(frames_.empty());
  Settle();
  EXPECT_TRUE(replies_.contains(id));
}

TEST_F(PipelineTest, HoldsBackAnAnswerThatRestsOnAnUncommittedRow) {
  AddHosts(1);
  const auto first = Ask(StartOn("k", store_));
  const auto second =
      Ask(StartOn("k", store_));  // changes nothing itself, but read what is not durable
  EXPECT_FALSE(replies_.contains(second));
  Settle();
  ASSERT_TRUE(replies_.at(first) && replies_.at(second));
  EXPECT_EQ(std::get<RunStarted>(*replies_.at(first)).run,
            std::get<RunStarted>(*replies_.at(second)).run);
  EXPECT_TRUE(std::get<RunStarted>(*replies_.at(second)).repeated);
}

TEST_F(PipelineTest, SendsTheSameBatchAgainAfterALostAnswer) {
  AddHosts(1);
  const auto id = Ask(StartOn("", store_));
  ASSERT_TRUE(held_);
  auto held = *std::exchange(held_, std::nullopt);
  store_.Commit(held.batch, held.term, held.number, [](Result<>) {});  // written…
  held.done(Fail(ErrorCode::kTimeout, "the answer was lost"));         // …but nobody said so
  EXPECT_FALSE(pipeline_->Ready());
  EXPECT_FALSE(pipeline_->Stalled().empty());
  EXPECT_FALSE(replies_.contains(id));
  now_.mono = now_.mono + std::chrono::seconds(1);
  pipeline_->Drive(now_);
  ASSERT_TRUE(held_);
  EXPECT_EQ(held_->number, held.number);
  Settle();
  EXPECT_TRUE(replies_.contains(id));
  EXPECT_TRUE(pipeline_->Stalled().empty());
  EXPECT_EQ(store_.ListRuns({}, {}, 10)->size(), 1U);
}

TEST_F(PipelineTest, StepsDownWhenAnotherTermHoldsTheStore) {
  AddHosts(1);
  const auto id = Ask(StartOn("", store_));
  ASSERT_TRUE(store_.TakeTerm());
  auto held = *std::exchange(held_, std::nullopt);
  store_.Commit(held.batch, held.term, held.number, held.done);
  EXPECT_FALSE(pipeline_->Leading());
  ASSERT_TRUE(deposed_);
  EXPECT_EQ(deposed_->code, ErrorCode::kFenced);
  ASSERT_TRUE(replies_.contains(id));
  EXPECT_EQ(replies_.at(id).error().code, ErrorCode::kUnavailable);
  EXPECT_TRUE(store_.ListRuns({}, {}, 10)->empty());
}

TEST_F(PipelineTest, AKeyMakesOneRunAlsoAfterATakeOver) {
  AddHosts(1);
  const RunId first = Start(1, {}, "k");
  Lead();
  EXPECT_EQ(Start(1, {}, "k"), first);
}

TEST_F(PipelineTest, RefusesAKeyForAnotherBody) {
  AddHosts(1);
  Start(1, {}, "k");
  StartRun other = StartOn("k", store_);
  other.body_sha256 = "another";
  const auto id = Ask(std::move(other));
  Settle();
  EXPECT_EQ(replies_.at(id).error().code, ErrorCode::kConflict);
}

TEST_F(PipelineTest, RefusesALookUpOlderThanItsMemoryOfKeys) {
  AddHosts(1);
  StartRun start = StartOn("k", store_);
  start.known.commit = CommitNumber(0);
  Lead();
  const auto id = Ask(std::move(start));
  Settle();
  EXPECT_EQ(replies_.at(id).error().code, ErrorCode::kUnavailable);
}

TEST_F(PipelineTest, RowsOfRunsWithManyStagesFillABatchSooner) {
  AddHosts(1);
  auto start = StartOn("", store_);
  start.spec.stages.assign(900, StageSpec{});
  std::size_t starts = 0;
  for (; pipeline_->Ready() && starts < 1000; ++starts) Ask(start);
  EXPECT_LT(starts, 100U);
}

}  // namespace
}  // namespace muster::engine
