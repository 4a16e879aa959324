#include "server/api/target_lookup.hpp"

#include "domain/nesting.hpp"
#include "unit/server_documents/kept_documents.hpp"

namespace muster::server::api {
namespace {

class TargetLookupTest : public KeptDocuments {
 protected:
  TargetLookupTest() {
    for (std::size_t i = 0; i < hosts_.size(); ++i) {
      hosts_[i].id = HostId(i + 1);
      hosts_[i].name = fmt::format("h{}", i + 1);
      hosts_[i].state = HostState::kActive;
      all_.push_back(&hosts_[i]);
    }
  }
  // g0 is made of g1, and so on; the last one names h1.
  void KeepChain(std::size_t last) {
    for (std::size_t i = 0; i < last; ++i)
      Keep("group", fmt::format("g{}", i), fmt::format("targets: '@g{}'\n", i + 1));
    Keep("group", fmt::format("g{}", last), "hosts: [h1]\n");
  }
  Result<std::size_t> Count(const std::string& text) {
    TargetLookup lookup(store_, [this](const TargetLookup::SeeHosts& see) { see(all_); });
    const auto expression = lookup.Parse(text);
    if (!expression) return Fail(expression.error());
    const auto found = expression->Resolve(all_, lookup);
    if (!found) return Fail(found.error());
    return found->size();
  }

  std::array<Host, 3> hosts_;
  std::vector<const Host*> all_;
};

TEST_F(TargetLookupTest, GroupsAreMadeOfGroups) {
  KeepChain(kDeepestGroups);
  Keep("group", "more", "targets: '@g3 or h2'\n");
  EXPECT_EQ(Count("@g0").value_or(0), 1U);
  EXPECT_EQ(Count("@g0 or @more").value_or(0), 2U) << "a group that is known already counts too";
  EXPECT_EQ(Count("@nobody").error().code, ErrorCode::kNotFound);
}

TEST_F(TargetLookupTest, GroupsThatNestTooDeepAreAnErrorAndNothingWorse) {
  KeepChain(5'000);
  const auto found = Count("@g0");
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ErrorCode::kInvalid);
  EXPECT_NE(found.error().message.find(": @g0 -> @g1 -> "), std::string::npos)
      << found.error().message;
  EXPECT_LT(found.error().message.size(), 300U);
  EXPECT_EQ(Count(fmt::format("@g{}", 5'000 - kDeepestGroups)).value_or(0), 1U);
}

TEST_F(TargetLookupTest, HostsWithoutATaskWereSkippedAndNoOthers) {
  muster::Run run;
  run.id = RunId(1);
  run.state = RunState::kFailed;
  Targets targets;
  for (const auto& host : hosts_) targets.push_back({host.id, host.name});
  StageVisit visit;
  visit.visit = Visit(1);
  visit.hosts = Ordinals::All(3);
  visit.state = StageState::kFailed;
  TaskRecord failed;
  failed.key = {run.id, Visit(1), 0, HostId(1), Attempt(1)};
  failed.state = TaskState::kFailed;
  Commit(PutRun{run});
  Commit(PutTargets{run.id, std::make_shared<const Targets>(targets)});
  Commit(PutVisit{run.id, visit});
  Commit(PutTask{failed});
  EXPECT_EQ(Count("run:r1.skipped").value_or(0), 2U);
  EXPECT_EQ(Count("run:r1.failed").value_or(0), 1U);
  EXPECT_EQ(Count("run:r1.skipped and h1").value_or(0), 0U);
}

TEST_F(TargetLookupTest, GroupsInACircleAreAnError) {
  Keep("group", "one", "targets: '@two'\n");
  Keep("group", "two", "targets: '@one'\n");
  EXPECT_EQ(Count("@one").error().code, ErrorCode::kInvalid);
}

}  // namespace
}  // namespace muster::server::api
