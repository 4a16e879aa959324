#include "server/live/stream_hub.hpp"

#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::server {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Keeps what a client would have read.
class FakeExchange final : public net::HttpExchange {
 public:
  void Respond(net::HttpResponse) override {}
  void BeginStream(int, net::Headers) override {}
  void Write(std::string data) override { read += data; }
  void End() override { ended = true; }
  bool Gone() const override { return gone; }
  std::size_t Unsent() const override { return unsent; }
  void OnGone(std::function<void()>) override {}
  void BeginSized(int, net::Headers, std::uint64_t) override {}
  void OnRoom(std::size_t, std::function<void()>) override {}
  void Keep(std::shared_ptr<void>) override {}
  void ReadBody(std::function<void(net::BodyPiece)>) override {}

  std::string read;
  std::size_t unsent = 0;
  bool ended = false;
  bool gone = false;
};

class StreamHubTest : public ::testing::Test {
 protected:
  static constexpr RunId kRun{7};

  StreamHubTest() : hub_(view_, [this](RunId) { return ended_; }, 3) {
    view_.SetWatcher([this](const std::vector<engine::News>& news) { hub_.TakeNews(news); });
  }

  void Start(std::uint64_t commit) {
    auto targets = std::make_shared<Targets>();
    for (const auto* name : {"web1", "web2", "web3", "web4", "web5"})
      targets->push_back({HostId{targets->size() + 1}, name});
    engine::RunNews news{.run = kRun,
                         .state = RunState::kRunning,
                         .commit = CommitNumber{commit},
                         .is_new = true,
                         .whole = std::make_shared<muster::Run>(),
                         .targets = targets};
    news.counts[TaskState::kWaiting] = 5;
    view_.Take({news});
  }
  void EndTask(std::uint32_t ordinal, std::uint64_t commit) {
    view_.Take({engine::TaskNews{.task = {kRun, Visit{1}, ordinal, HostId{ordinal + 1}, Attempt{1}},
                                 .state = TaskState::kSucceeded,
                                 .reason = {},
                                 .commit = CommitNumber{commit}}});
  }
  void Say(std::uint32_t ordinal) {
    LogChunk chunk;
    chunk.task = {kRun, Visit{1}, ordinal, HostId{ordinal + 1}, Attempt{1}};
    chunk.data = "hello\n";
    hub_.TakeOutput({chunk});
  }
  std::shared_ptr<FakeExchange> Listen(const std::string& topics,
                                       std::optional<CommitNumber> from = std::nullopt) {
    auto exchange = std::make_shared<FakeExchange>();
    hub_.Subscribe(*StreamHub::ParseTopics(topics), from, exchange);
    return exchange;
  }

  std::optional<muster::Run> ended_;
  LiveView view_;
  StreamHub hub_;
};

TEST_F(StreamHubTest, TellsWhatEndedSinceTheCommitSeenLast) {
  Start(10);
  EndTask(0, 11);
  EndTask(1, 12);
  EndTask(2, 13);
  const auto client = Listen("run:r7", CommitNumber{11});
  EXPECT_THAT(client->read, Not(HasSubstr("web1")));
  EXPECT_THAT(client->read, HasSubstr("web2"));
  EXPECT_THAT(client->read, HasSubstr("web3"));
  EXPECT_THAT(client->read, Not(HasSubstr("reset")));
  EXPECT_THAT(client->read, HasSubstr("event: run"));
}

TEST_F(StreamHubTest, SaysResetWhenItNoLongerRemembers) {
  Start(10);
  for (std::uint32_t i = 0; i < 5; ++i) EndTask(i, 11 + i);
  const auto forgotten = Listen("run:r7", CommitNumber{11});  // web2's step is gone, of 3 kept
  EXPECT_THAT(forgotten->read, HasSubstr("event: reset"));
  const auto remembered = Listen("run:r7", CommitNumber{12});
  EXPECT_THAT(remembered->read, Not(HasSubstr("reset")));
  EXPECT_THAT(remembered->read, HasSubstr("web3"));
}

TEST_F(StreamHubTest, SaysResetAboutTheTimeBeforeItListened) {
  Start(10);
  EXPECT_THAT(Listen("run:r7", CommitNumber{9})->read, HasSubstr("event: reset"));
  EXPECT_THAT(Listen("run:r7", CommitNumber{10})->read, Not(HasSubstr("reset")));
}

TEST_F(StreamHubTest, AnotherLeadershipEndsStreamsAndWhatItRemembers) {
  Start(10);
  EndTask(0, 11);
  const auto before = Listen("run:r7");
  view_.Forget();
  hub_.Forget();
  EXPECT_TRUE(before->ended);
  Start(20);
  EndTask(1, 21);
  EXPECT_THAT(Listen("run:r7", CommitNumber{11})->read, HasSubstr("event: reset"));
  EXPECT_THAT(Listen("run:r7", CommitNumber{20})->read, Not(HasSubstr("reset")));
}

TEST_F(StreamHubTest, ClientWithoutACommitGetsEachRunAsItStands) {
  Start(10);
  EndTask(0, 11);
  const auto client = Listen("run:r7");
  EXPECT_THAT(client->read, HasSubstr("event: run"));
  EXPECT_THAT(client->read, Not(HasSubstr("event: task")));
  EXPECT_THAT(client->read, Not(HasSubstr("reset")));
}

TEST_F(StreamHubTest, TellsOfOutputWrittenBeforeTheStreamBegan) {
  Start(10);
  EXPECT_THAT(Listen("log:r7")->read, Not(HasSubstr("event: gap")));
  Say(0);
  EXPECT_THAT(Listen("log:r7")->read, HasSubstr("event: gap"));
}

TEST_F(StreamHubTest, RunThatBeganBeforeThisServerMayHaveWritten) {
  EXPECT_THAT(Listen("log:r7")->read, HasSubstr("event: gap"));
}

TEST_F(StreamHubTest, SlowReaderGetsOneGapAndOutputAgainWhenItCaughtUp) {
  Start(10);
  const auto client = Listen("log:r7");
  client->unsent = 5 << 20;
  Say(0);
  Say(0);
  EXPECT_THAT(client->read, HasSubstr("event: gap"));
  EXPECT_THAT(client->read, Not(HasSubstr("event: log")));
  EXPECT_EQ(client->read.find("event: gap"), client->read.rfind("event: gap"));
  client->unsent = 0;
  Say(0);
  EXPECT_THAT(client->read, HasSubstr("event: log"));
}

TEST_F(StreamHubTest, OutputOfARunThatIsNotKnownIsAGap) {
  Start(10);
  const auto client = Listen("log:r7");
  view_.Forget();
  Say(0);
  EXPECT_THAT(client->read, HasSubstr("event: gap"));
  EXPECT_THAT(client->read, Not(HasSubstr("event: log")));
  Start(11);
  Say(0);
  EXPECT_THAT(client->read, HasSubstr("event: log"));
}

TEST_F(StreamHubTest, SweepForgetsWhoIsGone) {
  Start(10);
  const auto client = Listen("run:r7,log:r7");
  const auto other = Listen("run:r7");
  client->gone = true;
  hub_.Sweep();
  EXPECT_EQ(hub_.Subscribers(), 1u);
  const auto before = client->read.size();
  EndTask(0, 11);
  Say(0);
  EXPECT_EQ(client->read.size(), before);
  EXPECT_THAT(other->read, HasSubstr("web1"));
}

}  // namespace
}  // namespace muster::server
