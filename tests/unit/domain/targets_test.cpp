#include "domain/targets.hpp"

#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "domain/host_ranges.hpp"

namespace muster {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class FakeContext final : public TargetContext {
 public:
  Result<NameSet> Group(std::string_view name) const override {
    if (name != "db") return Fail(ErrorCode::kNotFound, "no group '{}'", name);
    return Names({"db1", "db2", "gone"});
  }
  Result<NameSet> RunHosts(std::string_view id, std::string_view state) const override {
    if (id == "r1.7" && state == "failed") return Names({"web2"});
    if (id == "r12" && state.empty()) return Names({"web1", "web2"});
    return Fail(ErrorCode::kNotFound, "no run '{}' with state '{}'", id, state);
  }

 private:
  static NameSet Names(std::set<std::string> names) {
    return std::make_shared<const std::set<std::string>>(std::move(names));
  }
};

class TargetsTest : public testing::Test {
 protected:
  TargetsTest() {
    Add("web1", {{"zone", "sh1"}, {"app", "shop"}});
    Add("web2", {{"zone", "sh2"}, {"app", "test-shop"}});
    Add("web10", {{"zone", "sh1"}, {"app", "it's \"odd\""}});
    Add("db1", {{"zone", "sh1"}}).facts["os"] = "debian";
    Add("db2", {}).facts["os"] = "alpine";
    Add("old", {{"zone", "sh1"}}).state = HostState::kRevoked;
  }

  Host& Add(std::string name, Labels labels) {
    Host host;
    host.name = std::move(name);
    host.labels = std::move(labels);
    return hosts_[host.name] = std::move(host);
  }

  Result<std::vector<std::string>> Resolve(std::string_view text,
                                           ResolveOptions options = {}) const {
    const auto expression = TargetExpression::Parse(text);
    if (!expression) return Fail(expression.error());
    return ResolveParsed(*expression, options);
  }

  Result<std::vector<std::string>> ResolveWithout(std::string_view text, std::string_view without,
                                                  ResolveOptions options = {}) const {
    auto expression = TargetExpression::Parse(text);
    if (!expression) return Fail(expression.error());
    auto left_out = TargetExpression::Parse(without);
    if (!left_out) return Fail(left_out.error());
    return ResolveParsed(std::move(*expression).Without(std::move(*left_out)), options);
  }

  Result<std::vector<std::string>> ResolveParsed(const TargetExpression& expression,
                                                 ResolveOptions options) const {
    std::vector<const Host*> hosts;
    for (const auto& [name, host] : hosts_) hosts.push_back(&host);
    const auto found = expression.Resolve(hosts, FakeContext(), options);
    if (!found) return Fail(found.error());
    std::vector<std::string> names;
    for (const auto index : *found) names.push_back(hosts[index]->name);
    return names;
  }

  std::vector<std::string> Names(std::string_view text) const {
    auto names = Resolve(text);
    EXPECT_TRUE(names) << text << ": " << (names ? "" : names.error().message);
    return names ? *names : std::vector<std::string>{};
  }

  ErrorCode CodeOf(std::string_view text) const {
    const auto names = Resolve(text);
    EXPECT_FALSE(names) << text;
    return names ? ErrorCode::kInternal : names.error().code;
  }

  std::map<std::string, Host> hosts_;
};

TEST_F(TargetsTest, NamesPatternsAndRanges) {
  EXPECT_THAT(Names("web1"), ElementsAre("web1"));
  EXPECT_THAT(Names("web*"), ElementsAre("web1", "web2", "web10"));
  EXPECT_THAT(Names("*b?"), ElementsAre("db1", "db2", "web1", "web2"));
  EXPECT_THAT(Names("web[1-2,10]"), ElementsAre("web1", "web2", "web10"));
  EXPECT_THAT(Names("db1,web1 , web1"), ElementsAre("db1", "web1"));
  EXPECT_THAT(Names("\"web1\""), ElementsAre("web1"));
  EXPECT_THAT(Names("all"), ElementsAre("db1", "db2", "web1", "web2", "web10"));
}

TEST_F(TargetsTest, ARunHasOneName) {
  EXPECT_THAT(Names("run:r12"), ElementsAre("web1", "web2"));
  for (const auto* text : {"run:r012", "run:r00012", "run:r01.7.failed", "run:r1.07.failed"})
    EXPECT_EQ(CodeOf(text), ErrorCode::kInvalid) << text;
}

TEST_F(TargetsTest, TwentyRunsAtMost) {
  std::string text = "run:r12";
  for (int i = 1; i < 20; ++i) text += " or run:r12";
  EXPECT_THAT(Names(text), ElementsAre("web1", "web2"));
  EXPECT_EQ(CodeOf(text + " or run:r12"), ErrorCode::kInvalid);
}

TEST_F(TargetsTest, LabelsAndFacts) {
  EXPECT_THAT(Names("zone=sh1"), ElementsAre("db1", "web1", "web10"));
  EXPECT_THAT(Names("zone != sh1"), ElementsAre("db2", "web2"));
  EXPECT_THAT(Names("zone in (sh2, \"sh3\")"), ElementsAre("web2"));
  EXPECT_THAT(Names("app~\"^test\""), ElementsAre("web2"));
  EXPECT_THAT(Names("app!~shop"), ElementsAre("db1", "db2", "web10"));
  EXPECT_THAT(Names("fact.os=debian"), ElementsAre("db1"));
  EXPECT_THAT(Names("app='it''s \"odd\"'"), ElementsAre("web10"));
}

TEST_F(TargetsTest, GroupsAndRuns) {
  EXPECT_THAT(Names("@db"), ElementsAre("db1", "db2"));
  EXPECT_THAT(Names("run:r12"), ElementsAre("web1", "web2"));
  EXPECT_THAT(Names("run:r1.7.failed"), ElementsAre("web2"));
  EXPECT_EQ(CodeOf("@nope"), ErrorCode::kNotFound);
  EXPECT_EQ(CodeOf("run:r99"), ErrorCode::kNotFound);
  const auto expression = TargetExpression::Parse("@db or not (@x and run:r1.7.failed)");
  ASSERT_TRUE(expression);
  EXPECT_THAT(expression->Groups(), ElementsAre("db", "x"));
  EXPECT_THAT(expression->Runs(),
              ElementsAre(std::pair<std::string, std::string>("r1.7", "failed")));
}

TEST_F(TargetsTest, NotBindsTightestThenAndThenOr) {
  EXPECT_THAT(Names("db1 or web* and not zone=sh1"), ElementsAre("db1", "web2"));
  EXPECT_THAT(Names("(db1 or web*) and zone=sh1"), ElementsAre("db1", "web1", "web10"));
  EXPECT_THAT(Names("not not web1"), ElementsAre("web1"));
  EXPECT_THAT(Names("all and not (web*,@db) or web2"), ElementsAre("web2"));
}

TEST_F(TargetsTest, UnknownNamesAreAnErrorThatNamesThem) {
  const auto names = Resolve("web[1-4]");
  ASSERT_FALSE(names);
  EXPECT_EQ(names.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(names.error().message, HasSubstr("web[3-4]"));
  EXPECT_EQ(CodeOf("web1 or not web99"), ErrorCode::kNotFound);
  EXPECT_THAT(*Resolve("web[1-4]", {.ignore_missing = true}), ElementsAre("web1", "web2"));
  EXPECT_FALSE(Resolve("web99", {.ignore_missing = true}));
}

TEST_F(TargetsTest, NoHostIsNoErrorWhenSoAskedButAnUnknownNameIs) {
  EXPECT_THAT(*Resolve("zone=nowhere", {.allow_none = true}), testing::IsEmpty());
  EXPECT_EQ(CodeOf("zone=nowhere"), ErrorCode::kNotFound);
  const auto unknown = Resolve("zone=nowhere or web99", {.allow_none = true});
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, ErrorCode::kNotFound);
}

TEST_F(TargetsTest, LeavesOutWhatItIsWithout) {
  EXPECT_THAT(*ResolveWithout("web*", "web2"), ElementsAre("web1", "web10"));
  EXPECT_THAT(*ResolveWithout("web1 or db*", "db1,db2"), ElementsAre("web1"));
  EXPECT_THAT(*ResolveWithout("web*", "db* or zone=nowhere"), ElementsAre("web1", "web2", "web10"));
  EXPECT_THAT(*ResolveWithout("web1,web2", "db1"), ElementsAre("web1", "web2"));
  EXPECT_THAT(*ResolveWithout("web*", "old"), ElementsAre("web1", "web2", "web10"));
  EXPECT_EQ(ResolveWithout("web*", "all").error().code, ErrorCode::kNotFound);
}

TEST_F(TargetsTest, UnknownNamesLeftOutAreAnErrorToo) {
  EXPECT_EQ(ResolveWithout("web*", "wbe2").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(ResolveWithout("web*", "@nogroup").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(ResolveWithout("web*", "run:r99").error().code, ErrorCode::kNotFound);
  EXPECT_THAT(*ResolveWithout("web*", "wbe2,web2", {.ignore_missing = true}),
              ElementsAre("web1", "web10"));
  EXPECT_EQ(ResolveWithout("web*", "@nogroup", {.ignore_missing = true}).error().code,
            ErrorCode::kNotFound);
}

TEST_F(TargetsTest, NamesMeanHostsInEveryStateWhenAsked) {
  EXPECT_EQ(CodeOf("old"), ErrorCode::kConflict);
  EXPECT_THAT(*Resolve("old,web1", {.any_state = true}), ElementsAre("old", "web1"));
  EXPECT_FALSE(Resolve("ol*", {.any_state = true}));
}

TEST_F(TargetsTest, CopyThatIsNamedRefusesNoOtherHost) {
  Add("web3", {{"zone", "sh1"}}).state = HostState::kCopy;
  EXPECT_THAT(*Resolve("web[1-3]"), ElementsAre("web1", "web2", "web3"));
  EXPECT_THAT(*Resolve("web*"), ElementsAre("web1", "web2", "web10"));
}

TEST_F(TargetsTest, NoMatchIsAnError) {
  EXPECT_EQ(CodeOf("nope*"), ErrorCode::kNotFound);
  EXPECT_EQ(CodeOf("zone=nowhere"), ErrorCode::kNotFound);
  EXPECT_EQ(CodeOf("not all"), ErrorCode::kNotFound);
}

TEST_F(TargetsTest, HostsThatTakeNoWorkMatchNothingAndCannotBeNamed) {
  EXPECT_EQ(CodeOf("old"), ErrorCode::kConflict);
  EXPECT_EQ(CodeOf("o*"), ErrorCode::kNotFound);
  EXPECT_THAT(Names("zone=sh1 and not old"), ElementsAre("db1", "web1", "web10"));
}

TEST_F(TargetsTest, AQuotedValueIsNeverParsed) {
  EXPECT_EQ(CodeOf("zone=" + QuoteTargetValue("x or all")), ErrorCode::kNotFound);
  EXPECT_EQ(CodeOf(QuoteTargetValue("web*")), ErrorCode::kNotFound);
}

TEST(Targets, MalformedInputNamesTheColumn) {
  const std::map<std::string, std::string> columns{
      {"", "column 1:"},
      {"   ", "column 1:"},
      {"*", "write all"},
      {"web1 web2", "column 6:"},
      {"(web1", "column 6:"},
      {"web1)", "column 5:"},
      {"zone=", "column 6:"},
      {"zone in sh1", "column 9:"},
      {"zone in ()", "column 10:"},
      {"zone in (a", "column 11:"},
      {"web1 and", "column 9:"},
      {"app~\"(\"", "column 5:"},
      {"web[1-", "column 4:"},
      {"web[b]", "column 1:"},
      {"web[1-2]*", "column 1:"},
      {"zone=a*", "column 6:"},
      {"a='x", "column 3:"},
      {"@", "column 1:"},
      {"run:x", "column 1:"},
      {"tree:a.b", "column 1:"},
      {"web1 AND web2", "small letters"},
      {"web1,", "column 6:"},
      {"9=x", "column 1:"},
      {"a=\"ü\" ;", "column 7:"},
      {"not", "column 4:"},
      {"in", "column 1:"},
      {"a $ b", "column 3:"},
  };
  for (const auto& [text, column] : columns) {
    const auto expression = TargetExpression::Parse(text);
    ASSERT_FALSE(expression) << text;
    EXPECT_EQ(expression.error().code, ErrorCode::kInvalid);
    EXPECT_THAT(expression.error().message, HasSubstr(column)) << text;
  }
  EXPECT_FALSE(TargetExpression::Parse("\xff"));
}

TEST(Targets, BoundsKeepHostileInputCheap) {
  EXPECT_FALSE(TargetExpression::Parse(std::string(100'000, '(')));
  std::string nots;
  for (int i = 0; i < 100'000; ++i) nots += "not ";
  EXPECT_FALSE(TargetExpression::Parse(nots + "web1"));
  std::string terms = "a=1";
  for (int i = 0; i < 2'000; ++i) terms += ",a=1";
  EXPECT_FALSE(TargetExpression::Parse(terms));
  EXPECT_FALSE(TargetExpression::Parse("a[1-1000]b[1-1000]"));
  EXPECT_FALSE(TargetExpression::Parse("a~\"((a{1,100}){1,100}){1,100}\""));
  std::string nested(60, '(');
  EXPECT_TRUE(TargetExpression::Parse(nested + "web1" + std::string(60, ')')));
}

std::string Regexes(std::size_t number, const std::string& pattern) {
  std::string text;
  for (std::size_t i = 0; i < number; ++i)
    text += (i == 0 ? "" : " or ") + ("a" + std::to_string(i)) + (i % 2 == 0 ? " ~ '" : " !~ '") +
            pattern + "'";
  return text;
}

TEST(Targets, RegularExpressionsShareTheirMemory) {
  EXPECT_TRUE(TargetExpression::Parse(Regexes(100, "^web-(eu|us)[0-9]{1,4}$")));
  const auto many = TargetExpression::Parse(Regexes(101, "x"));
  ASSERT_FALSE(many);
  EXPECT_EQ(many.error().code, ErrorCode::kInvalid);
  const std::string large = R"(\pL{20})";
  EXPECT_TRUE(TargetExpression::Parse(Regexes(1, large)));
  const auto together = TargetExpression::Parse(Regexes(100, large));
  ASSERT_FALSE(together);
  EXPECT_EQ(together.error().code, ErrorCode::kInvalid);
}

TEST(Targets, RegularExpressionsTakeABoundedTime) {
  std::vector<Host> hosts(1'000);
  std::vector<const Host*> all;
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    hosts[i].id = HostId(i + 1);
    hosts[i].name = "h" + std::to_string(i);
    hosts[i].state = HostState::kActive;
    hosts[i].labels["same"] = std::string(60, 'x') + "1";
    hosts[i].labels["own"] = std::to_string(i) + std::string(60, 'x');
    all.push_back(&hosts[i]);
  }
  const FakeContext context;
  const auto terms = [](const std::string& label) {
    std::string text = label + "~'y'";
    for (int i = 0; i < 50; ++i) text += " or " + label + " ~ '([a-z]?){100}[0-9]'";
    return text;
  };
  const auto shared = TargetExpression::Parse(terms("same"))->Resolve(all, context);
  ASSERT_TRUE(shared) << shared.error().message;
  EXPECT_EQ(shared->size(), 1'000U) << "one value is matched once";
  const auto own = TargetExpression::Parse(terms("own"))->Resolve(all, context);
  ASSERT_FALSE(own);
  EXPECT_EQ(own.error().code, ErrorCode::kInvalid);
}

TEST(Targets, OnlyNamesAreToldFromAnythingElse) {
  using Names = std::set<std::string>;
  EXPECT_EQ(TargetExpression::Parse("web1")->OnlyNames(), Names{"web1"});
  EXPECT_EQ(TargetExpression::Parse("web1,web[2-3] or db1")->OnlyNames(),
            (Names{"db1", "web1", "web2", "web3"}));
  for (const auto* text : {"all", "web*", "web1 and zone=a", "web1,zone=a", "web1,@db", "not web1"})
    EXPECT_EQ(TargetExpression::Parse(text)->OnlyNames(), std::nullopt) << text;
}

TEST(Targets, SaysAllOnlyOutsideOfNot) {
  EXPECT_TRUE(TargetExpression::Parse("all")->SaysAll());
  EXPECT_TRUE(TargetExpression::Parse("web1 or (all and not db1)")->SaysAll());
  EXPECT_FALSE(TargetExpression::Parse("web* and not all")->SaysAll());
  EXPECT_FALSE(TargetExpression::Parse("zone=all")->SaysAll());
}

TEST(Targets, ManyNamesAreOneTerm) {
  std::string text;
  for (int i = 0; i < 50'000; ++i) text += fmt::format("{}host{}", i == 0 ? "" : ",", i);
  EXPECT_TRUE(TargetExpression::Parse(text));
}

RC_GTEST_PROP(Targets, ParseSurvivesAnyText, ()) {
  const auto piece = rc::gen::oneOf(
      rc::gen::arbitrary<std::string>(),
      rc::gen::element<std::string>("(", ")", " and ", " or ", " not ", ",", "=", "!=", "~", " in ",
                                    "[", "1-9", "]", "\"", "'", "@", "run:", "r1", ".", "all", "*",
                                    "?", "web", "fact.os"));
  std::string text;
  for (const auto& part : *rc::gen::container<std::vector<std::string>>(piece)) text += part;
  const auto expression = TargetExpression::Parse(text);
  if (!expression)
    RC_ASSERT(expression.error().code == ErrorCode::kInvalid);
  else
    (void)expression->Resolve({}, FakeContext());
}

RC_GTEST_PROP(Targets, QuotingRoundTrips, ()) {
  const auto value = *rc::gen::container<std::string>(
      rc::gen::element('a', '"', '\'', '\\', ' ', ')', ',', '*', '\n', '='));
  Host host;
  host.name = "web1";
  host.labels["app"] = value;
  Host other = host;
  other.name = "web2";
  other.labels["app"] = value + "x";
  const std::vector<const Host*> hosts{&host, &other};
  const auto expression = TargetExpression::Parse("app=" + QuoteTargetValue(value));
  RC_ASSERT(expression.has_value());
  const auto found = expression->Resolve(hosts, FakeContext());
  RC_ASSERT(found.has_value());
  RC_ASSERT(*found == std::vector<std::size_t>{0});
}

RC_GTEST_PROP(Targets, ReadBackWhatFoldingPrints, ()) {
  const auto numbers = *rc::gen::container<std::set<int>>(rc::gen::inRange(0, 200));
  RC_PRE(!numbers.empty());
  std::vector<Host> all(200);
  std::vector<const Host*> hosts;
  std::vector<std::string> wanted;
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i].name = i % 2 == 0 ? fmt::format("web{:02}", i) : fmt::format("db{}.sh1", i);
    hosts.push_back(&all[i]);
    if (numbers.contains(static_cast<int>(i))) wanted.push_back(all[i].name);
  }
  const auto found = TargetExpression::Parse(FoldHostNames(wanted))->Resolve(hosts, FakeContext());
  RC_ASSERT(found.has_value());
  std::set<std::size_t> indices(found->begin(), found->end());
  RC_ASSERT(indices == std::set<std::size_t>(numbers.begin(), numbers.end()));
}

}  // namespace
}  // namespace muster
