#include "domain/audit_facts.hpp"
#include "unit/engine/engine_fixture.hpp"

namespace muster::engine {
namespace {

class Freezes : public EngineFixture {
 protected:
  std::uint64_t Freeze(muster::Freeze freeze) {
    freeze.reason = "storage is on fire";
    const auto id = Ask(FreezeRuns{.caller = kOperator, .freeze = std::move(freeze)});
    Settle();
    return AnswerTo<FreezeRuns>(id)->freezes.at(0).id;
  }
  Result<FreezeAnswer> Thaw(std::uint64_t id) {
    const auto request = Ask(ThawRuns{.caller = kOperator, .id = id, .reason = "it is out"});
    Settle();
    return AnswerTo<ThawRuns>(request);
  }
  StartRun Request(std::vector<std::uint64_t> hosts) {
    StartRun start;
    start.body_sha256 = "body";
    start.known = *store_.FindKey("", "");
    start.spec.stages = {{}};
    auto targets = std::make_shared<Targets>();
    for (const auto host : hosts) targets->push_back({HostId(host), "h" + std::to_string(host)});
    start.targets = std::move(targets);
    return start;
  }
  StartRun::Answer Started(StartRun start) {
    const auto id = Ask(std::move(start));
    Settle();
    const auto answer = AnswerTo<StartRun>(id);
    EXPECT_TRUE(answer) << answer.error().message;
    return *answer;
  }
  bool Passes(StartRun start) {
    return std::holds_alternative<RunStarted>(Started(std::move(start)));
  }
  void Maintain(std::vector<HostId> hosts, std::optional<Maintenance> maintenance) {
    Ask(MaintainHosts{.caller = kOperator,
                      .targets = "some",
                      .hosts = std::move(hosts),
                      .maintenance = std::move(maintenance)});
    Settle();
  }
  // As a new leader finds it.
  void StartAgain() {
    Lead();
    Settle();
  }

  const Caller kOperator{{}, "ann", "10.0.0.1", "c"};
};

TEST_F(Freezes, RefuseByNameAndReasonUntilThawed) {
  AddHosts(1);
  const auto id = Freeze({});
  const auto refused = std::get<GateClosed>(Started(Request({1})));
  EXPECT_EQ(refused.gate, "frozen");
  EXPECT_NE(refused.reason.find("storage is on fire"), std::string::npos) << refused.reason;
  EXPECT_NE(refused.reason.find("by ann"), std::string::npos) << refused.reason;
  EXPECT_NE(refused.reason.find("muster thaw " + FormatFreezeId(id)), std::string::npos);
  ASSERT_TRUE(Thaw(id));
  EXPECT_TRUE(Passes(Request({1})));
  EXPECT_EQ(Thaw(id).error().code, ErrorCode::kNotFound);
}

TEST_F(Freezes, OutliveTheLeader) {
  AddHosts(1);
  const auto id = Freeze({});
  StartAgain();
  EXPECT_FALSE(Passes(Request({1})));
  ASSERT_TRUE(Thaw(id));
  StartAgain();
  EXPECT_TRUE(Passes(Request({1})));
}

TEST_F(Freezes, EndByThemselvesWhenTheirTimeIsOver) {
  AddHosts(1);
  muster::Freeze freeze;
  freeze.until = now_.wall + std::chrono::hours(1);
  Freeze(freeze);
  Advance(std::chrono::minutes(59));
  EXPECT_FALSE(Passes(Request({1})));
  Advance(std::chrono::minutes(1));
  EXPECT_TRUE(Passes(Request({1})));
}

TEST_F(Freezes, LetAPersonThroughWhoMeansItAndNothingElse) {
  AddHosts(1);
  Freeze({});
  StartRun start = Request({1});
  start.during_freeze = true;
  start.origin = Origin::kTrigger;
  EXPECT_FALSE(Passes(start));
  start.origin = Origin::kEvent;
  EXPECT_FALSE(Passes(start));
  start.origin = Origin::kPerson;
  EXPECT_TRUE(Passes(start));
  const auto said = [&] {
    const std::string detail = (*store_.ReadAudit(1, 1000)).back().detail;
    return std::string(SplitDetail(detail).sentence);
  };
  EXPECT_TRUE(said().ends_with("; during a freeze"));
  ASSERT_TRUE(Thaw(0));
  EXPECT_TRUE(Passes(start));
  EXPECT_FALSE(said().ends_with("; during a freeze"));
}

TEST_F(Freezes, OfTriggersHoldNobodyElse) {
  AddHosts(1);
  muster::Freeze freeze;
  freeze.scope = FreezeScope::kTriggers;
  Freeze(freeze);
  StartRun start = Request({1});
  EXPECT_TRUE(Passes(start));
  start.origin = Origin::kEvent;
  EXPECT_TRUE(Passes(start));
  start.origin = Origin::kTrigger;
  EXPECT_FALSE(Passes(start));
}

TEST_F(Freezes, OfAJobHoldOnlyItsRuns) {
  AddHosts(1);
  muster::Freeze freeze;
  freeze.job = "deploy";
  Freeze(freeze);
  StartRun start = Request({1});
  EXPECT_TRUE(Passes(start));
  start.spec.job = "deploy";
  EXPECT_FALSE(Passes(start));
}

TEST_F(Freezes, OfAJobHoldRunsThatWouldStartIt) {
  AddHosts(1);
  muster::Freeze freeze;
  freeze.job = "deploy";
  Freeze(freeze);
  RunSpec deploy;
  deploy.job = "deploy";
  RunSpec between;
  between.job = "between";
  between.jobs["deploy"] = std::make_shared<const RunSpec>(deploy);
  StartRun start = Request({1});
  start.spec.job = "above";
  start.spec.jobs["between"] = std::make_shared<const RunSpec>(between);
  EXPECT_FALSE(Passes(start));
  start.during_freeze = true;
  EXPECT_TRUE(Passes(start));
}

TEST_F(Freezes, OfHostsHoldRunsThatHaveOneOrThatNobodyLookedAt) {
  AddHosts(1);
  muster::Freeze freeze;
  freeze.targets = "zone=sh1";
  const auto id = Freeze(freeze);
  StartRun start = Request({1});
  EXPECT_FALSE(Passes(start));
  start.frozen = {{id, 3}};
  EXPECT_FALSE(Passes(start));
  start.frozen = {{id, 0}};
  EXPECT_TRUE(Passes(start));
}

TEST_F(Freezes, LeaveOpenRunsAlone) {
  AddHosts(1);
  const RunId run = Start(1);
  Freeze({});
  End(TakeOrders().at(0));
  EXPECT_EQ(Find(run).state, RunState::kSucceeded);
}

TEST_F(Freezes, HoldTheRetryOfAnEndedRun) {
  AddHosts(1);
  const RunId run = Start(1);
  End(TakeOrders().at(0), TaskState::kFailed);
  Freeze({});
  RetryRun retry{.caller = kOperator, .run = run, .from = {}, .known = *store_.ReadWholeRun(run)};
  auto id = Ask(retry);
  Settle();
  EXPECT_TRUE(std::holds_alternative<GateClosed>(*replies_.at(id)));
  retry.during_freeze = true;
  id = Ask(retry);
  Settle();
  EXPECT_TRUE(std::holds_alternative<RunSteered>(*replies_.at(id)));
}

TEST_F(Freezes, AreOnTheAuditTrailUnderTheirNumber) {
  const auto id = Freeze({});
  ASSERT_TRUE(Thaw(0));
  const auto trail = *store_.ReadAudit(1, 1000);
  ASSERT_EQ(trail.size(), 2U);
  EXPECT_EQ(trail[0].number, id);
  EXPECT_EQ(trail[0].act, "freeze");
  EXPECT_EQ(trail[0].object, FormatFreezeId(id));
  EXPECT_EQ(trail[1].act, "thaw");
  EXPECT_EQ(trail[1].reason, "it is out");
}

TEST_F(Freezes, HostsInMaintenanceAreLeftOutAndNamed) {
  AddHosts(3);
  Maintain({HostId(2)}, Maintenance{.until = {}, .reason = "new disks", .by = {}, .at = {}});
  StartAgain();
  const auto started = std::get<RunStarted>(Started(Request({1, 2, 3})));
  EXPECT_EQ(started.hosts, 2U);
  EXPECT_EQ(started.left_out, "1 in maintenance: h2 (ann: new disks)");
  EXPECT_EQ(Find(started.run).spec.left_out, started.left_out);
  EXPECT_EQ((**store_.FindTargets(started.run)).at(1).name, "h3");
  EXPECT_EQ((*store_.ReadAudit(1, 1000)).back().names, "h[1,3]");

  StartRun all = Request({1, 2, 3});
  all.include_maintenance = true;
  EXPECT_EQ(std::get<RunStarted>(Started(all)).hosts, 3U);
  EXPECT_EQ(std::get<GateClosed>(Started(Request({2}))).gate, "maintenance");
  Maintain({HostId(2)}, std::nullopt);
  EXPECT_EQ(std::get<RunStarted>(Started(Request({1, 2, 3}))).hosts, 3U);
}

TEST_F(Freezes, MaintenanceEndsWithItsTime) {
  AddHosts(1);
  Maintain(
      {HostId(1)},
      Maintenance{.until = now_.wall + std::chrono::minutes(5), .reason = "x", .by = {}, .at = {}});
  EXPECT_FALSE(Passes(Request({1})));
  Advance(std::chrono::minutes(5));
  EXPECT_TRUE(Passes(Request({1})));
}

}  // namespace
}  // namespace muster::engine
