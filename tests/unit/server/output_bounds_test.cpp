#include "server/gateway/output_bounds.hpp"

#include <gtest/gtest.h>

namespace muster::server {
namespace {

constexpr TaskKey kBoundedTask{RunId(1), Visit(1), 0, HostId(7), Attempt(1)};
constexpr TaskKey kUnheldTask{RunId(2), Visit(1), 0, HostId(7), Attempt(1)};

link::ServerFrame OrderWithQuota(std::uint64_t max_output) {
  Command command;
  command.max_output = max_output;
  link::ServerFrame frame;
  frame.orders.emplace_back();
  frame.orders[0].task = kBoundedTask;
  frame.orders[0].command = std::make_shared<const Command>(std::move(command));
  return frame;
}

link::ServerFrame WelcomeAnswering(const link::TaskAnswer& answer) {
  link::ServerFrame frame;
  frame.welcome.emplace();
  frame.welcome->answers.push_back(answer);
  return frame;
}

enum class OutputFate { kTaken, kLeftOut, kPastQuota };

class OutputBoundsTest : public ::testing::Test {
 protected:
  OutputFate Send(std::uint64_t offset, std::size_t size, const TaskKey& task = kBoundedTask) {
    std::vector<LogChunk> chunks{{task, offset, Stream::kStdout, {}, std::string(size, 'x')}};
    if (const auto sifted = bounds_.Sift(kBoundedTask.host, chunks); !sifted) {
      EXPECT_EQ(sifted.error().code, ErrorCode::kDenied);
      return OutputFate::kPastQuota;
    }
    return chunks.empty() ? OutputFate::kLeftOut : OutputFate::kTaken;
  }

  OutputBounds bounds_;
};

TEST_F(OutputBoundsTest, TakesAnOrdersOutputUpToItsQuota) {
  bounds_.Note(OrderWithQuota(100));
  EXPECT_EQ(Send(0, 60), OutputFate::kTaken);
  EXPECT_EQ(Send(60, 40), OutputFate::kTaken);
  EXPECT_EQ(Send(100, 1), OutputFate::kPastQuota);
  EXPECT_EQ(Send(0, 101), OutputFate::kPastQuota);
}

TEST_F(OutputBoundsTest, SecondOrderOfATaskGivesNoMoreRoom) {
  bounds_.Note(OrderWithQuota(100));
  ASSERT_EQ(Send(0, 100), OutputFate::kTaken);
  bounds_.Note(OrderWithQuota(200));
  EXPECT_EQ(Send(100, 1), OutputFate::kPastQuota);
}

TEST_F(OutputBoundsTest, TakesWhatIsSentAgain) {
  bounds_.Note(OrderWithQuota(100));
  ASSERT_EQ(Send(0, 50), OutputFate::kTaken);
  EXPECT_EQ(Send(0, 50), OutputFate::kTaken);
  EXPECT_EQ(Send(40, 20), OutputFate::kTaken);
  EXPECT_EQ(Send(60, 1), OutputFate::kTaken);
}

TEST_F(OutputBoundsTest, LeavesOutWhatFollowsAHole) {
  bounds_.Note(OrderWithQuota(100));
  EXPECT_EQ(Send(1, 10), OutputFate::kLeftOut);
  EXPECT_EQ(Send(0, 10), OutputFate::kTaken);
  EXPECT_EQ(Send(11, 10), OutputFate::kLeftOut);
}

TEST_F(OutputBoundsTest, LeavesOutTasksThatAreNotHeld) {
  bounds_.Note(OrderWithQuota(100));
  EXPECT_EQ(Send(0, 1, kUnheldTask), OutputFate::kLeftOut);
  link::ServerFrame forget;
  forget.forgets.push_back(kBoundedTask);
  bounds_.Note(forget);
  EXPECT_EQ(Send(0, 1), OutputFate::kLeftOut);
}

TEST_F(OutputBoundsTest, LetsThroughWhatIsAnotherHosts) {
  EXPECT_EQ(Send(0, 1, {RunId(1), Visit(1), 0, HostId(8), Attempt(1)}), OutputFate::kTaken);
}

TEST_F(OutputBoundsTest, WelcomeBeginsAnewFromWhatIsDurable) {
  bounds_.Note(OrderWithQuota(100));
  ASSERT_EQ(Send(0, 70), OutputFate::kTaken);
  bounds_.Note(WelcomeAnswering({.task = kBoundedTask, .durable_offset = 50, .max_output = 100}));
  EXPECT_EQ(Send(70, 10), OutputFate::kLeftOut);
  EXPECT_EQ(Send(50, 50), OutputFate::kTaken);
  EXPECT_EQ(Send(100, 1), OutputFate::kPastQuota);
  bounds_.Note(
      WelcomeAnswering({.task = kBoundedTask, .verb = link::Verb::kForget, .max_output = 100}));
  EXPECT_EQ(Send(0, 1), OutputFate::kLeftOut);
}

TEST_F(OutputBoundsTest, UnknownQuotaBoundsNothingButHoles) {
  bounds_.Note(WelcomeAnswering({.task = kBoundedTask, .durable_offset = 1ULL << 40}));
  EXPECT_EQ(Send(1ULL << 40, 10), OutputFate::kTaken);
  EXPECT_EQ(Send((1ULL << 40) + 11, 10), OutputFate::kLeftOut);
}

}  // namespace
}  // namespace muster::server
