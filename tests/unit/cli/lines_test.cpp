#include <map>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "cli/line_joiner.hpp"
#include "cli/log_cursor.hpp"
#include "cli/log_text.hpp"

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

}  // namespace
}  // namespace muster::cli
