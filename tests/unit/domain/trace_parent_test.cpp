#include "domain/trace_parent.hpp"

#include <gtest/gtest.h>

namespace muster {
namespace {

constexpr const char* kTrace = "4bf92f3577b34da6a3ce929d0e0e4736";
constexpr const char* kSpan = "00f067aa0ba902b7";

std::string Text(const std::string& version, const std::string& flags) {
  return version + "-" + kTrace + "-" + kSpan + "-" + flags;
}

TEST(TraceParent, IsReadAndWritten) {
  const auto parent = ParseTraceParent(Text("00", "01"));
  ASSERT_TRUE(parent);
  EXPECT_EQ(*parent, (TraceParent{.trace = kTrace, .span = kSpan, .sampled = true}));
  EXPECT_EQ(FormatTraceParent(*parent), Text("00", "01"));
}

TEST(TraceParent, OfTheFlagsOnlySampledIsKnown) {
  for (const std::string flags : {"01", "03", "ff", "0b"})
    EXPECT_TRUE(ParseTraceParent(Text("00", flags))->sampled) << flags;
  for (const std::string flags : {"00", "02", "fe", "0a"})
    EXPECT_FALSE(ParseTraceParent(Text("00", flags))->sampled) << flags;
  EXPECT_EQ(FormatTraceParent(*ParseTraceParent(Text("00", "fe"))), Text("00", "00"));
}

TEST(TraceParent, LaterVersionsMayBeLonger) {
  EXPECT_TRUE(ParseTraceParent(Text("cc", "01")));
  EXPECT_TRUE(ParseTraceParent(Text("cc", "01-what-the-future-will-be-like")));
  EXPECT_FALSE(ParseTraceParent(Text("cc", "01.what-the-future-will-be-like")));
  EXPECT_FALSE(ParseTraceParent(Text("00", "01-what-the-future-will-be-like")));
  EXPECT_FALSE(ParseTraceParent(Text("ff", "01")));
}

TEST(TraceParent, OtherTextsAreNone) {
  const std::string good = Text("00", "01");
  for (std::size_t length = 0; length < good.size(); ++length)
    EXPECT_FALSE(ParseTraceParent(good.substr(0, length))) << length;
  for (std::size_t at = 0; at < good.size(); ++at) {
    std::string bad = good;
    bad[at] = bad[at] == '-' ? '0' : 'G';
    EXPECT_FALSE(ParseTraceParent(bad)) << bad;
  }
  EXPECT_FALSE(
      ParseTraceParent(std::string("00-4BF92F3577B34DA6A3CE929D0E0E4736-") + kSpan + "-01"));
  EXPECT_FALSE(ParseTraceParent(std::string("00-") + std::string(32, '0') + "-" + kSpan + "-01"));
  EXPECT_FALSE(ParseTraceParent(std::string("00-") + kTrace + "-" + std::string(16, '0') + "-01"));
}

}  // namespace
}  // namespace muster
