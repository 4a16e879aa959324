#include "server/gateway/output_bounds.hpp"

#include <gtest/gtest.h>

namespace muster::server {
namespace {

using Verdict = OutputBounds::Verdict;

constexpr TaskKey kTask{RunId(1), Visit(1), 0, HostId(7), Attempt(1)};
constexpr TaskKey kOther{RunId(2), Visit(1), 0, HostId(7), Attempt(1)};

LogChunk Chunk(std::uint64_t offset, std::size_t size, const TaskKey& task = kTask) {
  return {task, offset, Stream::kStdout, {}, std::string(size, 'x')};
}

link::Order OrderOf(std::uint64_t max_output) {
  Command command;
  command.max_output = max_output;
  link::Order order;
  order.task = kTask;
  order.command = std::make_shared<const Command>(std::move(command));
  return order;
}

link::Welcome WelcomeOf(link::TaskAnswer answer) {
  link::Welcome welcome;
  welcome.answers.push_back(answer);
  return welcome;
}

TEST(OutputBounds, TakesAnOrdersOutputUpToItsQuota) {
  OutputBounds bounds;
  bounds.Add(OrderOf(100));
  EXPECT_EQ(bounds.Judge(Chunk(0, 60)), Verdict::kTake);
  EXPECT_EQ(bounds.Judge(Chunk(60, 40)), Verdict::kTake);
  EXPECT_EQ(bounds.Judge(Chunk(100, 1)), Verdict::kTooMuch);
  EXPECT_EQ(bounds.Judge(Chunk(0, 101)), Verdict::kTooMuch);
}

TEST(OutputBounds, SecondOrderOfATaskGivesNoMoreRoom) {
  OutputBounds bounds;
  bounds.Add(OrderOf(100));
  ASSERT_EQ(bounds.Judge(Chunk(0, 100)), Verdict::kTake);
  bounds.Add(OrderOf(200));
  EXPECT_EQ(bounds.Judge(Chunk(100, 1)), Verdict::kTooMuch);
}

TEST(OutputBounds, TakesWhatIsSentAgain) {
  OutputBounds bounds;
  bounds.Add(OrderOf(100));
  ASSERT_EQ(bounds.Judge(Chunk(0, 50)), Verdict::kTake);
  EXPECT_EQ(bounds.Judge(Chunk(0, 50)), Verdict::kTake);
  EXPECT_EQ(bounds.Judge(Chunk(40, 20)), Verdict::kTake);
  EXPECT_EQ(bounds.Judge(Chunk(60, 1)), Verdict::kTake);
}

TEST(OutputBounds, LeavesOutWhatFollowsAHole) {
  OutputBounds bounds;
  bounds.Add(OrderOf(100));
  EXPECT_EQ(bounds.Judge(Chunk(1, 10)), Verdict::kLeaveOut);
  EXPECT_EQ(bounds.Judge(Chunk(0, 10)), Verdict::kTake);
  EXPECT_EQ(bounds.Judge(Chunk(11, 10)), Verdict::kLeaveOut);
}

TEST(OutputBounds, LeavesOutTasksThatAreNotHeld) {
  OutputBounds bounds;
  bounds.Add(OrderOf(100));
  EXPECT_EQ(bounds.Judge(Chunk(0, 1, kOther)), Verdict::kLeaveOut);
  bounds.Forget(kTask);
  EXPECT_EQ(bounds.Judge(Chunk(0, 1)), Verdict::kLeaveOut);
}

TEST(OutputBounds, WelcomeBeginsAnewFromWhatIsDurable) {
  OutputBounds bounds;
  bounds.Add(OrderOf(100));
  ASSERT_EQ(bounds.Judge(Chunk(0, 70)), Verdict::kTake);
  bounds.Begin(WelcomeOf({.task = kTask, .durable_offset = 50, .max_output = 100}));
  EXPECT_EQ(bounds.Judge(Chunk(70, 10)), Verdict::kLeaveOut);
  EXPECT_EQ(bounds.Judge(Chunk(50, 50)), Verdict::kTake);
  EXPECT_EQ(bounds.Judge(Chunk(100, 1)), Verdict::kTooMuch);
  bounds.Begin(WelcomeOf({.task = kTask, .verb = link::Verb::kForget, .max_output = 100}));
  EXPECT_EQ(bounds.Judge(Chunk(0, 1)), Verdict::kLeaveOut);
}

TEST(OutputBounds, UnknownQuotaBoundsNothingButHoles) {
  OutputBounds bounds;
  bounds.Begin(WelcomeOf({.task = kTask, .durable_offset = 1ULL << 40}));
  EXPECT_EQ(bounds.Judge(Chunk(1ULL << 40, 10)), Verdict::kTake);
  EXPECT_EQ(bounds.Judge(Chunk((1ULL << 40) + 11, 10)), Verdict::kLeaveOut);
}

}  // namespace
}  // namespace muster::server
