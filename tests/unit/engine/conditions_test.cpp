#include "domain/condition.hpp"
#include "unit/engine/trigger_fixture.hpp"

namespace muster::engine {
namespace {

using std::chrono::seconds;

// A trigger every ten minutes, whose job checks a value and tells of changes.
class Conditions : public TriggerFixture {
 protected:
  Conditions() {
    check_.request.url = "https://metrics.example/${{ params.what }}";
    check_.value = "/value";
    check_.bound = "0.9";
    plan_ = [this](const PrepareSlot&) -> Result<SlotPlan> {
      SlotPlan plan = WaitPlan();
      plan.spec.stages = Stages();
      plan.spec.params = params_;
      return plan;
    };
  }
  std::vector<StageSpec> Stages() const {
    StageSpec tell = With("tell", NotifyAction{.channel = "ops",
                                               .message = "${{ stages.check.outputs.state }} "
                                                          "${{ stages.check.outputs.value }}"});
    tell.when = "stages.check.outputs.changed";
    return {With("check", check_), std::move(tell)};
  }
  void Begin() { Apply(Spec("watch", "*/10 * * * *")); }

  ServerOrder Ordered() {
    EXPECT_EQ(server_orders_.size(), 1U);
    ServerOrder order = server_orders_.empty() ? ServerOrder{} : server_orders_.back();
    server_orders_.clear();
    return order;
  }
  void Report(const ServerOrder& order, TaskState state, const Outputs& outputs = {}) {
    ServerReport report{.task = order.task, .end = {}};
    report.end.state = state;
    report.end.outputs = outputs;
    report.end.reason = state == TaskState::kSucceeded ? "" : "no route to host";
    Tell(report);
    Serve();
  }
  // The next slot's run, whose check is answered so. What it would tell, "" for nothing.
  std::string Check(const std::string& value) {
    Pass(10 * kMinute);
    Report(Ordered(), TaskState::kSucceeded, {{"value", value}});
    return TakeMessage();
  }
  std::string TakeMessage() {
    if (server_orders_.empty()) return "";
    message_ = Ordered();
    return std::get<NotifyAction>(message_.what).message;
  }
  // The same, and the message arrives.
  std::string Told(const std::string& value) {
    std::string message = Check(value);
    if (!message.empty()) Report(message_, TaskState::kSucceeded);
    return message;
  }
  StageState CheckState() { return StageOf(Row("watch").last_run, "check"); }

  ConditionAction check_;
  std::vector<Param> params_ = {{.name = "what", .value = "disk"}};
  ServerOrder message_;
};

TEST_F(Conditions, RiseAndFallAreToldOnce) {
  Begin();
  EXPECT_EQ(Told("0.5"), "");
  EXPECT_EQ(Told("0.95"), "firing 0.95");
  EXPECT_EQ(Told("0.97"), "");
  EXPECT_EQ(Told("0.3"), "ok 0.3");
  EXPECT_EQ(Told("0.2"), "");
  EXPECT_EQ(Find(Row("watch").last_run).state, RunState::kSucceeded);
  EXPECT_TRUE(Row("watch").data.empty());
}

TEST_F(Conditions, RequestIsRendered) {
  Begin();
  Pass(10 * kMinute);
  const auto order = Ordered();
  EXPECT_EQ(std::get<ConditionAction>(order.what).request.url, "https://metrics.example/disk");
}

TEST_F(Conditions, HoldsOverFirings) {
  check_.hold = 20 * kMinute;
  Begin();
  EXPECT_EQ(Told("1"), "");
  const auto since = Row("watch").data.at("condition.check.since");
  EXPECT_EQ(Row("watch").data.at("condition.check.state"), "pending");
  EXPECT_EQ(Told("1"), "");
  EXPECT_EQ(Told("1"), "firing 1");
  EXPECT_EQ(Row("watch").data.at("condition.check.state"), "firing");
  EXPECT_EQ(Row("watch").data.at("condition.check.since"), since);
  EXPECT_EQ(Told("0"), "ok 0");
}

TEST_F(Conditions, AreRememberedOverRestarts) {
  check_.hold = 20 * kMinute;
  Begin();
  for (const auto* expected : {"", "", "firing 1", ""}) {
    EXPECT_EQ(Told("1"), expected);
    Restart();
  }
  EXPECT_EQ(Told("0"), "ok 0");
  Restart();
  EXPECT_EQ(Told("0"), "");
}

TEST_F(Conditions, CrashBetweenCheckAndMessageTellsOnce) {
  Begin();
  EXPECT_EQ(Check("1"), "firing 1");
  Restart();  // the message was under way: it is sent again, of the same run
  Pass(seconds(30));
  EXPECT_EQ(TakeMessage(), "firing 1");
  Report(message_, TaskState::kSucceeded);
  EXPECT_EQ(Told("1"), "");
}

TEST_F(Conditions, CheckThatWasLostIsMadeAgain) {
  Begin();
  Pass(10 * kMinute);
  const auto lost = Ordered();
  Restart();
  Pass(seconds(30));
  const auto again = Ordered();
  EXPECT_NE(again.task, lost.task);
  Report(lost, TaskState::kSucceeded, {{"value", "0"}});  // too late
  Report(again, TaskState::kSucceeded, {{"value", "1"}});
  EXPECT_EQ(TakeMessage(), "firing 1");
}

TEST_F(Conditions, CheckThatChangesSomethingIsNotMadeAgain) {
  check_.request.method = "POST";
  Begin();
  Pass(10 * kMinute);
  Ordered();
  Restart();
  Pass(seconds(30));
  EXPECT_TRUE(server_orders_.empty());
  EXPECT_EQ(CheckState(), StageState::kFailed);
}

TEST_F(Conditions, MessageThatDidNotArriveIsFoundAgain) {
  Begin();
  EXPECT_EQ(Check("1"), "firing 1");
  Report(message_, TaskState::kFailed);
  EXPECT_EQ(Find(Row("watch").last_run).state, RunState::kFailed);
  EXPECT_EQ(Told("1"), "firing 1");
  EXPECT_EQ(Told("1"), "");
  EXPECT_EQ(Check("0"), "ok 0");
  Report(message_, TaskState::kFailed);
  EXPECT_EQ(Told("0"), "ok 0");
  EXPECT_EQ(Told("0"), "");
}

TEST_F(Conditions, FailedCheckIsAFailureAndChangesNothing) {
  Begin();
  EXPECT_EQ(Told("1"), "firing 1");
  const auto data = Row("watch").data;
  Pass(10 * kMinute);
  Report(Ordered(), TaskState::kFailed);
  EXPECT_EQ(CheckState(), StageState::kFailed);
  EXPECT_EQ(Row("watch").data, data);
  EXPECT_EQ(Told("0"), "ok 0");
}

TEST_F(Conditions, ValueThatIsNoNumberIsAFailure) {
  Begin();
  EXPECT_EQ(Check("high"), "");
  EXPECT_EQ(CheckState(), StageState::kFailed);
  EXPECT_NE(Find(Row("watch").last_run).stages.front().reason.find("'high' is no number"),
            std::string::npos);
  EXPECT_EQ(Check("NaN"), "");
  EXPECT_EQ(CheckState(), StageState::kFailed);
}

TEST_F(Conditions, MissingValueMayCountAsFiring) {
  check_.missing = MissingValue::kFiring;
  Begin();
  Pass(10 * kMinute);
  Report(Ordered(), TaskState::kSucceeded);
  EXPECT_EQ(TakeMessage(), "firing ");
}

TEST_F(Conditions, BoundIsATemplate) {
  check_.bound = "${{ params.limit }}";
  params_.push_back({.name = "limit", .value = "50"});
  Begin();
  EXPECT_EQ(Told("49"), "");
  EXPECT_EQ(Told("51"), "firing 51");
}

TEST_F(Conditions, BoundThatIsNoNumberFailsBeforeAnythingIsAsked) {
  check_.bound = "${{ params.what }}";
  Begin();
  Pass(10 * kMinute);
  EXPECT_TRUE(server_orders_.empty());
  EXPECT_EQ(CheckState(), StageState::kFailed);
}

TEST_F(Conditions, StateIsAStatusForSwitch) {
  plan_ = [this](const PrepareSlot&) -> Result<SlotPlan> {
    SlotPlan plan = WaitPlan();
    plan.spec.stages = {With("check", check_), With("alarm", NotifyAction{"ops", "alarm"})};
    plan.spec.stages[1].section = Section::kBranch;
    plan.spec.stages[0].next = {{"firing", 1}};
    plan.spec.params = params_;
    return plan;
  };
  Begin();
  EXPECT_EQ(Told("0"), "");
  EXPECT_EQ(Told("1"), "alarm");
}

TEST_F(Conditions, OfOneJobAreIndependent) {
  plan_ = [this](const PrepareSlot&) -> Result<SlotPlan> {
    SlotPlan plan = WaitPlan();
    plan.spec.stages = {With("disk", check_), With("load", check_)};
    plan.spec.params = params_;
    return plan;
  };
  Begin();
  const auto answer = [this](const std::string& disk, const std::string& load) {
    Pass(10 * kMinute);
    Report(Ordered(), TaskState::kSucceeded, {{"value", disk}});
    Report(Ordered(), TaskState::kSucceeded, {{"value", load}});
  };
  answer("1", "0");
  EXPECT_EQ(Row("watch").data.at("condition.disk.state"), "firing");
  EXPECT_FALSE(Row("watch").data.contains("condition.load.state"));
  answer("0", "1");
  EXPECT_FALSE(Row("watch").data.contains("condition.disk.state"));
  EXPECT_EQ(Row("watch").data.at("condition.load.state"), "firing");
}

TEST_F(Conditions, OfRunsSideBySideTheFirstToEndLeavesItsMemory) {
  TriggerSpec spec = Spec("watch", "*/10 * * * *");
  spec.overlap = OverlapRule::kAllow;
  spec.overlap_allowed = 2;
  Apply(spec);
  Pass(10 * kMinute);
  const auto first = Ordered();
  Pass(10 * kMinute);
  const auto second = Ordered();
  Report(first, TaskState::kSucceeded, {{"value", "1"}});
  EXPECT_EQ(TakeMessage(), "firing 1");
  Report(message_, TaskState::kSucceeded);
  Report(second, TaskState::kSucceeded, {{"value", "0"}});
  EXPECT_EQ(TakeMessage(), "");
  EXPECT_EQ(Row("watch").data.at("condition.check.state"), "firing");
}

TEST_F(Conditions, StagesThatAreGoneLeaveNothing) {
  Begin();
  EXPECT_EQ(Told("1"), "firing 1");
  plan_ = [this](const PrepareSlot&) { return Result<SlotPlan>(WaitPlan()); };
  Pass(11 * kMinute);
  EXPECT_TRUE(Row("watch").data.empty());
}

TEST_F(Conditions, ByHandHoldForNoTime) {
  params_ = {{.name = "what", .value = "disk"}};
  const auto by_hand = [this] {
    RunSpec spec;
    spec.job = "job";
    spec.stages = Stages();
    spec.params = params_;
    const RunId run = StartSpec(1, std::move(spec));
    Report(Ordered(), TaskState::kSucceeded, {{"value", "1"}});
    return run;
  };
  by_hand();
  EXPECT_EQ(TakeMessage(), "firing 1");
  Report(message_, TaskState::kSucceeded);
  check_.hold = kMinute;
  const RunId run = by_hand();
  EXPECT_EQ(TakeMessage(), "");
  EXPECT_EQ(Find(run).state, RunState::kSucceeded);
}

TEST_F(Conditions, TasksDoNotWriteWhatIsRemembered) {
  AddHosts(1);
  plan_ = [this](const PrepareSlot&) -> Result<SlotPlan> {
    SlotPlan plan = WaitPlan();
    plan.spec.stages = {Named("work"), With("check", check_)};
    plan.spec.params = params_;
    return plan;
  };
  Begin();
  Pass(10 * kMinute);
  ASSERT_EQ(Sent(), Hosts{1});
  EndWith({{"muster.data.condition.check.state", "firing"}, {"muster.data.cursor", "5"}});
  Serve();
  Report(Ordered(), TaskState::kSucceeded, {{"value", "0"}});
  EXPECT_EQ(Row("watch").data, (std::map<std::string, std::string>{{"cursor", "5"}}));
}

// What a trigger carries reaches what its runs do.
class TriggerData : public TriggerFixture {
 protected:
  TriggerData() {
    AddHosts(1);
    plan_ = [this](const PrepareSlot&) -> Result<SlotPlan> {
      SlotPlan plan = WaitPlan();
      auto command = std::make_shared<muster::Command>();
      command->args = {"${{ trigger.name }}", "${{ trigger.data.cursor | default: 'none' }}"};
      plan.spec.stages = {With("work", HostAction(command))};
      return plan;
    };
    Apply(Spec("hourly", "0 * * * *"));
  }
  // The command of the next run, which then says this.
  muster::Command Next(const Outputs& outputs) {
    Pass(kHour);
    EXPECT_EQ(Sent(), Hosts{1});
    const muster::Command command = orders_.empty() ? muster::Command{} : *orders_.front().command;
    EndWith(outputs);
    Serve();
    return command;
  }
  static std::string Variable(const muster::Command& command, const std::string& name) {
    for (const auto& [variable, value] : command.env)
      if (variable == name) return value;
    return "(not set)";
  }
};

TEST_F(TriggerData, IsInTheEnvironmentAndInTemplates) {
  const auto first = Next({{"muster.data.cursor", "17"}, {"muster.data.last-page", "2"}});
  EXPECT_EQ(first.args, (std::vector<std::string>{"hourly", "none"}));
  EXPECT_EQ(Variable(first, "MUSTER_TRIGGER"), "hourly");
  EXPECT_EQ(Variable(first, "MUSTER_SLOT"), FormatTime(At(9)));
  EXPECT_EQ(Variable(first, "MUSTER_DATA_CURSOR"), "(not set)");
  const auto second = Next({{"muster.data.cursor", "18"}});
  EXPECT_EQ(second.args, (std::vector<std::string>{"hourly", "17"}));
  EXPECT_EQ(Variable(second, "MUSTER_DATA_CURSOR"), "17");
  EXPECT_EQ(Variable(second, "MUSTER_DATA_LAST_PAGE"), "2");
}

TEST_F(TriggerData, IsBounded) {
  Next({{"muster.data.small", "1"}, {"muster.data.large", std::string(60'000, 'x')}});
  Next({{"muster.data.more", std::string(10'000, 'y')}, {"muster.data.small", "2"}});
  const auto data = Row("hourly").data;
  EXPECT_FALSE(data.contains("more"));
  EXPECT_EQ(data.at("small"), "2");
  EXPECT_EQ(data.at("large").size(), 60'000U);
}

TEST_F(TriggerData, IsNotThereInARunByHand) {
  RunSpec spec;
  spec.job = "job";
  auto command = std::make_shared<muster::Command>();
  command->args = {"${{ trigger.name | default: 'nobody' }}"};
  spec.stages = {With("work", HostAction(command))};
  StartSpec(1, std::move(spec));
  ASSERT_EQ(Sent(), Hosts{1});
  EXPECT_EQ(orders_.front().command->args, std::vector<std::string>{"nobody"});
  EXPECT_EQ(Variable(*orders_.front().command, "MUSTER_TRIGGER"), "(not set)");
}

}  // namespace
}  // namespace muster::engine
