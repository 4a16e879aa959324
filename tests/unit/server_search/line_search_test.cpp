#include "server/search/line_search.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/text.hpp"

namespace muster::server {
namespace {

using testing::ElementsAre;

struct Searched {
  explicit Searched(const std::string& expression, std::size_t context = 0,
                    bool ignore_case = false)
      : search(*SearchPattern::Of(expression, ignore_case), context, [this](const FoundLine& line) {
          lines.push_back(fmt::format("{}{}{}{}", line.number, line.match ? ":" : "-", line.text,
                                      line.stream == Stream::kStderr ? " (stderr)" : ""));
          cut = cut || line.cut;
        }) {}
  std::vector<std::string> lines;
  bool cut = false;
  LineSearch search;
};

TEST(SearchPattern, RefusesWhatIsNoExpression) {
  for (const std::string bad : {"", "(", "a**b(", "\\1"})
    EXPECT_EQ(SearchPattern::Of(bad, false).error().code, ErrorCode::kInvalid) << bad;
  EXPECT_FALSE(SearchPattern::Of(std::string(5000, 'a'), false));
  EXPECT_FALSE(SearchPattern::Of("((a{1,900}){1,900}){1,900}", false));
}

TEST(SearchPattern, TakesNoLongerForHostileExpressions) {
  const auto pattern = SearchPattern::Of("(a*)*(a*)*(a*)*b", false);
  EXPECT_FALSE(pattern->Matches(std::string(50'000, 'a')));
}

TEST(LineSearch, NumbersLinesOfEachStream) {
  Searched found("o");
  found.search.Add(Stream::kStdout, "one\nt");
  found.search.Add(Stream::kStderr, "oops\n");
  found.search.Add(Stream::kStdout, "wo\nthree\nfour");
  found.search.Finish();
  EXPECT_THAT(found.lines, ElementsAre("1:one", "1:oops (stderr)", "2:two", "4:four"));
}

TEST(LineSearch, CaseMayNotMatter) {
  Searched strict("ERROR");
  Searched loose("ERROR", 0, true);
  for (auto* found : {&strict, &loose}) found->search.Add(Stream::kStdout, "an error\n");
  EXPECT_TRUE(strict.lines.empty());
  EXPECT_THAT(loose.lines, ElementsAre("1:an error"));
}

TEST(LineSearch, GivesTheLinesAroundOnce) {
  Searched found("x", 1);
  found.search.Add(Stream::kStdout, "a\nb\nx1\nc\nx2\nd\ne\nf\nx3\n");
  found.search.Finish();
  EXPECT_THAT(found.lines, ElementsAre("2-b", "3:x1", "4-c", "5:x2", "6-d", "8-f", "9:x3"));
}

TEST(LineSearch, LooksAtLongLinesInParts) {
  Searched found("needle");
  found.search.Add(Stream::kStdout, std::string(LineSearch::kMostLine * 3, 'a'));
  found.search.Add(Stream::kStdout, "needle\nneedle");
  found.search.Finish();
  ASSERT_EQ(found.lines.size(), 2U);
  EXPECT_TRUE(found.lines[0].starts_with("1:"));
  EXPECT_EQ(found.lines[1], "2:needle");
  EXPECT_TRUE(found.cut);
}

RC_GTEST_PROP(LineSearch, FindsTheSameHoweverTheOutputCame, ()) {
  const auto text = *rc::gen::container<std::string>(
      rc::gen::weightedElement<char>({{3, 'a'}, {2, '\n'}, {1, 'x'}}));
  const auto context = *rc::gen::inRange<std::size_t>(0, 3);
  Searched whole("x", context);
  whole.search.Add(Stream::kStdout, text);
  whole.search.Finish();
  Searched parts("x", context);
  for (std::size_t at = 0; at < text.size();) {
    const auto size = *rc::gen::inRange<std::size_t>(1, 6);
    parts.search.Add(Stream::kStdout, std::string_view(text).substr(at, size));
    at += size;
  }
  parts.search.Finish();
  RC_ASSERT(parts.lines == whole.lines);
}

}  // namespace
}  // namespace muster::server
