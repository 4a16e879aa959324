#include "link/node.hpp"

#include <algorithm>
#include <map>

#include <gtest/gtest.h>

#include "link/frame_bounds.hpp"

namespace muster::link {
namespace {

constexpr TaskKey kTask{RunId(1), Visit(1), 0, HostId(7), Attempt(1)};

class NodeTest : public ::testing::Test {
 protected:
  NodeTest() : node_({.version = "1", .store = "store", .boot = "boot"}, Term(3)) {}

  // Connects as session `session` and is welcomed; the server's clock is the node's plus 100,000.
  Node::Actions Connect(std::uint64_t session, std::vector<TaskAnswer> answers = {},
                        Term term = Term(3)) {
    node_.SayHello(session, now_);
    hello_ = Next()->hello;
    ServerFrame frame;
    frame.welcome = Welcome{.term = term,
                            .session = session,
                            .server_time = now_ + 100'000,
                            .echo = now_,
                            .answers = std::move(answers)};
    return node_.Receive(frame, now_);
  }

  Node::Actions Send(Order order) {
    ServerFrame frame;
    frame.orders.push_back(std::move(order));
    return node_.Receive(frame, now_);
  }

  Order MakeOrder(std::uint64_t session, std::int64_t life = 10'000) {
    Order order;
    order.task = kTask;
    order.session = session;
    order.term = Term(3);
    order.start_by = now_ + 100'000 + life;
    order.command = std::make_shared<const Command>();
    return order;
  }

  std::optional<NodeFrame> Next() {
    return node_.NextFrame([this](const TaskKey& task, std::uint64_t from,
                                  std::size_t limit) -> Result<std::vector<LogChunk>> {
      const std::string& all = output_[task];
      if (from >= all.size()) return std::vector<LogChunk>{};
      return std::vector<LogChunk>{{task, from, Stream::kStdout, {}, all.substr(from, limit)}};
    });
  }

  static TaskEnd Ended(std::uint64_t bytes) {
    TaskEnd end;
    end.state = TaskState::kSucceeded;
    end.log =
        LogTotals{.bytes = bytes, .stdout_sha256 = kEmptySha256, .stderr_sha256 = kEmptySha256};
    return end;
  }

  std::int64_t now_ = 1000;
  Node node_;
  std::optional<Hello> hello_;
  std::map<TaskKey, std::string> output_;
};

TEST_F(NodeTest, SaysHelloFirstAndNothingElseBeforeTheWelcome) {
  node_.Restore({kTask, HeldState::kRunning, {}}, 0);
  node_.SayHello(1, now_);
  const auto frame = Next();
  ASSERT_TRUE(frame && frame->hello);
  EXPECT_EQ(frame->hello->tasks.size(), 1U);
  node_.Ended(kTask, Ended(0));
  EXPECT_FALSE(Next());
}

TEST_F(NodeTest, StartsAnOrderOfItsSessionOnce) {
  Connect(5);
  EXPECT_EQ(Send(MakeOrder(5)).start.size(), 1U);
  EXPECT_TRUE(Send(MakeOrder(5)).start.empty());
}

TEST_F(NodeTest, IgnoresOrdersOfAnotherSessionOrTerm) {
  Connect(5);
  EXPECT_TRUE(Send(MakeOrder(4)).start.empty());
  Order old = MakeOrder(5);
  old.term = Term(2);
  EXPECT_TRUE(Send(old).start.empty());
  EXPECT_FALSE(Next());
}

TEST_F(NodeTest, RefusesAnOrderPastItsStartBy) {
  Connect(5);
  Order order = MakeOrder(5, 1000);
  now_ += 2000;
  EXPECT_TRUE(Send(order).start.empty());
  const auto frame = Next();
  ASSERT_EQ(frame->reports.size(), 1U);
  EXPECT_EQ(frame->reports[0].kind, ReportKind::kRefusedLate);
}

TEST_F(NodeTest, RefusesALeaderOfAnOlderTerm) {
  const auto actions = Connect(5, {}, Term(2));
  ASSERT_TRUE(actions.refused);
  EXPECT_EQ(actions.refused->code, "old_term");
  EXPECT_FALSE(node_.Welcomed());
}

// A node that asks for tickets, and what it makes of one.
class TicketTest : public ::testing::Test {
 protected:
  Node::Actions Welcomed(TermTicket ticket, Term term = Term(9)) {
    node_.SayHello(1, 0);
    ServerFrame frame;
    frame.welcome =
        Welcome{.cluster = "c", .term = term, .session = 1, .ticket = std::move(ticket)};
    return node_.Receive(frame, 0);
  }
  void ExpectRefused(const Node::Actions& actions) {
    ASSERT_TRUE(actions.refused);
    EXPECT_EQ(actions.refused->code, "no_ticket");
    EXPECT_FALSE(actions.new_term);
    EXPECT_FALSE(node_.Welcomed());
    EXPECT_EQ(node_.HighestTerm(), Term(3));
  }

  Node node_{{.store = "store",
              .boot = "boot",
              .proves = [](const TermTicket& ticket) -> Result<> {
                if (ticket.signature == "good") return {};
                return Fail(ErrorCode::kDenied, "not of this cluster");
              }},
             Term(3)};
};

TEST_F(TicketTest, ProvenTermIsBelieved) {
  const auto actions = Welcomed({"c", Term(9), "s1", "good"});
  EXPECT_FALSE(actions.refused);
  EXPECT_EQ(actions.new_term, Term(9));
  EXPECT_TRUE(node_.Welcomed());
}

TEST_F(TicketTest, TermWithoutAProofIsNeitherObeyedNorKept) {
  ExpectRefused(Welcomed({}));
  ExpectRefused(Welcomed({"c", Term(9), "s1", "forged"}));
}

TEST_F(TicketTest, TicketOfAnotherTermOrClusterProvesNothing) {
  ExpectRefused(Welcomed({"c", Term(8), "s1", "good"}));
  ExpectRefused(Welcomed({"d", Term(9), "s1", "good"}));
}

TEST_F(TicketTest, NothingCountsOfAServerThatHasProvenNoTerm) {
  ServerFrame frame;
  frame.papers = Papers{.ca_pem = "another CA", .signer = "x", .cert_pem = "y"};
  frame.beat = BeatAnswer{.echo = 1, .server_time = 1, .servers = {"https://evil:1"}};
  frame.goodbye = Goodbye{{"https://evil:2"}};
  node_.SayHello(1, 0);
  const auto expect_nothing = [&](const Node::Actions& actions) {
    EXPECT_FALSE(actions.papers);
    EXPECT_TRUE(actions.servers.empty());
  };
  expect_nothing(node_.Receive(frame, 0));
  EXPECT_TRUE(node_.Receive(frame, 0).goodbye);
  frame.welcome = Welcome{.cluster = "c", .term = Term(9), .session = 1};
  expect_nothing(node_.Receive(frame, 0));
  frame.welcome->ticket = {"c", Term(9), "s1", "good"};
  const auto actions = node_.Receive(frame, 0);
  EXPECT_TRUE(actions.papers);
  EXPECT_EQ(actions.servers, std::vector<std::string>{"https://evil:2"});
  frame.welcome->ticket = {};
  expect_nothing(node_.Receive(frame, 0));
}

TEST(TicketTextTest, FieldsCannotRunIntoEachOther) {
  EXPECT_NE(TicketText({"a\n1", Term(2), "s", ""}), TicketText({"a", Term(12), "s", ""}));
  EXPECT_NE(TicketText({"a", Term(1), "s", ""}), TicketText({"a", Term(2), "s", ""}));
  EXPECT_NE(TicketText({"a", Term(1), "s", ""}), TicketText({"a", Term(1), "t", ""}));
}

TEST_F(NodeTest, KeepsANewTermBeforeItObeys) {
  const auto actions = Connect(5, {}, Term(9));
  EXPECT_EQ(actions.new_term, Term(9));
  EXPECT_EQ(node_.HighestTerm(), Term(9));
}

TEST_F(NodeTest, RefusesForGoodWhatItDoesNotKnow) {
  Connect(5);
  Order order = MakeOrder(5);
  order.needs = {"cgroups"};
  EXPECT_TRUE(Send(order).start.empty());
  const auto frame = Next();
  ASSERT_EQ(frame->reports.size(), 1U);
  EXPECT_EQ(frame->reports[0].end->state, TaskState::kRefused);
}

TEST_F(NodeTest, JoinsStartAndEndOfAShortTaskInOneFrame) {
  Connect(5);
  Send(MakeOrder(5));
  output_[kTask] = "hello";
  node_.Started(kTask);
  node_.Output(kTask, 5);
  node_.Ended(kTask, Ended(5));
  const auto frame = Next();
  ASSERT_TRUE(frame);
  EXPECT_EQ(frame->chunks.size(), 1U);
  ASSERT_EQ(frame->reports.size(), 1U);
  EXPECT_EQ(frame->reports[0].kind, ReportKind::kEnded);
  EXPECT_TRUE(frame->reports[0].end->log);
  EXPECT_FALSE(Next());
}

TEST_F(NodeTest, CutsALongReasonWhereverItTellsIt) {
  Connect(5);
  Send(MakeOrder(5));
  TaskEnd end = Ended(0);
  end.reason = std::string(kMostReasonBytes - 4, 'x') + "ééé";  // 2 bytes each
  node_.Ended(kTask, end);
  const auto frame = Next();
  ASSERT_TRUE(frame);
  ASSERT_EQ(frame->reports.size(), 1U);
  const std::string& told = frame->reports[0].end->reason;
  EXPECT_EQ(told, std::string(kMostReasonBytes - 4, 'x') + "…");
  EXPECT_LE(told.size(), kMostReasonBytes);
}

TEST_F(NodeTest, TellsTheEndBeforeTheOutputWhenThatIsLong) {
  Connect(5);
  Send(MakeOrder(5));
  output_[kTask] = std::string(3 << 20, 'x');
  node_.Started(kTask);
  node_.Ended(kTask, Ended(output_[kTask].size()));
  std::size_t bytes = 0;
  bool told_end = false;
  while (const auto frame = Next()) {
    for (const auto& chunk : frame->chunks) bytes += chunk.data.size();
    for (const auto& report : frame->reports) {
      told_end = report.kind == ReportKind::kEnded;
      EXPECT_FALSE(report.end->log);
    }
  }
  EXPECT_TRUE(told_end);
  EXPECT_EQ(bytes, 1U << 20);  // the window
  ServerFrame ack;
  ack.log_acks.push_back({kTask, bytes});
  node_.Receive(ack, now_);
  EXPECT_TRUE(Next());
}

TEST_F(NodeTest, ListsWhatItHoldsAndSendsAgainFromTheDurableOffset) {
  Connect(5);
  Send(MakeOrder(5));
  output_[kTask] = "0123456789";
  node_.Started(kTask);
  node_.Output(kTask, 10);
  ASSERT_TRUE(Next());
  node_.Disconnected();
  Connect(6, {{kTask, Verb::kGoOn, 4, {}}});
  ASSERT_EQ(hello_->tasks.size(), 1U);
  EXPECT_EQ(hello_->tasks[0].state, HeldState::kRunning);
  const auto frame = Next();
  ASSERT_EQ(frame->chunks.size(), 1U);
  EXPECT_EQ(frame->chunks[0].offset, 4U);
  EXPECT_EQ(frame->chunks[0].data, "456789");
}

TEST_F(NodeTest, ForgetsOnlyWhenToldAndDoesNotRunTheSameAgain) {
  Connect(5);
  Send(MakeOrder(5));
  node_.Started(kTask);
  node_.Ended(kTask, Ended(0));
  Next();
  EXPECT_EQ(node_.Holding(), 1U);
  ServerFrame frame;
  frame.forgets.push_back(kTask);
  EXPECT_EQ(node_.Receive(frame, now_).forget, std::vector<TaskKey>{kTask});
  EXPECT_EQ(node_.Holding(), 0U);
  EXPECT_TRUE(Send(MakeOrder(5)).start.empty());
}

TEST_F(NodeTest, KillsWhatTheWelcomeSays) {
  node_.Restore({kTask, HeldState::kRunning, {}}, 0);
  const auto actions = Connect(5, {{kTask, Verb::kKill, 0, Duration(3000)}});
  ASSERT_EQ(actions.kill.size(), 1U);
  EXPECT_EQ(actions.kill[0].grace, Duration(3000));
}

TEST_F(NodeTest, BeginsAnewWhenAsked) {
  Connect(5);
  ServerFrame frame;
  frame.say_hello = true;
  EXPECT_TRUE(node_.Receive(frame, now_).hello_again);
  EXPECT_FALSE(node_.Welcomed());
  EXPECT_TRUE(Send(MakeOrder(5)).start.empty());
}

TEST_F(NodeTest, ManyLargeOutputsAreSpreadOverFrames) {
  constexpr std::size_t kTasks = 20;
  constexpr std::size_t kMost = 200 << 10;
  const auto bytes_of = [](const TaskEnd& end) {
    std::size_t bytes = 0;
    for (const auto& [name, value] : end.outputs) bytes += name.size() + value.size();
    return bytes;
  };
  TaskEnd end = Ended(0);
  end.outputs = {{"a", std::string(60 << 10, 'x')}};
  std::vector<TaskAnswer> answers;
  for (std::uint32_t i = 0; i < kTasks; ++i) {
    TaskKey task = kTask;
    task.ordinal = i;
    node_.Restore({.task = task, .state = HeldState::kEnded, .end = end}, 0);
    answers.push_back({.task = task, .verb = Verb::kGoOn, .durable_offset = 0, .grace = {}});
  }
  Connect(1, answers);
  ASSERT_EQ(hello_->tasks.size(), kTasks);
  std::size_t told = 0;
  std::size_t in_hello = 0;
  for (const auto& held : hello_->tasks) {
    ASSERT_EQ(held.end.has_value(), held.state == HeldState::kEnded);
    if (!held.end) continue;
    ++told;
    in_hello += bytes_of(*held.end);
  }
  EXPECT_EQ(told, 3U);
  EXPECT_LE(in_hello, kMost);
  while (const auto frame = Next()) {
    std::size_t in_frame = 0;
    for (const auto& report : frame->reports)
      if (report.kind == ReportKind::kEnded) {
        ++told;
        EXPECT_EQ(report.end, end);
        in_frame += bytes_of(*report.end);
      }
    EXPECT_LE(in_frame, kMost);
  }
  EXPECT_EQ(told, kTasks);
}

// A task that wrote byte by byte while its host was cut off.
TEST_F(NodeTest, SmallPiecesOfOutputAreSpreadOverFrames) {
  static constexpr std::uint64_t kBytes = 50'000;
  node_.Restore({.task = kTask, .state = HeldState::kRunning, .end = {}}, kBytes);
  Connect(1, {{.task = kTask, .verb = Verb::kGoOn, .durable_offset = 0, .grace = {}}});
  const auto read = [](const TaskKey& task, std::uint64_t from,
                       std::size_t limit) -> Result<std::vector<LogChunk>> {
    std::vector<LogChunk> pieces;
    for (std::uint64_t at = from; at < std::min(kBytes, from + limit); ++at)
      pieces.push_back({task, at, Stream::kStdout, {}, "x"});
    return pieces;
  };
  std::uint64_t sent = 0;
  while (const auto frame = node_.NextFrame(read)) {
    EXPECT_LE(frame->chunks.size(), kMostChunks);
    for (const auto& chunk : frame->chunks) EXPECT_EQ(chunk.offset, sent++);
  }
  EXPECT_EQ(sent, kBytes);
}

TEST_F(NodeTest, TellsItsObserverWhatItDid) {
  std::vector<std::string> told;
  node_.Observe([&](const Moment& moment) {
    told.push_back(fmt::format("{} {} {}", Name(moment.kind), moment.term.value, moment.session));
  });
  node_.Restore({TaskKey{RunId(2), Visit(1), 0, HostId(7), Attempt(1)}, HeldState::kRunning, {}},
                0);
  Connect(5);
  Send(MakeOrder(5));
  node_.Started(kTask);
  Send(MakeOrder(5));
  Send(MakeOrder(4));
  node_.Ended(kTask, Ended(0));
  Order late = MakeOrder(5, -1);
  late.task.run = RunId(3);
  Send(late);
  Order lacking = MakeOrder(5);
  lacking.task.run = RunId(4);
  lacking.needs = {"wings"};
  Send(lacking);
  EXPECT_EQ(told, (std::vector<std::string>{"found 3 0", "welcomed 3 5", "obeyed 3 5",
                                            "started 3 5", "known 3 5", "stale 3 4", "ended 3 5",
                                            "late 3 5", "refused 3 5", "ended 3 5"}));
}

TEST_F(NodeTest, TellsAnOrderWithTheClockItWasJudgedBy) {
  std::optional<Moment> told;
  node_.Observe([&](const Moment& moment) { told = moment; });
  Connect(5);
  const Order order = MakeOrder(5);
  Send(order);
  ASSERT_TRUE(told);
  EXPECT_EQ(told->kind, MomentKind::kObeyed);
  EXPECT_EQ(told->task, kTask);
  EXPECT_EQ(told->start_by, order.start_by);
  EXPECT_EQ(told->server_now, now_ + 100'000);
}

}  // namespace
}  // namespace muster::link
