#include "server/gateway/gateway.hpp"

#include <atomic>
#include <future>
#include <sstream>
#include <thread>

#include <gtest/gtest.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

#include "adapters/memory/memory_store.hpp"

namespace muster::server {
namespace {

constexpr HostId kHost{7};
constexpr TaskKey kTask{RunId(1), Visit(1), 0, kHost, Attempt(1)};
constexpr TaskKey kInvented{RunId(99), Visit(1), 0, kHost, Attempt(1)};

class StillClock final : public Clock {
 public:
  Now Read() const override { return {{ms}, {ms}}; }

  std::atomic<std::int64_t> ms = 1'000'000;  // until a test moves it
};

class FakeLink final : public net::LinkConnection {
 public:
  explicit FakeLink(std::uint64_t id = 1) : id_(id) {}
  std::uint64_t Id() const override { return id_; }
  const std::string& PeerKey() const override { return key_; }
  const std::string& PeerServer() const override { return server_; }
  const std::string& Remote() const override { return remote_; }
  void Send(std::string frame) override { sent.push_back(std::move(frame)); }
  std::size_t Unsent() const override { return 0; }
  void Close() override { ++closes; }

  std::vector<std::string> sent;
  int closes = 0;

 private:
  const std::uint64_t id_;
  std::string key_ = "key";
  std::string server_;
  std::string remote_ = "10.0.0.7:5";
};

// Holds back its answers: what was appended is not durable until Answer.
class SlowLogStore final : public LogStore {
 public:
  void Append(std::vector<LogChunk> chunks, Done done) override {
    appended += chunks.size();
    waiting_.push_back(std::move(done));
  }
  Result<std::uint64_t> DurableEnd(const TaskKey&) override { return 0; }
  void Finish(const TaskKey&, LogTotals, MarkDone done) override {
    done(Fail(ErrorCode::kUnavailable, "slow"));
  }
  Result<std::vector<LogChunk>> Read(const TaskKey&, std::uint64_t, std::size_t) override {
    return std::vector<LogChunk>{};
  }
  void DropDays(WallTime, DropDone done) override { done(0); }
  void Answer() {
    for (auto& done : std::exchange(waiting_, {})) done({});
  }

  std::size_t appended = 0;

 private:
  std::vector<Done> waiting_;
};

// A gateway with one link. Whatever the test says happens on the loop's thread, and is over with
// all its consequences when the call returns.
class GatewayTest : public ::testing::Test {
 protected:
  GatewayTest() : thread_([this] { loop_.Run(); }) {
    gateway_.SetSubmit(
        [this](engine::AnyCommand command) { commands_.push_back(std::move(command)); });
    Do([this] { gateway_.OnLink(link_); });
  }
  ~GatewayTest() override {
    workers_.Stop();
    loop_.Stop();
    thread_.join();
  }

  // The work, what it posted, and what came before that into the queue.
  template <typename Work>
  void Do(Work work) {
    for (int round = 0; round < 3; ++round) {
      std::promise<void> done;
      loop_.Post([&] {
        if (round == 0) work();
        done.set_value();
      });
      done.get_future().wait();
    }
  }
  void Say(const link::NodeFrame& frame) {
    Do([&] { gateway_.OnFrame(*link_, link::Encode(frame)); });
  }
  void SayHello(std::size_t tasks = 0) {
    link::NodeFrame frame;
    frame.hello.emplace();
    frame.hello->tasks.assign(
        tasks, {.task = kTask, .state = link::HeldState::kAccepted, .end = std::nullopt});
    Say(frame);
  }
  void SayOutput(const TaskKey& task, std::uint64_t offset, std::size_t size) {
    link::NodeFrame frame;
    frame.chunks.push_back({task, offset, Stream::kStdout, {}, std::string(size, 'x')});
    Say(frame);
  }
  void Tell(link::ServerFrame frame) {
    Do([&] { gateway_.Send({{LinkId(1), std::move(frame)}}); });
  }
  void Welcome() {
    link::ServerFrame frame;
    frame.welcome.emplace();
    frame.welcome->host = kHost;
    Tell(std::move(frame));
  }
  // The bytes as they are, so often.
  void SayBytes(const std::string& bytes, int times = 1) {
    Do([&] {
      for (int i = 0; i < times; ++i) gateway_.OnFrame(*link_, bytes);
    });
  }
  // The host's connection ends, and it comes back.
  void Reconnect() {
    Do([this] {
      gateway_.OnClosed(*link_);
      link_ = std::make_shared<FakeLink>(++last_link_);
      gateway_.OnLink(link_);
    });
  }
  void Order(const TaskKey& task, std::uint64_t max_output = Command().max_output) {
    Command command;
    command.max_output = max_output;
    link::ServerFrame frame;
    frame.orders.emplace_back();
    frame.orders[0].task = task;
    frame.orders[0].command = std::make_shared<const Command>(std::move(command));
    Tell(std::move(frame));
  }

  StillClock clock_;
  MemoryStore store_;
  SlowLogStore logs_;
  net::EventLoop loop_;
  WorkerPool workers_{1};
  std::vector<engine::AnyCommand> commands_;
  std::shared_ptr<FakeLink> link_ = std::make_shared<FakeLink>();
  std::uint64_t last_link_ = 1;
  Gateway gateway_{loop_, store_, logs_, clock_, workers_, {}};
  std::thread thread_;
};

TEST_F(GatewayTest, RubbishClosesTheLink) {
  Do([this] { gateway_.OnFrame(*link_, "\xff\xff\xff rubbish"); });
  EXPECT_EQ(link_->closes, 1);
}

TEST_F(GatewayTest, BeatBeforeAnyHelloClosesTheLink) {
  link::NodeFrame beat;
  beat.beat.emplace();
  Say(beat);
  EXPECT_EQ(link_->closes, 1);
  EXPECT_TRUE(link_->sent.empty());
}

TEST_F(GatewayTest, HelloWithAHundredThousandTasksClosesTheLink) {
  SayHello(100'000);
  EXPECT_EQ(link_->closes, 1);
  EXPECT_TRUE(commands_.empty());
}

TEST_F(GatewayTest, NothingCountsBeforeWelcome) {
  SayHello();
  SayOutput(kTask, 0, 10);
  EXPECT_EQ(logs_.appended, 0U);
  EXPECT_EQ(link_->closes, 0);
}

TEST_F(GatewayTest, BeatsAreAnsweredWithTheServersWhenTheyChanged) {
  std::vector<std::string> servers{"https://a"};
  Do([&] { gateway_.SetServers([&servers] { return servers; }); });
  const auto told = [this] {
    link::NodeFrame frame;
    frame.beat.emplace();
    Say(frame);
    return link::DecodeServerFrame(link_->sent.back())->beat->servers;
  };
  SayHello();
  EXPECT_TRUE(told().empty()) << "before it is welcome";
  Welcome();
  EXPECT_EQ(link::DecodeServerFrame(link_->sent.back())->welcome->servers, servers);
  EXPECT_TRUE(told().empty()) << "it was told";
  servers = {"https://a", "https://b"};
  clock_.ms += 2'000;
  EXPECT_EQ(told(), servers);
  EXPECT_TRUE(told().empty()) << "it was told";
}

TEST_F(GatewayTest, OutputOfATaskTheNodeDoesNotHoldIsDropped) {
  SayHello();
  Welcome();
  Order(kTask);
  SayOutput(kInvented, 0, 10);
  EXPECT_EQ(logs_.appended, 0U);
  SayOutput(kTask, 0, 10);
  EXPECT_EQ(logs_.appended, 1U);
  link::ServerFrame forget;
  forget.forgets.push_back(kTask);
  Tell(std::move(forget));
  SayOutput(kTask, 10, 10);
  EXPECT_EQ(logs_.appended, 1U);
  EXPECT_EQ(link_->closes, 0);
}

TEST_F(GatewayTest, OutputOfAnInventedTaskIsAcknowledgedAndNotStored) {
  link::NodeFrame hello;
  hello.hello.emplace();
  hello.hello->tasks.push_back(
      {.task = kInvented, .state = link::HeldState::kRunning, .end = std::nullopt});
  Say(hello);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  std::size_t heard = 0;
  while (heard == 0 && std::chrono::steady_clock::now() < deadline)
    Do([&] { heard = commands_.size(); });
  ASSERT_EQ(heard, 1U);
  link::ServerFrame welcome;
  welcome.welcome.emplace();
  welcome.welcome->host = kHost;
  welcome.welcome->answers.push_back({.task = kInvented, .verb = link::Verb::kKill});
  Tell(std::move(welcome));
  SayOutput(kInvented, 0, 10);
  EXPECT_EQ(logs_.appended, 0U);
  EXPECT_EQ(link_->closes, 0);
  const auto answer = link::DecodeServerFrame(link_->sent.back());
  ASSERT_EQ(answer->log_acks.size(), 1U);
  EXPECT_EQ(answer->log_acks[0].offset, 10U);
  // Its end reaches the engine, which lets the node forget it.
  link::NodeFrame ended;
  ended.reports.push_back(
      {.task = kInvented, .kind = link::ReportKind::kEnded, .end = TaskEnd{}, .log = {}});
  ended.reports[0].end->log = LogTotals{.bytes = 10};
  Say(ended);
  EXPECT_EQ(link_->closes, 0);
  ASSERT_NE(std::get_if<engine::NodeReports>(&commands_.back()), nullptr);
}

TEST_F(GatewayTest, LinkIsClosedWhenATaskEndedSinceItsHello) {
  SayHello();
  link::ServerFrame welcome;
  welcome.welcome.emplace();
  welcome.welcome->host = kHost;
  welcome.welcome->answers.push_back({.task = kTask});
  Tell(std::move(welcome));
  EXPECT_EQ(link_->closes, 1);
  EXPECT_TRUE(link_->sent.empty());
}

TEST_F(GatewayTest, OneCertificateHasAFewLinks) {
  std::vector<std::shared_ptr<FakeLink>> links;
  Do([&] {
    for (std::uint64_t id = 2; id <= 20; ++id) {
      links.push_back(std::make_shared<FakeLink>(id));
      gateway_.OnLink(links.back());
    }
  });
  EXPECT_EQ(links.front()->closes, 0);
  EXPECT_EQ(links.back()->closes, 1);
  EXPECT_EQ(gateway_.LinkCount(), 8U);
  Do([&] {
    for (const auto& link : links) gateway_.OnClosed(*link);
    gateway_.OnLink(links.back());
  });
  EXPECT_EQ(gateway_.LinkCount(), 2U);
}

TEST_F(GatewayTest, OutputPastTheQuotaClosesTheLink) {
  SayHello();
  Welcome();
  Order(kTask, 100);
  SayOutput(kTask, 0, 60);
  SayOutput(kTask, 60, 40);
  EXPECT_EQ(logs_.appended, 2U);
  EXPECT_EQ(link_->closes, 0);
  SayOutput(kTask, 100, 1);
  EXPECT_EQ(logs_.appended, 2U);
  EXPECT_EQ(link_->closes, 1);
}

TEST_F(GatewayTest, OutputOfAnotherHostClosesTheLink) {
  SayHello();
  Welcome();
  SayOutput({RunId(1), Visit(1), 0, HostId(8), Attempt(1)}, 0, 10);
  EXPECT_EQ(link_->closes, 1);
  EXPECT_EQ(logs_.appended, 0U);
}

TEST_F(GatewayTest, OutputAheadOfTheWindowClosesTheLink) {
  SayHello();
  Welcome();
  Order(kTask, 100 << 20);
  for (std::uint64_t i = 0; i < 20; ++i) SayOutput(kTask, i << 20, 1 << 20);
  EXPECT_EQ(link_->closes, 1);
  EXPECT_LT(logs_.appended, 10U);
}

TEST_F(GatewayTest, StoredOutputMakesRoomForMore) {
  SayHello();
  Welcome();
  Order(kTask, 100 << 20);
  for (std::uint64_t i = 0; i < 40; ++i) {
    SayOutput(kTask, i << 20, 1 << 20);
    Do([this] { logs_.Answer(); });
  }
  EXPECT_EQ(link_->closes, 0);
  EXPECT_EQ(logs_.appended, 40U);
}

TEST_F(GatewayTest, EndOfALinkTellsHowLongItsNodeWasSilent) {
  clock_.ms += 1'000;
  SayHello();
  clock_.ms += 45'000;
  Do([this] { gateway_.OnClosed(*link_); });
  const auto* closed = std::get_if<engine::LinkClosed>(&commands_.back());
  ASSERT_NE(closed, nullptr);
  EXPECT_EQ(closed->silent, Duration(45'000));
}

TEST_F(GatewayTest, FloodOfFramesClosesTheLink) {
  SayHello();
  link::NodeFrame beat;
  beat.beat.emplace();
  Do([&] {
    for (int i = 0; i < 200'000; ++i) gateway_.OnFrame(*link_, link::Encode(beat));
  });
  EXPECT_EQ(link_->closes, 1);
}

TEST_F(GatewayTest, FloodOfHellosClosesTheLink) {
  for (int i = 0; i < 1'000; ++i) SayHello();
  EXPECT_EQ(link_->closes, 1);
  EXPECT_LT(commands_.size(), 250U);
}

// Pieces of a task that the node does not hold: nothing is stored.
std::string Pieces(std::size_t count, std::size_t size) {
  link::NodeFrame frame;
  for (std::size_t i = 0; i < count; ++i)
    frame.chunks.push_back({kInvented, i, Stream::kStdout, WallTime{1}, std::string(size, 'x')});
  return link::Encode(frame);
}

TEST_F(GatewayTest, EmptyPieceClosesTheLink) {
  SayHello();
  Welcome();
  SayBytes(Pieces(10, 1));
  EXPECT_EQ(link_->closes, 0);
  SayBytes(Pieces(1, 0));
  EXPECT_EQ(link_->closes, 1);
}

TEST_F(GatewayTest, FrameOfTooManyPiecesClosesTheLink) {
  SayHello();
  Welcome();
  SayBytes(Pieces(20'000, 1));
  EXPECT_EQ(link_->closes, 0);
  SayBytes(Pieces(20'001, 1));
  EXPECT_EQ(link_->closes, 1);
}

TEST_F(GatewayTest, PiecesAreCharged) {
  SayHello();
  Welcome();
  SayBytes(Pieces(20'000, 1), 150);
  EXPECT_EQ(link_->closes, 1);
}

TEST_F(GatewayTest, BytesAreCharged) {
  SayHello();
  Welcome();
  SayBytes(Pieces(1, 4'000'000), 1'000);
  EXPECT_EQ(link_->closes, 1);
}

// An agent at full speed: frames of 192 KiB, 100 MiB a second.
TEST_F(GatewayTest, AgentThatSendsMuchOutputIsHeard) {
  SayHello();
  Welcome();
  const std::string frame = Pieces(3, 64 << 10);
  for (int second = 0; second < 30; ++second) {
    SayBytes(frame, 100 * 1024 / 192);
    clock_.ms += 1'000;
  }
  EXPECT_EQ(link_->closes, 0);
}

TEST_F(GatewayTest, LargeFirstFrameHasToListTasks) {
  link::NodeFrame frame;
  frame.hello.emplace();
  for (int i = 0; i < 90; ++i) frame.hello->facts[std::to_string(i)] = std::string(1'000, 'x');
  Say(frame);
  EXPECT_EQ(link_->closes, 1);
  EXPECT_TRUE(commands_.empty());
  Reconnect();
  SayHello(20'000);
  EXPECT_EQ(link_->closes, 0);
}

TEST_F(GatewayTest, RubbishIsChargedToTheCertificate) {
  int heard = 0;
  for (; heard < 100 && link_->closes == 0; ++heard) {
    SayBytes("\xff\xff\xff rubbish");
    ASSERT_EQ(link_->closes, 1);
    Reconnect();
  }
  EXPECT_LT(heard, 30);
  clock_.ms += 30'000;
  Reconnect();
  SayHello();
  EXPECT_EQ(link_->closes, 0);
  EXPECT_EQ(commands_.size() - static_cast<std::size_t>(heard), 1U) << "beside the ends of links";
}

TEST_F(GatewayTest, UsedUpAllowanceIsNoMoreOnTheNextLink) {
  SayHello();
  for (int i = 0; i < 300 && link_->closes == 0; ++i) SayHello();
  ASSERT_EQ(link_->closes, 1);
  Reconnect();
  EXPECT_EQ(link_->closes, 1);
  clock_.ms += 60'000;
  Reconnect();
  EXPECT_EQ(link_->closes, 0);
}

TEST_F(GatewayTest, RevokedHostIsRefusedAsSoonAsItComesBack) {
  SayHello();
  link::ServerFrame refusal;
  refusal.refusal = link::Refusal{"revoked", "it was revoked"};
  Tell(std::move(refusal));
  Reconnect();
  EXPECT_EQ(link_->closes, 1);
  ASSERT_EQ(link_->sent.size(), 1U);
  const auto told = link::DecodeServerFrame(link_->sent[0]);
  ASSERT_TRUE(told->refusal);
  EXPECT_EQ(told->refusal->code, "revoked");
  EXPECT_EQ(gateway_.LinkCount(), 0U);
  // Only for a while: a host that is unknown may have joined since.
  clock_.ms += 10'000;
  Reconnect();
  EXPECT_EQ(link_->closes, 0);
}

TEST_F(GatewayTest, HostThatIsKnownToBeRevokedIsNotHeardAtAll) {
  gateway_.SetRevoked([](const std::string& key) { return key == "key"; });
  Reconnect();
  EXPECT_EQ(link_->closes, 1);
  ASSERT_EQ(link_->sent.size(), 1U);
  EXPECT_EQ(link::DecodeServerFrame(link_->sent[0])->refusal->code, "revoked");
}

TEST_F(GatewayTest, ClosedLinksOfACertificateAreOneLineAMinute) {
  std::ostringstream lines;
  const auto before = spdlog::default_logger();
  spdlog::set_default_logger(std::make_shared<spdlog::logger>(
      "test", std::make_shared<spdlog::sinks::ostream_sink_mt>(lines)));
  const auto count = [&] {
    std::size_t found = 0;
    for (auto at = lines.str().find("link closed"); at != std::string::npos;
         at = lines.str().find("link closed", at + 1))
      ++found;
    return found;
  };
  for (int i = 0; i < 5; ++i) {
    SayBytes("\xff\xff\xff rubbish");
    Reconnect();
  }
  EXPECT_EQ(count(), 1U);
  clock_.ms += 61'000;
  SayBytes("\xff\xff\xff rubbish");
  EXPECT_EQ(count(), 2U);
  EXPECT_NE(lines.str().find("left_out=4"), std::string::npos);
  spdlog::set_default_logger(before);
}

TEST_F(GatewayTest, WelcomesNameTheServers) {
  const std::vector<std::string> servers = {"https://a:8440", "https://b:8440"};
  SayHello();
  Welcome();
  gateway_.SetServers([&] { return servers; });
  Welcome();
  ASSERT_EQ(link_->sent.size(), 2U);
  EXPECT_TRUE(link::DecodeServerFrame(link_->sent[0])->welcome->servers.empty());
  const auto frame = link::DecodeServerFrame(link_->sent[1]);
  EXPECT_EQ(frame->welcome->servers, servers);
  EXPECT_EQ(frame->welcome->host, kHost);
}

TEST_F(GatewayTest, GoodbyeNamesTheServersAndClosesTheLink) {
  gateway_.SetServers([] { return std::vector<std::string>{"https://b:8440"}; });
  SayHello();
  Do([this] { gateway_.SayGoodbye(Duration(20), [] { return true; }); });
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  int closes = 0;
  while (closes == 0 && std::chrono::steady_clock::now() < deadline)
    Do([&] { closes = link_->closes; });
  ASSERT_EQ(closes, 1);
  ASSERT_EQ(link_->sent.size(), 1U);
  const auto frame = link::DecodeServerFrame(link_->sent[0]);
  ASSERT_TRUE(frame->goodbye);
  EXPECT_EQ(frame->goodbye->servers, std::vector<std::string>{"https://b:8440"});
  SayOutput(kTask, 0, 10);
  EXPECT_EQ(logs_.appended, 0U) << "it is no longer listened to";
}

TEST_F(GatewayTest, GoodbyeEndsWhenItIsNoLongerWanted) {
  SayHello();
  std::promise<void> asked;
  Do([&] {
    gateway_.SayGoodbye(Duration(0), [&] {
      asked.set_value();
      return false;
    });
  });
  asked.get_future().wait();
  Do([] {});
  EXPECT_EQ(link_->closes, 0);
  EXPECT_TRUE(link_->sent.empty());
}

TEST_F(GatewayTest, NodesWithOtherServersAreSentAwayAndThoseWithoutAreHeard) {
  bool cut_off = true;
  gateway_.SetSendsAway([&] { return cut_off; });
  link::NodeFrame hello;
  hello.hello.emplace();
  Say(hello);
  EXPECT_EQ(commands_.size(), 1U);
  EXPECT_EQ(link_->closes, 0);
  hello.hello->has_others = true;
  cut_off = false;
  Say(hello);
  EXPECT_EQ(commands_.size(), 2U);
  cut_off = true;
  Say(hello);
  EXPECT_EQ(commands_.size(), 2U);
  EXPECT_EQ(link_->closes, 1);
  ASSERT_EQ(link_->sent.size(), 1U);
  EXPECT_TRUE(link::DecodeServerFrame(link_->sent[0])->goodbye);
}

TEST_F(GatewayTest, RefusedNodesAreTold) {
  std::string refused;
  gateway_.SetRefused([&](const std::string& remote) { refused = remote; });
  link::ServerFrame frame;
  frame.refusal = link::Refusal{"unknown", "who are you?"};
  Tell(std::move(frame));
  EXPECT_EQ(refused, "10.0.0.7:5");
}

}  // namespace
}  // namespace muster::server
