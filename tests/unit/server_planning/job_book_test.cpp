#include "server/planning/job_book.hpp"

#include "domain/nesting.hpp"
#include "unit/server_planning/kept_documents.hpp"

namespace muster::server {
namespace {

class JobBookTest : public KeptDocuments {};

constexpr const char* kWork = "stages: [{name: work, script: 'true'}]\n";

TEST_F(JobBookTest, PlanHasTheParametersAndPinsEveryChild) {
  Keep("job", "leaf",
       "params: {days: {default: '7'}, who: {required: true}}\n" + std::string(kWork));
  Keep("job", "middle", "stages: [{name: next, job: {name: leaf, params: {who: me}}}]\n");
  Keep("job", "top",
       "params: {version: {required: true}, token: {type: secret}}\ntargets: app=web\n"
       "stages:\n  - {name: a, job: middle}\n"
       "  - {name: b, batches: [1], job: {name: leaf, params: {who: you}}}\n");
  JobBook book(store_);
  const auto plan = book.PlanOf("top", {{"version", "2"}, {"token", "secret:deploy"}});
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(plan->job, "top");
  EXPECT_EQ(plan->version, 3U);
  EXPECT_EQ(plan->targets, "app=web");
  EXPECT_EQ(plan->params, (std::vector<Param>{{"version", "2", false}, {"token", "deploy", true}}));
  ASSERT_EQ(plan->jobs.size(), 2U);
  const RunSpec& middle = *plan->jobs.at("middle");
  EXPECT_EQ(middle.version, 2U);
  EXPECT_EQ(middle.jobs.at("leaf"), plan->jobs.at("leaf"));
  EXPECT_EQ(plan->jobs.at("leaf")->params, (std::vector<Param>{{"days", "7", false}}));
  // The batched stage became a sequence.
  ASSERT_EQ(plan->stages.size(), 3U);
  EXPECT_TRUE(std::holds_alternative<SequenceAction>(plan->stages[1].action));
}

TEST_F(JobBookTest, SaysWhatIsMissing) {
  Keep("job", "top", "params: {version: {required: true}}\n" + std::string(kWork));
  Keep("job", "lost", "stages: [{name: a, job: gone}]\n");
  JobBook book(store_);
  EXPECT_EQ(book.PlanOf("nobody", {}).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(book.PlanOf("top", {}).error().code, ErrorCode::kInvalid);
  EXPECT_EQ(book.PlanOf("top", {{"version", "1"}, {"other", "1"}}).error().code,
            ErrorCode::kInvalid);
  EXPECT_EQ(book.PlanOf("lost", {}).error().code, ErrorCode::kNotFound);
}

TEST_F(JobBookTest, CircleThatGotInIsNoEndlessPlan) {
  Keep("job", "one", "stages: [{name: a, job: two}]\n");
  Keep("job", "two", "stages: [{name: a, job: one}]\n");
  JobBook book(store_);
  EXPECT_EQ(book.PlanOf("one", {}).error().code, ErrorCode::kInvalid);
}

TEST_F(JobBookTest, PlanIsNoDeeperThanRunsMayNest) {
  Keep("job", "n0", kWork);
  for (std::size_t i = 1; i <= 3'000; ++i)
    Keep("job", fmt::format("n{}", i), fmt::format("stages: [{{name: a, job: n{}}}]\n", i - 1));
  JobBook book(store_);
  EXPECT_TRUE(book.PlanOf(fmt::format("n{}", kDeepestJobs), {}));
  const auto deeper = book.PlanOf(fmt::format("n{}", kDeepestJobs + 1), {});
  ASSERT_FALSE(deeper) << "also when the levels below are known";
  EXPECT_EQ(deeper.error().code, ErrorCode::kInvalid);
  const auto deepest = JobBook(store_).PlanOf("n3000", {});
  ASSERT_FALSE(deepest);
  EXPECT_EQ(deepest.error().code, ErrorCode::kInvalid);
  EXPECT_NE(deepest.error().message.find("n3000 -> n2999"), std::string::npos)
      << deepest.error().message;
}

TEST_F(JobBookTest, SecretIsNeverALiteral) {
  Keep("job", "top", "params: {token: {type: secret}}\n" + std::string(kWork));
  JobBook book(store_);
  const auto plan = book.PlanOf("top", {{"token", "hunter2"}});
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().code, ErrorCode::kInvalid);
  EXPECT_EQ(plan.error().message.find("hunter2"), std::string::npos);
}

TEST_F(JobBookTest, PlanIsNoLargerThanCanBeKept) {
  const std::string script =
      "stages: [{name: work, script: 'true " + std::string(900'000, 'x') + "'}]\n";
  std::string some = "stages:\n";
  std::string all = some;
  for (int i = 0; i < 100; ++i) {
    Keep("job", fmt::format("part{}", i), script);
    const auto stage = fmt::format("- {{name: s{}, job: part{}}}\n", i, i);
    if (i < 60) some += stage;
    all += stage;
  }
  Keep("job", "some", some);
  Keep("job", "all", all);
  JobBook book(store_);
  EXPECT_TRUE(book.PlanOf("some", {}));
  const auto refused = JobBook(store_).PlanOf("all", {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kInvalid);
  EXPECT_EQ(book.PlanOf("all", {}).error().code, ErrorCode::kInvalid)
      << "also when most of it is known";
}

TEST_F(JobBookTest, BookWithoutCommandsKeepsNoScripts) {
  Keep("job", "top", "stages: [{name: work, script: 'true " + std::string(900'000, 'x') + "'}]\n");
  JobBook book(store_, JobBook::Reads::kWithoutCommands);
  ASSERT_TRUE(book.Find("top"));
  EXPECT_LT(book.BytesRead(), 10'000U);
}

TEST_F(JobBookTest, DeletedJobIsNotThere) {
  Keep("job", "top", kWork);
  Drop("job", "top");
  JobBook book(store_);
  EXPECT_EQ(book.PlanOf("top", {}).error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace muster::server
