#include "domain/template.hpp"

#include <map>

#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace muster {
namespace {

class TableScope final : public TemplateScope {
 public:
  Result<std::string> Find(std::span<const std::string> path) const override {
    const std::string name = WrittenName(path);
    if (name == "broken") return Fail(ErrorCode::kInternal, "broken");
    if (const auto found = values_.find(name); found != values_.end()) return found->second;
    return Fail(ErrorCode::kNotFound, "there is no '{}'", name);
  }

 private:
  std::map<std::string, std::string> values_ = {
      {"params.version", "6.1"},
      {"params.empty", ""},
      {"params.zero", "0"},
      {"params.no", "false"},
      {"run.by", "ann"},
      {"host.labels.zone", "sh1"},
      {"host.labels['a.b/c']", "dot"},
      {"stages.pre-check.outputs.kernel_2", "6.1.0"},
      {"params.quote", "a\"b\\c\n\x01"},
      {"params.tricky", "${{ params.version }}"},
  };
};

std::string Rendered(std::string_view text) {
  const auto result = Render(text, TableScope());
  return result ? *result : "failed: " + result.error().message;
}

bool True(std::string_view condition) {
  const auto holds = Holds(condition, TableScope());
  EXPECT_TRUE(holds) << condition << ": " << holds.error().message;
  return holds && *holds;
}

TEST(TemplateRender, ReplacesExpressionsAndKeepsTheRest) {
  EXPECT_EQ(Rendered(""), "");
  EXPECT_EQ(Rendered("plain $ { } {{ }} $$"), "plain $ { } {{ }} $$");
  EXPECT_EQ(Rendered("${{ params.version }}"), "6.1");
  EXPECT_EQ(Rendered("${{params.version}}${{run.by}}"), "6.1ann");
  EXPECT_EQ(Rendered("v${{ params.version }} by ${{\trun.by\n}}!"), "v6.1 by ann!");
  EXPECT_EQ(Rendered("${{ stages.pre-check.outputs.kernel_2 }}"), "6.1.0");
  EXPECT_EQ(Rendered("${{ host.labels['a.b/c'] }}${{ host.labels[ \"zone\" ] }}"), "dotsh1");
}

TEST(TemplateRender, AValueIsNeverEvaluatedAgain) {
  EXPECT_EQ(Rendered("${{ params.tricky }}"), "${{ params.version }}");
}

TEST(TemplateRender, LiteralsAreTheTextTheySay) {
  EXPECT_EQ(Rendered("${{ 'it''s' }} ${{ \"a \"\"b\"\" 'c'\" }}"), "it's a \"b\" 'c'");
  EXPECT_EQ(Rendered("${{ '${{' }} ${{ '}}' }}"), "${{ }}");
  EXPECT_EQ(Rendered("${{ 12 }} ${{ -1.50 }} ${{ true }} ${{ false }} ${{ '' }}"),
            "12 -1.50 true false ");
}

TEST(TemplateRender, OperatorsGiveTrueOrFalse) {
  EXPECT_EQ(Rendered("${{ params.version == '6.1' }}"), "true");
  EXPECT_EQ(Rendered("${{ params.version != '6.1' }}"), "false");
  EXPECT_EQ(Rendered("${{ params.version and run.by }}"), "true");
  EXPECT_EQ(Rendered("${{ params.empty or params.no }}"), "false");
}

TEST(TemplateRender, AnUnknownNameIsAnError) {
  const auto result = Render("a ${{ params.versoin }}", TableScope());
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kNotFound);
}

TEST(TemplateRender, ADefaultStandsInForAnUnknownNameOnly) {
  EXPECT_EQ(Rendered("${{ params.x | default: 'y' }}"), "y");
  EXPECT_EQ(Rendered("${{ params.x | default: 7 }}"), "7");
  EXPECT_EQ(Rendered("${{ params.x | default: run.by }}"), "ann");
  EXPECT_EQ(Rendered("${{ params.version | default: params.unknown }}"), "6.1");
  EXPECT_EQ(Rendered("${{ params.empty | default: 'y' }}"), "");
  EXPECT_EQ(Rendered("${{ params.x | default: 'y' | upper }}"), "Y");
  EXPECT_EQ(Rendered("${{ params.x | default: 'y' == 'y' }}"), "true");
  const auto unknown = Render("${{ params.x | default: params.y }}", TableScope());
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, ErrorCode::kNotFound);
  const auto broken = Render("${{ broken | default: 'x' }}", TableScope());
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error().code, ErrorCode::kInternal);
}

TEST(TemplateRender, FiltersChangeTheValueBeforeThem) {
  EXPECT_EQ(Rendered("${{ run.by | upper }}${{ 'ABCzé' | lower }}${{ 'aé' | upper }}"),
            "ANNabczéAé");
  EXPECT_EQ(Rendered("${{ params.quote | json }}"), R"("a\"b\\c\n\u0001")");
  EXPECT_EQ(Rendered("${{ run.by | upper | lower | json }}"), "\"ann\"");
  EXPECT_EQ(Rendered("${{ run.by | upper == 'ANN' }}"), "true");
  EXPECT_EQ(Rendered("${{ (run.by == 'ann') | upper }}"), "TRUE");
}

TEST(TemplateRender, TheResultIsBounded) {
  const std::string most(kMaxTemplateOutput, 'x');
  EXPECT_EQ(Rendered(most).size(), most.size());
  const auto longer = Render(most + "${{ run.by }}", TableScope());
  ASSERT_FALSE(longer);
  EXPECT_EQ(longer.error().code, ErrorCode::kInvalid);
  const auto escaped =
      Render("${{ '" + std::string(kMaxTemplateOutput / 2, '\\') + "' | json }}", TableScope());
  ASSERT_FALSE(escaped);
  EXPECT_EQ(escaped.error().code, ErrorCode::kInvalid);
}

TEST(TemplateHolds, TakesOneExpressionWithOrWithoutBraces) {
  EXPECT_TRUE(True(""));
  EXPECT_TRUE(True(" \n"));
  EXPECT_TRUE(True("params.version == '6.1'"));
  EXPECT_TRUE(True(" ${{ params.version == '6.1' }} "));
  EXPECT_FALSE(Holds("${{ run.by }} and ${{ run.by }}", TableScope()));
  EXPECT_FALSE(Holds("yes ${{ run.by }}", TableScope()));
  EXPECT_FALSE(Holds("${{ run.by", TableScope()));
  EXPECT_FALSE(Holds("run.by }}", TableScope()));
}

TEST(TemplateHolds, EmptyFalseAndZeroAreNotTrue) {
  EXPECT_FALSE(True("params.empty"));
  EXPECT_FALSE(True("params.no"));
  EXPECT_FALSE(True("params.zero"));
  EXPECT_FALSE(True("0"));
  EXPECT_TRUE(True("'0.0'"));
  EXPECT_TRUE(True("run.by"));
}

TEST(TemplateHolds, OperatorsBindAsTheyRead) {
  EXPECT_TRUE(True("true or false and false"));
  EXPECT_FALSE(True("(true or false) and false"));
  EXPECT_TRUE(True("not false and true"));
  EXPECT_FALSE(True("not (false or true)"));
  EXPECT_TRUE(True("not run.by == 'cron'"));
  EXPECT_TRUE(True("not not true"));
  EXPECT_TRUE(True("run.by in ('bob', 'ann')"));
  EXPECT_FALSE(True("run.by not in ('bob', 'ann')"));
  EXPECT_TRUE(True("run.by in (run.by)"));
  EXPECT_TRUE(True("not run.by in ('bob')"));
  EXPECT_TRUE(True("(run.by == 'ann') == 'true'"));
}

TEST(TemplateHolds, TheRightSideIsLookedAtOnlyWhenItMatters) {
  EXPECT_FALSE(True("false and params.unknown"));
  EXPECT_TRUE(True("true or params.unknown"));
  EXPECT_FALSE(Holds("true and params.unknown", TableScope()));
  EXPECT_TRUE(True("run.by in ('ann', params.unknown)"));
}

struct Mistake {
  std::string_view text;
  std::size_t at;  // byte
  std::string_view phrase;
};

TEST(TemplateParse, MistakesNameTheByteAndWhatWasExpected) {
  const Mistake mistakes[] = {
      {"${{", 3, "a name"},
      {"${{ }}", 4, "a name"},
      {"ab ${{ run.by", 13, "'}}'"},
      {"${{ run.by }", 11, "'}}'"},
      {"${{ run.by run.id }}", 11, "'}}' or an operator, found 'run'"},
      {"${{ run. }}", 8, "next part"},
      {"${{ run..by }}", 8, "next part"},
      {"${{ .by }}", 4, "a name"},
      {"${{ 'abc }}", 11, "a closing '"},
      {"${{ 12x }}", 6, "end of a number"},
      {"${{ 1. }}", 6, "end of a number"},
      {"${{ run.by == }}", 14, "a name"},
      {"${{ run.by = 'x' }}", 11, "operator"},
      {"${{ run.by and }}", 15, "a name"},
      {"${{ and }}", 4, "a name"},
      {"${{ not }}", 8, "a name"},
      {"${{ (run.by }}", 12, "')'"},
      {"${{ run.by in 'x' }}", 14, "'('"},
      {"${{ run.by in () }}", 15, "a name"},
      {"${{ run.by in ('x' 'y') }}", 19, "',' or ')'"},
      {"${{ run.by not 'x' }}", 15, "'in'"},
      {"${{ run.by | }}", 13, "default:, upper, lower or json"},
      {"${{ run.by | uper }}", 13, "default:, upper, lower or json"},
      {"${{ run.by | default 'x' }}", 21, "':'"},
      {"${{ run.by | default: }}", 22, "a name"},
      {"${{ run.by | default: ('x') }}", 22, "a name"},
      {"${{ 'x' | default: 'y' }}", 10, "behind a name"},
      {"${{ run.by | upper | default: 'y' }}", 21, "behind a name"},
      {"${{ a | default: b | default: 'y' }}", 21, "once"},
      {"${{ host.labels[zone] }}", 16, "in quotes"},
      {"${{ host.labels['zone' }}", 23, "']'"},
      {"${{ a == b == c }}", 11, "operator"},
      {"${{ \xc3\xa9 }}", 4, "found '\xc3\xa9'"},
      {"${{ a ~ 'b' }}", 6, "operator"},
  };
  for (const auto& mistake : mistakes) {
    const auto names = NamesIn(mistake.text);
    ASSERT_FALSE(names) << mistake.text;
    EXPECT_EQ(names.error().code, ErrorCode::kInvalid);
    EXPECT_TRUE(names.error().message.starts_with(fmt::format("template, byte {}: ", mistake.at)))
        << mistake.text << ": " << names.error().message;
    EXPECT_NE(names.error().message.find(mistake.phrase), std::string::npos)
        << mistake.text << ": " << names.error().message;
    EXPECT_FALSE(Render(mistake.text, TableScope())) << mistake.text;
  }
}

std::string Repeated(std::string_view text, std::size_t times) {
  std::string out;
  for (std::size_t i = 0; i < times; ++i) out += text;
  return out;
}

TEST(TemplateParse, NestingIsBounded) {
  const auto nested = [](std::size_t depth) {
    return Repeated("(", depth) + "true" + Repeated(")", depth);
  };
  EXPECT_TRUE(True(nested(kMaxTemplateDepth)));
  EXPECT_FALSE(Holds(nested(kMaxTemplateDepth + 1), TableScope()));
  EXPECT_FALSE(Holds(nested(100'000), TableScope()));
  EXPECT_FALSE(Holds(Repeated("not ", 100'000) + "true", TableScope()));
  EXPECT_FALSE(Holds("run.by" + Repeated(" | upper", 100'000), TableScope()));
  EXPECT_TRUE(True("true" + Repeated(" and true", kMaxTemplateTerms - 1))) << "side by side";
}

// A run's thread evaluates it again for each host.
TEST(TemplateParse, NumberOfNamesIsBounded) {
  std::string list = "'0'";
  for (std::size_t i = 0; i + 2 < kMaxTemplateTerms; ++i) list += ", run.by";
  EXPECT_EQ(Rendered("${{ params.version in (" + list + ") }}"), "false");
  const auto one_more = Render("${{ params.version in (" + list + ", run.by) }}", TableScope());
  ASSERT_FALSE(one_more);
  EXPECT_EQ(one_more.error().code, ErrorCode::kInvalid);
  std::string apart;
  for (std::size_t i = 0; i <= kMaxTemplateTerms; ++i) apart += "${{ run.by }}";
  EXPECT_FALSE(Render(apart, TableScope()));
}

class LargeScope final : public TemplateScope {
 public:
  Result<std::string> Find(std::span<const std::string>) const override {
    ++looks;
    return std::string(1 << 20, 'x');
  }
  mutable int looks = 0;
};

TEST(TemplateRender, ValuesThatAreOnlyComparedAreBoundedToo) {
  const LargeScope scope;
  std::string list = "a";
  for (int i = 0; i < 100; ++i) list += ", a";
  const auto value = Render("${{ 'no' in (" + list + ") }}", scope);
  ASSERT_FALSE(value);
  EXPECT_EQ(value.error().code, ErrorCode::kInvalid);
  EXPECT_LE(scope.looks, 5);
}

TEST(TemplateNames, AreThoseOfTheTextInItsOrder) {
  const auto names = NamesIn(
      "x ${{ params.a | default: params.b }}${{ 'c' }} ${{ host.labels['z.z'] in (d, 1) }}");
  ASSERT_TRUE(names);
  const std::vector<TemplateName> expected = {{{"params", "a"}, 6, true},
                                              {{"params", "b"}, 26, false},
                                              {{"host", "labels", "z.z"}, 52, false},
                                              {{"d"}, 75, false}};
  EXPECT_EQ(*names, expected);
}

TEST(TemplateNames, OfAConditionNeedNoBraces) {
  const auto bare = NamesInCondition("params.a == 'x'");
  ASSERT_TRUE(bare);
  EXPECT_EQ(*bare, (std::vector<TemplateName>{{{"params", "a"}, 0, false}}));
  const auto enclosed = NamesInCondition("${{ params.a }}");
  ASSERT_TRUE(enclosed);
  EXPECT_EQ(enclosed->size(), 1U);
  EXPECT_TRUE(NamesInCondition("")->empty());
  EXPECT_FALSE(NamesInCondition("params."));
}

TEST(TemplateNames, TellWhetherAValueDependsOnTheHost) {
  EXPECT_TRUE(*NamesHost("${{ host.name }}"));
  EXPECT_TRUE(*NamesHost("a ${{ stages.x.outputs.y }}"));
  EXPECT_TRUE(*NamesHost("${{ params.x | default: host.zone }}"));
  EXPECT_FALSE(*NamesHost("${{ stages.x.all.y }} ${{ params.host }}"));
  EXPECT_FALSE(*NamesHost("host.name"));
  EXPECT_FALSE(NamesHost("${{ host. }}"));
}

TEST(TemplateNames, WrittenNamesReadBack) {
  EXPECT_TRUE(rc::check([] {
    std::vector<std::string> path = {"host"};
    for (auto& part : *rc::gen::container<std::vector<std::string>>(
             rc::gen::container<std::string>(rc::gen::inRange<char>(32, 127))))
      path.push_back(part);
    const auto names = NamesIn("${{ " + WrittenName(path) + " }}");
    RC_ASSERT(names.has_value());
    RC_ASSERT(names->size() == 1U);
    RC_ASSERT(names->front().path == path);
  }));
}

}  // namespace
}  // namespace muster
