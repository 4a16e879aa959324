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
  ASSERT_TRUE(bounds_.Note(OrderWithQuota(100)));
  EXPECT_EQ(Send(0, 60), OutputFate::kTaken);
  EXPECT_EQ(Send(60, 40), OutputFate::kTaken);
  EXPECT_EQ(Send(100, 1), OutputFate::kPastQuota);
  EXPECT_EQ(Send(0, 101), OutputFate::kPastQuota);
}

TEST_F(OutputBoundsTest, SecondOrderOfATaskGivesNoMoreRoom) {
  ASSERT_TRUE(bounds_.Note(OrderWithQuota(100)));
  ASSERT_EQ(Send(0, 100), OutputFate::kTaken);
  ASSERT_TRUE(bounds_.Note(OrderWithQuota(200)));
  EXPECT_EQ(Send(100, 1), OutputFate::kPastQuota);
}

TEST_F(OutputBoundsTest, TakesWhatIsSentAgain) {
  ASSERT_TRUE(bounds_.Note(OrderWithQuota(100)));
  ASSERT_EQ(Send(0, 50), OutputFate::kTaken);
  EXPECT_EQ(Send(0, 50), OutputFate::kTaken);
  EXPECT_EQ(Send(40, 20), OutputFate::kTaken);
  EXPECT_EQ(Send(60, 1), OutputFate::kTaken);
}

TEST_F(OutputBoundsTest, LeavesOutWhatFollowsAHole) {
  ASSERT_TRUE(bounds_.Note(OrderWithQuota(100)));
  EXPECT_EQ(Send(1, 10), OutputFate::kLeftOut);
  EXPECT_EQ(Send(0, 10), OutputFate::kTaken);
  EXPECT_EQ(Send(11, 10), OutputFate::kLeftOut);
}

TEST_F(OutputBoundsTest, LeavesOutTasksThatAreNotHeld) {
  ASSERT_TRUE(bounds_.Note(OrderWithQuota(100)));
  EXPECT_EQ(Send(0, 1, kUnheldTask), OutputFate::kLeftOut);
  link::ServerFrame forget;
  forget.forgets.push_back(kBoundedTask);
  ASSERT_TRUE(bounds_.Note(forget));
  EXPECT_EQ(Send(0, 1), OutputFate::kLeftOut);
}

TEST_F(OutputBoundsTest, LetsThroughWhatIsAnotherHosts) {
  EXPECT_EQ(Send(0, 1, {RunId(1), Visit(1), 0, HostId(8), Attempt(1)}), OutputFate::kTaken);
}

TEST_F(OutputBoundsTest, WelcomeBeginsAnewFromWhatIsDurable) {
  ASSERT_TRUE(bounds_.Note(OrderWithQuota(100)));
  ASSERT_EQ(Send(0, 70), OutputFate::kTaken);
  ASSERT_TRUE(bounds_.Note(
      WelcomeAnswering({.task = kBoundedTask, .durable_offset = 50, .max_output = 100})));
  EXPECT_EQ(Send(70, 10), OutputFate::kLeftOut);
  EXPECT_EQ(Send(50, 50), OutputFate::kTaken);
  EXPECT_EQ(Send(100, 1), OutputFate::kPastQuota);
  ASSERT_TRUE(bounds_.Note(
      WelcomeAnswering({.task = kBoundedTask, .verb = link::Verb::kForget, .max_output = 100})));
  EXPECT_EQ(Send(0, 1), OutputFate::kLeftOut);
}

TEST_F(OutputBoundsTest, NoByteIsTakenTwice) {
  ASSERT_TRUE(bounds_.Note(OrderWithQuota(100)));
  std::vector<LogChunk> chunks{{kBoundedTask, 0, Stream::kStdout, {}, "abcd"},
                               {kBoundedTask, 2, Stream::kStdout, {}, "cdef"},
                               {kBoundedTask, 1, Stream::kStdout, {}, "bc"}};
  ASSERT_TRUE(bounds_.Sift(kBoundedTask.host, chunks));
  ASSERT_EQ(chunks.size(), 3U);
  EXPECT_EQ(chunks[0].data, "abcd");
  EXPECT_EQ(chunks[1].data, "ef");
  EXPECT_EQ(chunks[1].offset, 4U);
  EXPECT_EQ(chunks[2].data, "");
  EXPECT_EQ(chunks[2].offset, 3U) << "its end is acknowledged all the same";
}

TEST_F(OutputBoundsTest, TaskThatIsOverSendsWhatItsRecordAllows) {
  bounds_.Expect({{kBoundedTask, 100}});
  ASSERT_TRUE(bounds_.Note(WelcomeAnswering({.task = kBoundedTask, .durable_offset = 40})));
  EXPECT_EQ(Send(40, 60), OutputFate::kTaken);
  EXPECT_EQ(Send(100, 1), OutputFate::kLeftOut);
}

TEST_F(OutputBoundsTest, MoreOfATaskThatIsOverIsAcknowledgedAndTheHostStays) {
  bounds_.Expect({{kBoundedTask, 100}});
  ASSERT_TRUE(bounds_.Note(WelcomeAnswering({.task = kBoundedTask, .durable_offset = 0})));
  std::vector<LogChunk> chunks{{kBoundedTask, 0, Stream::kStdout, {}, std::string(90, 'x')},
                               {kBoundedTask, 90, Stream::kStdout, {}, std::string(20, 'x')},
                               {kBoundedTask, 110, Stream::kStdout, {}, std::string(50, 'x')}};
  const auto acks = bounds_.Sift(kBoundedTask.host, chunks);
  ASSERT_TRUE(acks);
  ASSERT_EQ(chunks.size(), 1U);
  EXPECT_EQ(chunks[0].data.size(), 90U);
  EXPECT_EQ(*acks, (std::vector<link::LogAck>{{kBoundedTask, 160}}));
}

TEST_F(OutputBoundsTest, OutputThatIsNotWantedIsAcknowledgedAndNotTaken) {
  bounds_.Expect({{kBoundedTask, std::nullopt}});
  ASSERT_TRUE(bounds_.Note(
      WelcomeAnswering({.task = kBoundedTask, .verb = link::Verb::kKill, .durable_offset = 0})));
  std::vector<LogChunk> chunks{{kBoundedTask, 0, Stream::kStdout, {}, "abcd"},
                               {kBoundedTask, 4, Stream::kStdout, {}, "ef"}};
  const auto acks = bounds_.Sift(kBoundedTask.host, chunks);
  ASSERT_TRUE(acks);
  EXPECT_TRUE(chunks.empty());
  EXPECT_EQ(*acks, (std::vector<link::LogAck>{{kBoundedTask, 6}}));
}

TEST_F(OutputBoundsTest, OnlyKeptOutputIsProven) {
  const auto ended = [](const TaskKey& task) {
    link::Report report{
        .task = task, .kind = link::ReportKind::kEnded, .end = TaskEnd{}, .log = {}};
    report.end->log = LogTotals{.bytes = 4};
    return report;
  };
  bounds_.Expect({{kUnheldTask, std::nullopt}});
  ASSERT_TRUE(bounds_.Note(WelcomeAnswering({.task = kUnheldTask})));
  ASSERT_TRUE(bounds_.Note(OrderWithQuota(100)));
  std::vector<link::Report> reports{ended(kBoundedTask), ended(kUnheldTask),
                                    ended({RunId(3), Visit(1), 0, HostId(7), Attempt(1)})};
  bounds_.DropTotals(reports);
  EXPECT_TRUE(reports[0].end->log);
  EXPECT_FALSE(reports[1].end->log) << "it is not wanted";
  EXPECT_FALSE(reports[2].end->log) << "the node was never given it";
}

TEST_F(OutputBoundsTest, TotalsAreTakenOnceAfterEachWelcome) {
  const link::Report told{
      .task = kBoundedTask, .kind = link::ReportKind::kLogEnded, .end = {}, .log = LogTotals{}};
  const auto taken = [&] {
    std::vector<link::Report> reports{told, told};
    bounds_.DropTotals(reports);
    EXPECT_FALSE(reports[1].log);
    return reports[0].log.has_value();
  };
  ASSERT_TRUE(bounds_.Note(OrderWithQuota(100)));
  EXPECT_TRUE(taken());
  EXPECT_FALSE(taken());
  ASSERT_TRUE(bounds_.Note(WelcomeAnswering({.task = kBoundedTask, .max_output = 100})));
  EXPECT_TRUE(taken());
}

TEST_F(OutputBoundsTest, TaskThatEndedSinceItWasLookedUpIsToBeLookedUpAgain) {
  bounds_.Expect({{kUnheldTask, 100}});
  EXPECT_FALSE(bounds_.Note(WelcomeAnswering({.task = kBoundedTask})));
  EXPECT_EQ(Send(0, 1), OutputFate::kLeftOut);
}

}  // namespace
}  // namespace muster::server
