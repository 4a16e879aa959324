#include "cli/client/sse.hpp"

#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace muster::cli {
namespace {

std::vector<SseEvent> Parse(std::string_view text, std::size_t piece = 1000) {
  SseParser parser;
  std::vector<SseEvent> events;
  for (std::size_t i = 0; i < text.size(); i += piece) {
    parser.Feed(text.substr(i, piece), [&](SseEvent event) {
      events.push_back(std::move(event));
      return true;
    });
  }
  return events;
}

TEST(SseParser, ReadsEventsAndDropsComments) {
  const auto events =
      Parse(": hello\n\nid: 7\nevent: run\ndata: {\"a\":1}\n\n: ping\n\ndata:x\ndata: y\n\n");
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events[0].id, "7");
  EXPECT_EQ(events[0].name, "run");
  EXPECT_EQ(events[0].data, "{\"a\":1}");
  EXPECT_EQ(events[1].id, "7");
  EXPECT_EQ(events[1].name, "message");
  EXPECT_EQ(events[1].data, "x\ny");
}

TEST(SseParser, TakesEveryKindOfLineEnd) {
  const auto events =
      Parse("event: a\r\ndata: 1\r\n\r\nevent: b\rdata: 2\r\revent: c\ndata: 3\n\n");
  ASSERT_EQ(events.size(), 3U);
  EXPECT_EQ(events[2].name, "c");
  EXPECT_EQ(events[2].data, "3");
}

TEST(SseParser, KeepsAnUnfinishedEventBack) {
  EXPECT_TRUE(Parse("event: run\ndata: {}\n").empty());
  EXPECT_TRUE(Parse("event: run\nid: 3\n\n").empty());
}

TEST(SseParser, StopsWhenToldTo) {
  SseParser parser;
  int seen = 0;
  EXPECT_FALSE(parser.Feed("data: 1\n\ndata: 2\n\n", [&](const SseEvent&) { return ++seen < 1; }));
  EXPECT_EQ(seen, 1);
}

TEST(SseParser, EndsALineOrAnEventWithoutEnd) {
  const auto none = [](const SseEvent&) { return true; };
  const std::string piece(1 << 20, 'a');
  for (const std::string end : {"", "\n"}) {
    SseParser parser;
    std::size_t taken = 0;
    while (taken < 2 * SseParser::kMost && parser.Feed("data: " + piece + end, none))
      taken += piece.size();
    EXPECT_TRUE(parser.TooLong());
    EXPECT_LE(taken, SseParser::kMost);
  }
}

TEST(SseParser, EndsAtALongIdOrName) {
  const auto none = [](const SseEvent&) { return true; };
  for (const std::string field : {"id", "event"}) {
    SseParser good;
    EXPECT_TRUE(good.Feed(field + ": " + std::string(SseParser::kMostId, 'a') + "\n", none));
    SseParser bad;
    EXPECT_FALSE(bad.Feed(field + ": " + std::string(SseParser::kMostId + 1, 'a') + "\n", none));
    EXPECT_TRUE(bad.TooLong());
  }
}

RC_GTEST_PROP(SseParser, DoesNotCareHowBytesAreSplit, ()) {
  const auto text = *rc::gen::container<std::string>(
                        rc::gen::element('d', 'a', 't', ':', ' ', '\n', '\r', '\n', 'x')) +
                    "\n\ndata: {}\r\n\r\nid:1\nevent:log\ndata:\n\n";
  const auto whole = Parse(text);
  const auto split = Parse(text, *rc::gen::inRange<std::size_t>(1, 5));
  RC_ASSERT(whole.size() == split.size());
  for (std::size_t i = 0; i < whole.size(); ++i) {
    RC_ASSERT(whole[i].data == split[i].data);
    RC_ASSERT(whole[i].name == split[i].name);
  }
}

}  // namespace
}  // namespace muster::cli
