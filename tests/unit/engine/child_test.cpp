#include "domain/audit_facts.hpp"
#include "domain/plan_bytes.hpp"
#include "unit/engine/flow_fixture.hpp"

namespace muster::engine {
namespace {

class Children : public FlowFixture {
 protected:
  // The parameters of a child of a run that has a secret `token` and a plain `word`.
  std::vector<Param> ParamsOfChild(std::map<std::string, std::string> given,
                                   std::vector<Param> defaults) {
    AddHosts(1);
    RunSpec child;
    child.job = "child";
    child.params = std::move(defaults);
    child.stages = {Named("down")};
    RunSpec spec;
    spec.job = "parent";
    spec.params = {{"token", "deploy", true}, {"word", "hello", false}};
    spec.jobs["child"] = std::make_shared<const RunSpec>(child);
    spec.stages = {With("sub", JobAction{.job = "child", .params = std::move(given)})};
    StartSpec(1, spec);
    EXPECT_EQ(Sent(), Hosts{1});
    return Find(orders_.front().task.run).spec.params;
  }
};

TEST_F(Children, TakeWhatTheStageSaysOverTheirDefaults) {
  EXPECT_EQ(
      ParamsOfChild({{"a", "${{ params.word }} you"}, {"b", "new"}},
                    {{"b", "old", false}, {"c", "kept", false}}),
      (std::vector<Param>{{"b", "new", false}, {"c", "kept", false}, {"a", "hello you", false}}));
}

TEST_F(Children, ThatTheirParametersMakeTooLargeFailTheStage) {
  AddHosts(1);
  muster::Command command;
  command.script = std::string(1 << 20, '#');
  RunSpec child;
  child.job = "child";
  child.stages.resize(63);
  const auto shared = std::make_shared<const muster::Command>(std::move(command));
  for (auto& stage : child.stages) stage.action = shared;
  RunSpec spec;
  spec.job = "parent";
  spec.params = {{"p", std::string(510'000, 'x'), false}};
  spec.jobs["child"] = std::make_shared<const RunSpec>(child);
  const std::string p = "${{ params.p }}";
  spec.stages = {With("sub", JobAction{.job = "child", .params = {{"a", p}, {"b", p}}})};
  ASSERT_TRUE(CheckPlanBytes(spec));
  const RunId run = StartSpec(1, spec);
  EXPECT_EQ(StageOf(run, "sub"), StageState::kFailed);
}

TEST_F(Children, AreOnTheAuditTrailBehindTheirParents) {
  AddHosts(3);
  RunSpec deepest;
  deepest.job = "deepest";
  deepest.version = 4;
  deepest.stages = {Named("down")};
  RunSpec child;
  child.job = "child";
  child.stages = {With("deeper", JobAction{.job = "deepest", .params = {{"word", "x"}}})};
  child.jobs["deepest"] = std::make_shared<const RunSpec>(deepest);
  RunSpec spec;
  spec.job = "parent";
  spec.jobs["child"] = std::make_shared<const RunSpec>(child);
  spec.stages = {With("sub", JobAction{.job = "child", .params = {}})};
  const RunId run = StartSpec(3, spec);
  std::vector<AuditEntry> starts;
  for (const auto& entry : *store_.ReadAudit(1, 100))
    if (entry.act == kActRunStart) starts.push_back(entry);
  ASSERT_EQ(starts.size(), 3U) << "one each";
  for (std::size_t i = 0; i < starts.size(); ++i) {
    EXPECT_EQ(starts[i].run, RunId(run.value + i)) << "in the order of the runs";
    EXPECT_EQ(starts[i].actor, starts[0].actor);
    EXPECT_EQ(starts[i].hosts, 3U);
    EXPECT_EQ(starts[i].names, starts[0].names);
  }
  const auto [sentence, facts] = SplitDetail(starts[2].detail);
  EXPECT_EQ(sentence,
            "job deepest version 4 on 3 hosts, stage deeper of " + FormatRunId(starts[1].run));
  for (const auto& part :
       {R"("parent":")" + FormatRunId(starts[1].run) + '"', std::string(R"("stage":"deeper")"),
        std::string(R"("params":{"word":"x"})")})
    EXPECT_NE(facts.find(part), std::string_view::npos) << part << " in " << facts;
  EXPECT_FALSE(starts[2].command_sha256.empty());
}

TEST_F(Children, SecretIsHandedOnByItsName) {
  EXPECT_EQ(ParamsOfChild({{"a", "${{ params.token }}"}, {"b", "${{params.token}}"}},
                          {{"b", "other", true}}),
            (std::vector<Param>{{"b", "deploy", true}, {"a", "deploy", true}}));
}

// Values come from hosts and remote answers too.
TEST_F(Children, RulesOfTheirParametersHold) {
  AddHosts(1);
  RunSpec child;
  child.job = "child";
  child.stages = {Named("down")};
  child.accepts = {{.name = "mode", .type = ParamType::kChoice, .choices = {"slow", "fast"}},
                   {.name = "dir", .pattern = "^/srv/[a-z]+$"},
                   {.name = "n", .type = ParamType::kInteger},
                   {.name = "key", .type = ParamType::kSecret}};
  RunSpec spec;
  spec.job = "parent";
  spec.params = {{"token", "deploy", true}, {"word", "hello", false}};
  spec.jobs["child"] = std::make_shared<const RunSpec>(child);
  const auto starts = [&](std::map<std::string, std::string> given) {
    spec.stages = {With("sub", JobAction{.job = "child", .params = std::move(given)})};
    const RunId run = StartSpec(1, spec);
    if (StageOf(run, "sub") == StageState::kFailed) return false;
    EXPECT_EQ(StageOf(run, "sub"), StageState::kRunning);
    return true;
  };
  EXPECT_TRUE(starts({{"mode", "fast"}, {"dir", "/srv/web"}, {"n", "7"}}));
  EXPECT_TRUE(starts({{"key", "${{ params.token }}"}}));
  EXPECT_FALSE(starts({{"mode", "${{ params.word }}"}}));
  EXPECT_FALSE(starts({{"dir", "/etc"}}));
  EXPECT_FALSE(starts({{"n", "seven"}}));
  EXPECT_FALSE(starts({{"key", "secret:deploy"}})) << "a text does not choose a secret";
  EXPECT_FALSE(starts({{"dir", "${{ params.token }}"}})) << "nor does a secret become a text";
  EXPECT_FALSE(starts({{"dir", "/srv/" + std::string(kMaxParamBytes, 'a')}}));
}

// Otherwise what a host reported would be evaluated in the orders for others.
TEST_F(Children, ValueOfAParameterIsNeverEvaluated) {
  AddHosts(1);
  RunSpec spec;
  spec.job = "job";
  spec.params = {{"word", "${{ run.by }}", false}, {"odd", "${{ nothing", false}};
  spec.stages = {Named("down")};
  StartSpec(1, spec);
  ASSERT_EQ(Sent(), Hosts{1});
  const auto& env = orders_.front().command->env;
  EXPECT_NE(std::ranges::find(
                env, std::pair<std::string, std::string>("MUSTER_PARAM_WORD", "${{ run.by }}")),
            env.end());
  EXPECT_NE(std::ranges::find(
                env, std::pair<std::string, std::string>("MUSTER_PARAM_ODD", "${{ nothing")),
            env.end());
}

TEST_F(Children, DefaultThatIsASecretIsNeverReplacedByText) {
  EXPECT_EQ(ParamsOfChild({{"a", "plain"}}, {{"a", "kept", true}}),
            (std::vector<Param>{{"a", "kept", true}}));
}

}  // namespace
}  // namespace muster::engine
