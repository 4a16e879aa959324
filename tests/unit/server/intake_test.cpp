#include "server/gateway/intake.hpp"

#include <gtest/gtest.h>

#include "adapters/crypto/digest.hpp"
#include "adapters/memory/memory_log_store.hpp"

namespace muster::server {
namespace {

constexpr TaskKey kIntakeTask{RunId(1), Visit(1), 0, HostId(7), Attempt(1)};

class IntakeTest : public ::testing::Test {
 protected:
  IntakeTest()
      : intake_(
            logs_,
            {.reports =
                 [this](engine::NodeReports reports) { reports_.push_back(std::move(reports)); },
             .send = [this](LinkId, link::ServerFrame frame) { sent_.push_back(std::move(frame)); },
             .close = [this](LinkId, const Error& why) { closed_.push_back(why); },
             .stored = {}}) {}

  static link::NodeFrame Frame(std::string output, std::uint64_t claimed, std::string hash_of) {
    link::NodeFrame frame;
    frame.session = 3;
    if (!output.empty())
      frame.chunks.push_back({kIntakeTask, 0, Stream::kStdout, {}, std::move(output)});
    link::Report report{
        .task = kIntakeTask, .kind = link::ReportKind::kEnded, .end = TaskEnd{}, .log = {}};
    report.end->state = TaskState::kSucceeded;
    report.end->log = LogTotals{
        .bytes = claimed, .stdout_sha256 = crypto::Sha256(hash_of), .stderr_sha256 = kEmptySha256};
    frame.reports.push_back(std::move(report));
    return frame;
  }

  MemoryLogStore logs_;
  Intake intake_;
  std::vector<engine::NodeReports> reports_;
  std::vector<link::ServerFrame> sent_;
  std::vector<Error> closed_;
};

TEST_F(IntakeTest, PassesAnEndWithItsMarkOnceTheOutputIsProven) {
  intake_.Take(LinkId(1), HostId(7), Frame("hello", 5, "hello"));
  ASSERT_EQ(reports_.size(), 1U);
  EXPECT_EQ(reports_[0].session, 3U);
  ASSERT_TRUE(reports_[0].reports[0].mark);
  EXPECT_EQ(reports_[0].reports[0].mark->state, LogState::kComplete);
  ASSERT_EQ(sent_.size(), 1U);
  EXPECT_EQ(sent_[0].log_acks[0].offset, 5U);
  EXPECT_TRUE(sent_[0].forgets.empty());  // an end is acknowledged by the engine alone
}

TEST_F(IntakeTest, ClosesTheLinkWhenBytesAreMissing) {
  intake_.Take(LinkId(1), HostId(7), Frame("hel", 5, "hello"));
  EXPECT_TRUE(reports_.empty());
  EXPECT_EQ(closed_.size(), 1U);
}

TEST_F(IntakeTest, CallsAWrongHashAGap) {
  intake_.Take(LinkId(1), HostId(7), Frame("hello", 5, "other"));
  ASSERT_EQ(reports_.size(), 1U);
  EXPECT_EQ(reports_[0].reports[0].mark->state, LogState::kGap);
}

TEST_F(IntakeTest, TakesNothingAboutAnotherHostsTask) {
  intake_.Take(LinkId(1), HostId(8), Frame("hello", 5, "hello"));
  EXPECT_TRUE(reports_.empty());
  ASSERT_EQ(closed_.size(), 1U);
  EXPECT_EQ(closed_[0].code, ErrorCode::kDenied);
  EXPECT_EQ(*logs_.DurableEnd(kIntakeTask), 0U);
}

}  // namespace
}  // namespace muster::server
