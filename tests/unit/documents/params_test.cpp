#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support.hpp"

namespace muster::documents {
namespace {

using Given = std::vector<std::pair<std::string, std::string>>;
using testing::HasSubstr;
using testing::Not;

const JobDocument& Job() {
  static const JobDocument job =
      JobOf(JobWith("params:\n"
                    "  version: {required: true, pattern: '^[0-9.]+$'}\n"
                    "  count: {type: integer, default: 3}\n"
                    "  ratio: {type: number}\n"
                    "  force: {type: boolean}\n"
                    "  colour: {type: choice, choices: [red, green]}\n"
                    "  token: {type: secret}\n"
                    "  db-pass: {type: secret, default: secret:db}\n"
                    "stages: [{name: a, script: x}]\n"));
  return job;
}

std::string Mistake(const Given& given) {
  const auto params = ResolveParams(Job(), given);
  if (params) return "";
  EXPECT_EQ(params.error().code, ErrorCode::kInvalid);
  return params.error().message;
}

TEST(ResolveParams, TakesWhatIsGivenAndTheDefaultsOfTheRest) {
  const auto params = ResolveParams(Job(), {{"token", "secret:api"}, {"version", "6.1"}});
  ASSERT_TRUE(params) << params.error().message;
  const std::vector<Param> expected = {{"version", "6.1", false},
                                       {"count", "3", false},
                                       {"token", "api", true},
                                       {"db-pass", "db", true}};
  EXPECT_EQ(*params, expected);
}

TEST(ResolveParams, EveryTypeTakesItsOwn) {
  EXPECT_EQ(Mistake({{"version", "1"}, {"count", "-7"}, {"ratio", "1e3"}, {"force", "true"}}), "");
  EXPECT_EQ(Mistake({{"version", "1"}, {"ratio", "-0.5"}, {"colour", "green"}}), "");
  EXPECT_THAT(Mistake({{"version", "1"}, {"count", "7x"}}), HasSubstr("not a whole number"));
  EXPECT_THAT(Mistake({{"version", "1"}, {"count", ""}}), HasSubstr("not a whole number"));
  EXPECT_THAT(Mistake({{"version", "1"}, {"ratio", "nan"}}), HasSubstr("not a number"));
  EXPECT_THAT(Mistake({{"version", "1"}, {"force", "yes"}}), HasSubstr("true or false"));
  EXPECT_THAT(Mistake({{"version", "1"}, {"colour", "blue"}}), HasSubstr("one of red, green"));
}

TEST(ResolveParams, ALiteralSecretIsRefusedWithoutRepeatingIt) {
  const auto mistake = Mistake({{"version", "1"}, {"token", "hunter2"}});
  EXPECT_THAT(mistake, HasSubstr("secret:NAME"));
  EXPECT_THAT(mistake, Not(HasSubstr("hunter2")));
  EXPECT_NE(Mistake({{"version", "1"}, {"token", "secret:"}}), "");
}

TEST(ResolveParams, EveryMistakeIsToldAtOnce) {
  const auto mistake =
      Mistake({{"versoin", "1"}, {"count", "x"}, {"force", "true"}, {"force", "false"}});
  EXPECT_THAT(mistake, HasSubstr("no parameter 'versoin'; did you mean 'version'?"));
  EXPECT_THAT(mistake, HasSubstr("needs parameter 'version'"));
  EXPECT_THAT(mistake, HasSubstr("'count'"));
  EXPECT_THAT(mistake, HasSubstr("'force' is given twice"));
}

TEST(ResolveParams, APatternIsHeldAgainstTheValue) {
  EXPECT_THAT(Mistake({{"version", "6.1; reboot"}}), HasSubstr("does not match ^[0-9.]+$"));
}

TEST(Params, NamesThatMeetInOneVariableAreRefused) {
  EXPECT_EQ(ParamVariable("db-pass"), "MUSTER_PARAM_DB_PASS");
  EXPECT_THAT(ProblemsOf(JobWith("params: {a-b: {}, a_b: {}}\nstages: [{name: a, script: x}]\n")),
              HasSubstr("would both be $MUSTER_PARAM_A_B"));
}

using Data = std::map<std::string, std::string>;

TriggerSpec Carrying(std::set<std::string> names) {
  TriggerSpec trigger;
  trigger.params = {{"version", "1"}};
  trigger.carry = std::move(names);
  return trigger;
}

TEST(SlotParams, CarriedDataIsTakenOnlyWhereTheTriggerSaysSo) {
  const Data data{{"count", "7"}, {"ratio", "2"}, {"unknown", "x"}};
  const auto slot = SlotParamsOf(Job(), Carrying({"count", "unknown"}), data);
  EXPECT_EQ(slot.given, (Given{{"version", "1"}, {"count", "7"}}));
  EXPECT_TRUE(slot.refused.empty());
  EXPECT_EQ(SlotParamsOf(Job(), Carrying({}), data).given, (Given{{"version", "1"}}));
}

TEST(SlotParams, CarriedDataNeverNamesASecret) {
  const Data data{{"token", "secret:crown"}, {"db-pass", "secret:crown"}};
  const auto slot = SlotParamsOf(Job(), Carrying({"token", "db-pass"}), data);
  const auto params = ResolveParams(Job(), slot.given);
  ASSERT_TRUE(params) << params.error().message;
  EXPECT_EQ(params->back(), (Param{"db-pass", "db", true}));
  for (const auto& param : *params) EXPECT_NE(param.value, "crown");
}

TEST(SlotParams, ValuesThatTheRulesRefuseAreLeftOut) {
  const Data data{{"colour", "blue"}, {"count", "many"}, {"force", "true"}, {"version", "x"}};
  const auto slot = SlotParamsOf(Job(), Carrying({"colour", "count", "force", "version"}), data);
  EXPECT_EQ(slot.given, (Given{{"version", "1"}, {"force", "true"}}));
  EXPECT_EQ(slot.refused, (std::vector<std::string>{"count", "colour"}));
  EXPECT_TRUE(ResolveParams(Job(), slot.given));
}

// Otherwise a host would decide whether the trigger can start anything.
TEST(SlotParams, ParametersThatMustBeGivenAreTheTriggersToGive) {
  TriggerSpec trigger;
  trigger.carry = {"version"};
  const auto slot = SlotParamsOf(Job(), trigger, {{"version", "6.1"}});
  EXPECT_TRUE(slot.given.empty());
}

TEST(SlotParams, AllTogetherStayWithinTheBoundOfARun) {
  std::string params = "params:\n  a: {default: x}\n  b: {default: x}\n";
  for (int i = 0; i < 8; ++i)
    params += fmt::format("  p{}: {{default: {}}}\n", i, std::string(120 << 10, 'x'));
  const auto job = JobOf(JobWith(params + "stages: [{name: a, script: x}]\n"));
  TriggerSpec trigger;
  trigger.carry = {"a", "b"};
  const std::string large(60 << 10, 'y');
  const auto slot = SlotParamsOf(job, trigger, {{"a", large}, {"b", large}});
  EXPECT_EQ(slot.given, (Given{{"a", large}}));
  EXPECT_EQ(slot.refused, (std::vector<std::string>{"b"}));
  EXPECT_TRUE(ResolveParams(job, slot.given));
}

std::string Declared(int params, const std::string& pattern) {
  std::string text = "params:\n";
  for (int i = 0; i < params; ++i)
    text += fmt::format("  p{}: {{pattern: '{}', default: x}}\n", i, pattern);
  return ProblemsOf(JobWith(text + "stages: [{name: a, script: x}]\n"));
}

TEST(ParamPatterns, AreBoundedInSizeAndNumber) {
  EXPECT_EQ(Declared(100, "x"), "");
  EXPECT_THAT(Declared(101, "x"), HasSubstr("at most 100 patterns"));
  EXPECT_EQ(Declared(1, "x|" + std::string(998, 'y')), "");
  EXPECT_THAT(Declared(1, std::string(1001, 'y')), HasSubstr("longer than 1000 bytes"));
  EXPECT_THAT(Declared(11, "x|" + std::string(990, 'y')), HasSubstr("together"));
}

TEST(ParamPatterns, OneThatIsTooLargeLetsNothingPass) {
  const ParamSpec param{.name = "p", .pattern = "\\pL{900}"};
  const auto checked = CheckParam(param, std::string(900, 'x'));
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().code, ErrorCode::kInvalid);
}

}  // namespace
}  // namespace muster::documents
