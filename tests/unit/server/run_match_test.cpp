#include "server/api/run_match.hpp"

#include <gtest/gtest.h>

#include "adapters/memory/memory_store.hpp"
#include "domain/run_row.hpp"

namespace muster::server::api {
namespace {

class RunMatches : public testing::Test {
 protected:
  void Keep(std::uint64_t number, const std::string& job, std::vector<Param> params) {
    muster::Run run;
    run.id = RunId(number);
    run.spec.job = job;
    run.spec.params = std::move(params);
    batch_->changes.emplace_back(PutRun{run});
    batch_->changes.emplace_back(PutPlan{run.id, std::make_shared<const RunSpec>(run.spec)});
  }

  void Commit() {
    const auto fence = store_.TakeTerm();
    ASSERT_TRUE(fence);
    store_.Commit(batch_, fence->term, CommitNumber(fence->number.value + 1),
                  [](const Result<>& done) { EXPECT_TRUE(done); });
  }

  std::vector<std::uint64_t> Found(const RunsAsked& asked) {
    RunMatch match(store_, asked, [] { return Result<>(); });
    std::vector<std::uint64_t> found;
    const auto rows = store_.ListRuns({}, RunId(), 100);
    EXPECT_TRUE(rows);
    if (!rows) return found;
    for (const auto& row : *rows) {
      const auto fits = match.Fits(row);
      EXPECT_TRUE(fits);
      if (fits && *fits) found.push_back(row.id.value);
    }
    return found;
  }

  MemoryStore store_;
  std::shared_ptr<Batch> batch_ = std::make_shared<Batch>();
};

using Ids = std::vector<std::uint64_t>;

TEST_F(RunMatches, AreOfTheJobWithAllParameters) {
  Keep(1, "web", {{"v", "1", false}, {"w", "x", false}});
  Keep(2, "web", {{"v", "2", false}, {"w", "x", false}});
  Keep(3, "db", {{"v", "1", false}});
  Keep(4, "", {});
  Keep(5, "web", {{"token", "deploy", true}});
  Commit();
  EXPECT_EQ(Found({}), (Ids{5, 4, 3, 2, 1}));
  EXPECT_EQ(Found({.job = "web"}), (Ids{5, 2, 1}));
  EXPECT_EQ(Found({.params = {{"v", "1"}}}), (Ids{3, 1}));
  EXPECT_EQ(Found({.job = "web", .params = {{"v", "1"}}}), (Ids{1}));
  EXPECT_EQ(Found({.params = {{"v", "1"}, {"w", "x"}}}), (Ids{1}));
  EXPECT_EQ(Found({.params = {{"v", ""}}}), (Ids{}));
  // A secret is found by its name, never as a plain value.
  EXPECT_EQ(Found({.params = {{"token", "secret:deploy"}}}), (Ids{5}));
  EXPECT_EQ(Found({.params = {{"token", "deploy"}}}), (Ids{}));
}

TEST_F(RunMatches, LongValuesAreComparedWhole) {
  const std::string begin(2 * kMostRowParam, 'n');
  Keep(1, "web", {{"note", begin + "a", false}});
  Keep(2, "web", {{"note", begin + "b", false}});
  Commit();
  EXPECT_EQ(Found({.params = {{"note", begin + "a"}}}), (Ids{1}));
  EXPECT_EQ(Found({.params = {{"note", begin}}}), (Ids{}));
  const auto rows = store_.ListRuns({}, RunId(), 1);
  ASSERT_TRUE(rows);
  const auto cut = rows->front().spec.params.front().value;
  EXPECT_LE(cut.size(), kMostRowParam);
  EXPECT_EQ(Found({.params = {{"note", cut}}}), (Ids{}));
}

TEST_F(RunMatches, ParametersThatTheRowHasNoRoomForAreFound) {
  std::vector<Param> params;
  for (int i = 0; i < 100; ++i) params.push_back({"p" + std::to_string(i), std::string(200, 'v')});
  params.push_back({"last", "1", false});
  Keep(1, "web", params);
  Commit();
  EXPECT_EQ(Found({.params = {{"last", "1"}}}), (Ids{1}));
  EXPECT_EQ(Found({.params = {{"last", "2"}}}), (Ids{}));
}

TEST_F(RunMatches, OneAnswerLooksAtABoundedNumberOfRows) {
  const RunsAsked asked{.job = "web"};
  RunMatch match(store_, asked, [] { return Result<>(); });
  std::size_t rows = 0;
  for (; !match.Spent(); ++rows) ASSERT_TRUE(match.Fits(muster::Run()));
  EXPECT_EQ(rows, 5'000U);
}

TEST_F(RunMatches, OneAnswerReadsABoundedNumberOfPlans) {
  const RunsAsked asked{.params = {{"v", "1"}}};
  RunMatch match(store_, asked, [] { return Result<>(); });
  muster::Run row;
  row.id = RunId(1);
  row.spec.job = "web";
  std::size_t rows = 0;
  for (; !match.Spent(); ++rows) ASSERT_TRUE(match.Fits(row));
  EXPECT_EQ(rows, 200U);
}

TEST_F(RunMatches, NoPlanIsReadForACallThatIsOver) {
  Keep(1, "web", {{"note", std::string(1000, 'n'), false}});
  Commit();
  const RunsAsked asked{.params = {{"note", std::string(1000, 'n')}}};
  RunMatch match(store_, asked, [] { return Result<>(Fail(ErrorCode::kTimeout, "over")); });
  const auto rows = store_.ListRuns({}, RunId(), 1);
  ASSERT_TRUE(rows);
  const auto fits = match.Fits(rows->front());
  ASSERT_FALSE(fits);
  EXPECT_EQ(fits.error().code, ErrorCode::kTimeout);
}

}  // namespace
}  // namespace muster::server::api
