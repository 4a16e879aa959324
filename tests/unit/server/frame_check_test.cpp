#include "server/gateway/frame_check.hpp"

#include <gtest/gtest.h>

namespace muster::server {
namespace {

link::NodeFrame WithHello(link::Hello hello) {
  link::NodeFrame frame;
  frame.hello = std::move(hello);
  return frame;
}

bool Refused(link::NodeFrame frame) {
  const auto checked = CheckFrame(frame);
  return !checked && checked.error().code == ErrorCode::kInvalid;
}

TEST(CheckFrame, LetsAnAgentsHelloPass) {
  link::Hello hello{.version = "0.1.0", .features = {"script"}, .facts = {{"os", "debian 12"}}};
  hello.tasks.resize(kMostHeldTasks);
  auto frame = WithHello(hello);
  EXPECT_TRUE(CheckFrame(frame));
  EXPECT_EQ(*frame.hello, hello);
}

TEST(CheckFrame, RefusesAHelloWithAHundredThousandTasks) {
  link::Hello hello;
  hello.tasks.resize(100'000);
  EXPECT_TRUE(Refused(WithHello(hello)));
}

TEST(CheckFrame, RefusesHugeWords) {
  EXPECT_TRUE(Refused(WithHello({.version = std::string(1000, 'v')})));
  EXPECT_TRUE(Refused(WithHello({.store = std::string(1000, 's')})));
  EXPECT_TRUE(Refused(WithHello({.features = {std::string(1000, 'f')}})));
  EXPECT_TRUE(Refused(WithHello({.features = std::vector<std::string>(1000)})));
  EXPECT_TRUE(Refused(WithHello({.facts = {{"os", std::string(2000, 'x')}}})));
  EXPECT_TRUE(Refused(WithHello({.facts = {{std::string(2000, 'x'), "y"}}})));
  link::Hello many;
  for (int i = 0; i < 200; ++i) many.facts[std::to_string(i)] = "x";
  EXPECT_TRUE(Refused(WithHello(many)));
}

TEST(CheckFrame, RefusesFloodsOfReports) {
  link::NodeFrame frame;
  frame.reports.resize(kMostReports);
  EXPECT_FALSE(Refused(frame));
  frame.reports.resize(kMostReports + 1);
  EXPECT_TRUE(Refused(frame));
}

// An operator's words can be part of a reason: "user 'xxx…' is not allowed".
TEST(CheckFrame, CutsLongReasons) {
  link::Hello hello;
  hello.tasks.resize(1);
  hello.tasks[0].end = TaskEnd{.reason = std::string(100'000, 'x')};
  link::NodeFrame wordy = WithHello(hello);
  wordy.reports.resize(1);
  wordy.reports[0].end = TaskEnd{.reason = std::string(100'000, 'x')};
  ASSERT_TRUE(CheckFrame(wordy));
  EXPECT_EQ(wordy.reports[0].end->reason.size(), link::kMostReasonBytes);
  EXPECT_EQ(wordy.hello->tasks[0].end->reason.size(), link::kMostReasonBytes);
}

// Outputs of hosts are put together as lines host=value.
TEST(CheckFrame, RefusesOutputsThatAreNotOneLine) {
  for (const std::string value : {std::string("fine\nother=forged"), std::string("a\0b", 3)}) {
    link::NodeFrame frame;
    frame.reports.resize(1);
    frame.reports[0].end = TaskEnd{.outputs = {{"v", value}}};
    EXPECT_TRUE(Refused(frame));
    link::Hello hello;
    hello.tasks.resize(1);
    hello.tasks[0].end = frame.reports[0].end;
    EXPECT_TRUE(Refused(WithHello(hello)));
  }
  link::NodeFrame plain;
  plain.reports.resize(1);
  plain.reports[0].end = TaskEnd{.outputs = {{"v", "one line, tab\tand ü"}}};
  EXPECT_FALSE(Refused(plain));
}

TEST(CheckFrame, TakesControlsOutOfWhatPeopleRead) {
  auto frame = WithHello({.version = "1\n2", .facts = {{"o\x1bs", "a\x1b[2Jb\x7f\xc2\x9b"}}});
  frame.reports.resize(1);
  frame.reports[0].end = TaskEnd{.reason = "no\x07such"};
  ASSERT_TRUE(CheckFrame(frame));
  EXPECT_EQ(frame.hello->version, "1 2");
  EXPECT_EQ(frame.hello->facts.begin()->first, "o s");
  EXPECT_EQ(frame.hello->facts.begin()->second, "a [2Jb   ");
  EXPECT_EQ(frame.reports[0].end->reason, "no such");
  auto text = WithHello({.facts = {{"os", "grün ·"}}});
  ASSERT_TRUE(CheckFrame(text));
  EXPECT_EQ(text.hello->facts.begin()->second, "grün ·");
}

}  // namespace
}  // namespace muster::server
