#include "flow_fixture.hpp"
#include "link/judge.hpp"

namespace muster::engine {
namespace {

constexpr Duration kBetweenTries = std::chrono::minutes(1);

class Copies : public FlowFixture {
 protected:
  Copies() {
    AddHosts(1);
    Hello(100);
  }

  // h1 says Hello on a new link. `seen`: the number that a server told it.
  void Hello(std::uint64_t session, std::optional<std::uint64_t> seen = 0,
             const std::string& boot = "boot", const std::string& store = "store-1") {
    frames_.clear();
    NodeHello hello;
    hello.link = LinkId(++next_link_);
    hello.key = "key-h1";
    hello.hello.store = store;
    hello.hello.boot = boot;
    hello.hello.features = features_;
    hello.hello.session = session;
    hello.hello.seen = seen;
    Tell(std::move(hello));
    Settle();
  }
  const HostEntry& Entry() { return pipeline_->engine()->state().hosts.entries.at(HostId(1)); }
  HostState State() { return Entry().host.state; }
  std::uint64_t Session() { return Entry().host.session; }
  // The last frame asks for a Hello that knows of this session; 0: it does not ask.
  std::uint64_t AskedWith() {
    return !frames_.empty() && frames_.back().frame.say_hello ? frames_.back().frame.seen : 0;
  }
  void MakeCopy() { Hello(Session(), 0, "boot-2"); }
};

TEST_F(Copies, LateHelloOfTheOnlyAgentKeepsItsHostOnline) {
  const LinkId link = Entry().link;
  Hello(Session() - 1);
  EXPECT_EQ(AskedWith(), Session());
  EXPECT_EQ(State(), HostState::kActive);
  EXPECT_EQ(Entry().link, link) << "the agent's newer link stays";
}

TEST_F(Copies, AgentThatCountsHigherAfterItWasAskedIsAccepted) {
  Hello(Session() - 1);
  Hello(Session() + 1, Session());
  EXPECT_EQ(State(), HostState::kActive);
  EXPECT_TRUE(Entry().Online());
}

TEST_F(Copies, AgentThatCountsLowerAfterItWasAskedIsACopy) {
  Hello(Session() - 3);
  Hello(Session() - 2, Session());
  EXPECT_EQ(State(), HostState::kCopy);
  EXPECT_FALSE(Entry().Online());
}

TEST_F(Copies, CopyWasLastSeenWhenItsLinkEnded) {
  const WallTime hello = Entry().host.last_hello;
  Advance(kBetweenTries);
  MakeCopy();
  ASSERT_EQ(State(), HostState::kCopy);
  EXPECT_EQ(Entry().host.last_hello - hello, kBetweenTries);
}

TEST_F(Copies, OnlyAgentLeftIsTakenBack) {
  MakeCopy();
  ASSERT_EQ(State(), HostState::kCopy);
  std::uint64_t session = Session();
  for (Duration alone{}; alone < link::kAloneFor; alone += kBetweenTries) {
    Hello(++session);
    EXPECT_EQ(State(), HostState::kCopy);
    Advance(kBetweenTries);
  }
  Hello(++session);
  EXPECT_EQ(State(), HostState::kActive);
  EXPECT_TRUE(Entry().Online());
  EXPECT_EQ(Entry().host.note, "");
}

TEST_F(Copies, SnapshotThatWasPutBackIsTakenBackAlthoughItCountsLower) {
  Hello(Session() - 2, Session());
  ASSERT_EQ(State(), HostState::kCopy);
  std::uint64_t session = Session() - 2;
  for (int i = 0; i < 6; ++i) {
    Hello(++session);
    Advance(kBetweenTries);
  }
  EXPECT_EQ(State(), HostState::kActive);
}

TEST_F(Copies, TwoAgentsThatTakeTurnsAreNotTakenBack) {
  MakeCopy();
  const std::uint64_t session = Session();
  for (std::uint64_t i = 1; i <= 20; ++i) {
    Hello(session + i, 0, i % 2 == 0 ? "boot" : "boot-2");
    Advance(kBetweenTries);
    EXPECT_EQ(State(), HostState::kCopy);
  }
}

TEST_F(Copies, SameNumberTwiceIsAnotherAgentAlsoOnOneMachine) {
  MakeCopy();
  const std::uint64_t session = Session();
  for (std::uint64_t i = 1; i <= 20; ++i) {
    Hello(session + i / 2);
    Advance(kBetweenTries);
    EXPECT_EQ(State(), HostState::kCopy);
  }
}

TEST_F(Copies, LongSilenceProvesNothing) {
  MakeCopy();
  Hello(Session() + 1);
  Advance(2 * link::kAloneFor);
  Hello(Session() + 2);
  EXPECT_EQ(State(), HostState::kCopy) << "the network may have kept the other one away, too";
}

TEST_F(Copies, KeyWithoutTheDataFolderIsNeverTakenBack) {
  std::uint64_t session = Session();
  for (int i = 0; i < 20; ++i) {
    Hello(++session, 0, "boot", "another folder");
    EXPECT_EQ(State(), HostState::kCopy);
    Advance(kBetweenTries);
  }
}

TEST_F(Copies, BothActsAreOnTheTrail) {
  MakeCopy();
  EXPECT_EQ(Acts("agent.copy"), 1U);
  std::uint64_t session = Session();
  for (int i = 0; i < 7; ++i) {
    Hello(++session);
    Advance(kBetweenTries);
  }
  EXPECT_EQ(Acts("agent.readmit"), 1U);
}

TEST_F(Copies, RunOnACopyIsRefusedThereOnly) {
  AddHosts(2);
  MakeCopy();
  TakeOrders();
  const RunId run = Start(2);
  EXPECT_EQ(StateOf(run, 1), TaskState::kRefused);
  EXPECT_FALSE(RecordOf(run, 1).sent);
  const auto orders = TakeOrders();
  ASSERT_EQ(orders.size(), 1U);
  EXPECT_EQ(orders.front().host, HostId(2));
}

TEST_F(Copies, StartThatRequiresAllHostsIsRefused) {
  AddHosts(2);
  MakeCopy();
  StartRun start;
  start.spec.stages = {StageSpec{}};
  start.targets = std::make_shared<const Targets>(Targets{{HostId(1), "h1"}, {HostId(2), "h2"}});
  start.require_all = true;
  const auto id = Ask(std::move(start));
  Settle();
  const auto& closed = std::get<GateClosed>(*replies_.at(id));
  EXPECT_EQ(closed.gate, "left_out");
  EXPECT_NE(closed.reason.find("h1"), std::string::npos);
  EXPECT_EQ(closed.reason.find("h2"), std::string::npos);
}

TEST_F(Copies, TaskThatTheOneTakenBackDoesNotKnowIsLost) {
  const RunId run = Start(1);
  MakeCopy();
  std::uint64_t session = Session();
  for (int i = 0; i < 7; ++i) {
    Hello(++session);
    Advance(kBetweenTries);
  }
  ASSERT_EQ(State(), HostState::kActive);
  EXPECT_EQ(StateOf(run, 1), TaskState::kLost);
}

TEST_F(Copies, OneTakenBackSaysNothingOfWhatTheOtherOneRuns) {
  AddHosts(2);
  Hello(1'000);
  StageSpec stage = Named("go");
  stage.limits = {{.key = "k", .max = 1}};
  stage.max_failures = {.number = 1};
  const RunId run = StartJob(2, {stage});
  EXPECT_EQ(Sent(), (Hosts{1}));
  MakeCopy();
  std::uint64_t session = Session();
  for (int i = 0; i < 7; ++i) {
    Hello(++session);
    Advance(kBetweenTries);
  }
  ASSERT_EQ(State(), HostState::kActive);
  EXPECT_EQ(StateOf(run, 1), TaskState::kLost);
  Hello(++session);
  EXPECT_EQ(Sent(), Hosts{}) << "the copy may still be at work";
  Lead();
  SayHello(2);
  Hello(++session);
  EXPECT_EQ(Sent(), Hosts{}) << "also for the next leader";
  Advance(std::chrono::hours(2));
  EXPECT_EQ(Sent(), (Hosts{2}));
}

}  // namespace
}  // namespace muster::engine
