#include <map>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "cli/logs/log_cursor.hpp"
#include "cli/logs/log_text.hpp"
#include "cli/terminal/line_joiner.hpp"

namespace muster::cli {
namespace {

using testing::ElementsAre;

class LineJoinerTest : public testing::Test {
 protected:
  LineJoiner joiner_{[this](std::string_view host, Stream stream, std::string_view line) {
    lines_.push_back(fmt::format("{}{} {}", host, stream == Stream::kStderr ? "!" : "", line));
  }};
  std::vector<std::string> lines_;
};

TEST_F(LineJoinerTest, NeverMixesHostsOrStreams) {
  joiner_.Add("a", Stream::kStdout, "one");
  joiner_.Add("b", Stream::kStdout, "two\n");
  joiner_.Add("a", Stream::kStderr, "err\n");
  joiner_.Add("a", Stream::kStdout, " more\n\nlast");
  EXPECT_THAT(lines_, ElementsAre("b two", "a! err", "a one more", "a "));
}

TEST_F(LineJoinerTest, CompletesTheLastLineOnce) {
  joiner_.Add("a", Stream::kStdout, "half");
  joiner_.Add("b", Stream::kStderr, "rest");
  joiner_.Finish("a");
  joiner_.Finish("a");
  EXPECT_THAT(lines_, ElementsAre("a half"));
  joiner_.FinishAll();
  EXPECT_THAT(lines_, ElementsAre("a half", "b! rest"));
}

TEST_F(LineJoinerTest, BoundsALineWithoutEnd) {
  joiner_.Add("a", Stream::kStdout, std::string(3 << 20, 'x'));
  EXPECT_EQ(lines_.size(), 1U);
}

TEST_F(LineJoinerTest, BoundsUnfinishedLinesOfAllHosts) {
  const std::string half(LineJoiner::kLongestLine / 2, 'x');
  const std::size_t enough = LineJoiner::kMostUnfinished / half.size() + 1;
  for (std::size_t i = 0; i < enough; ++i)
    joiner_.Add(fmt::format("h{}", i), Stream::kStdout, half);
  EXPECT_GE(lines_.size(), enough / 2);
  joiner_.FinishAll();
  EXPECT_EQ(lines_.size(), enough);
}

TEST_F(LineJoinerTest, BoundsHostsWithoutOutput) {
  const std::string name(LineJoiner::kMostUnfinished / 8, 'h');
  for (int i = 0; i < 100; ++i)
    joiner_.Add(fmt::format("{}{}", name, i), Stream::kStdout, i % 2 == 0 ? "" : "x");
  EXPECT_GE(lines_.size(), 40U);
}

TEST(LogCursor, TakesEachByteOnce) {
  LogCursor cursor;
  EXPECT_EQ(cursor.Take(0, "abc").fresh, "abc");
  EXPECT_EQ(cursor.Take(0, "abc").verdict, LogCursor::Verdict::kOld);
  EXPECT_EQ(cursor.Take(1, "bcde").fresh, "de");
  EXPECT_EQ(cursor.Take(6, "x").verdict, LogCursor::Verdict::kHole);
  EXPECT_EQ(cursor.Next(), 5U);
}

RC_GTEST_PROP(LogCursor, RepeatsAndHolesNeverChangeTheOutput, ()) {
  const auto log = *rc::gen::container<std::string>(rc::gen::inRange('a', 'z'));
  LogCursor cursor;
  std::string taken;
  const auto offer = [&](std::size_t from, std::size_t size) {
    taken += cursor.Take(from, std::string_view(log).substr(from, size)).fresh;
  };
  for (int i = 0; i < 20; ++i)
    offer(*rc::gen::inRange<std::size_t>(0, log.size() + 1), *rc::gen::inRange<std::size_t>(0, 8));
  RC_ASSERT(taken == log.substr(0, cursor.Next()));
  offer(cursor.Next(), log.size());
  RC_ASSERT(taken == log);
}

std::string Joined(const std::vector<LogPart::Piece>& pieces) {
  std::string text;
  for (const auto& piece : pieces) text += piece.data;
  return text;
}

TEST(LastLines, CountsLinesFromTheEnd) {
  const std::vector<LogPart::Piece> pieces{{0, "stdout", "", "one\ntwo\nth"},
                                           {10, "stderr", "", "ree\nfour\n"}};
  EXPECT_EQ(Joined(LastLines(pieces, 1)), "four\n");
  EXPECT_EQ(Joined(LastLines(pieces, 2)), "three\nfour\n");
  EXPECT_EQ(Joined(LastLines(pieces, 3)), "two\nthree\nfour\n");
  EXPECT_EQ(Joined(LastLines(pieces, 9)), "one\ntwo\nthree\nfour\n");
  EXPECT_EQ(LastLines(pieces, 2).front().offset, 8U);
  EXPECT_EQ(Joined(LastLines({{0, "stdout", "", "a\nb"}}, 1)), "b");
}

TEST(LineStamps, StampsEachLineWithTheTimeItBegan) {
  LineStamps stamps;
  EXPECT_THAT(stamps.Add("stdout", "T1", "a\nb"), ElementsAre("T1 a\n"));
  EXPECT_THAT(stamps.Add("stdout", "T2", "c\n"), ElementsAre("T1 bc\n"));
  EXPECT_THAT(stamps.Add("stderr", "T3", "x"), ElementsAre());
  EXPECT_THAT(stamps.Finish(), ElementsAre("T3 x\n"));
}

TEST(LineStamps, BoundsALineWithoutEnd) {
  LineStamps stamps;
  EXPECT_EQ(stamps.Add("stdout", "T1", std::string(LineStamps::kLongestLine, 'x')).size(), 1U);
  EXPECT_THAT(stamps.Finish(), ElementsAre());
}

}  // namespace
}  // namespace muster::cli
