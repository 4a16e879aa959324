#include <csignal>
#include <fstream>

#include "adapters/etcd/gateway.hpp"
#include "adapters/etcd/messages.hpp"
#include "contract/etcd_fixture.hpp"

// A leader that stops, loses and comes back, over one etcd.
namespace muster {
namespace {

// Another process that campaigns.
class Candidate {
 public:
  Candidate(const PrivateEtcd& etcd, const std::string& name)
      : process_({ETCD_CANDIDATE, "/muster/", name, etcd.Url(0)},
                 (folder_.Path() / "said").string()) {}

  ChildProcess& Process() { return process_; }

  // All moments of what it said in this word.
  std::vector<MonoTime> Said(const std::string& word) const {
    std::ifstream file(folder_.Path() / "said");
    std::vector<MonoTime> moments;
    std::string what;
    MonoTime when;
    while (file >> what >> when.ms)
      if (what == word) moments.push_back(when);
    return moments;
  }
  bool AwaitSaid(const std::string& word, std::size_t times) const {
    return Eventually([&] { return Said(word).size() >= times; });
  }

 private:
  TempFolder folder_;
  ChildProcess process_;
};

class EtcdLeader : public EtcdTest {
 protected:
  PrivateEtcd etcd_;
};

TEST_F(EtcdLeader, FrozenProcessHadToStopBeforeAnotherIsElected) {
  Candidate frozen(etcd_, "frozen");
  ASSERT_TRUE(frozen.AwaitSaid("elected", 1));
  MonoTime elected;
  auto other = Make(To(etcd_.Urls()));
  ASSERT_TRUE(other->Campaign(
      "other",
      [&] {
        elected = Time();
        Note("elected");
      },
      [] {}));
  ASSERT_TRUE(Eventually([&] { return other->Leader() == "frozen"; }));
  // Right after a renewal, so that none comes between what it said and the signal.
  const std::size_t renewals = frozen.Said("until").size();
  ASSERT_TRUE(frozen.AwaitSaid("until", renewals + 1));
  frozen.Process().Send(SIGSTOP);
  const MonoTime until = frozen.Said("until").back();
  EXPECT_EQ(Await(1), Told{"elected"});
  EXPECT_GT(elected, until);
  EXPECT_EQ(frozen.Said("lost").size(), 0U);
  frozen.Process().Send(SIGCONT);
  ASSERT_TRUE(frozen.AwaitSaid("lost", 1));
  EXPECT_TRUE(Eventually([&] { return frozen.Said("until").back() == MonoTime{0}; }));
  // And it is a candidate again.
  other->Resign();
  EXPECT_TRUE(frozen.AwaitSaid("elected", 2));
}

TEST_F(EtcdLeader, KilledProcessIsReplaced) {
  auto killed = std::make_unique<Candidate>(etcd_, "killed");
  ASSERT_TRUE(killed->AwaitSaid("elected", 1));
  auto other = Make(To(etcd_.Urls()));
  ASSERT_TRUE(Campaign(*other, "other"));
  ASSERT_TRUE(Eventually([&] { return other->Leader() == "killed"; }));
  const MonoTime until = killed->Said("until").back();
  killed->Process().Kill();
  EXPECT_EQ(Await(1), Told{"other elected"});
  EXPECT_GT(Time(), until);
  EXPECT_EQ(other->Leader(), "other");
}

// Runs ahead of the machine's by as much as it is told.
class JumpingClock final : public Clock {
 public:
  Now Read() const override {
    Now now = clock_.Read();
    now.mono = now.mono + Duration(ahead_.load());
    return now;
  }
  void Jump(Duration by) { ahead_ += by.count(); }

 private:
  SystemClock clock_;
  std::atomic<std::int64_t> ahead_ = 0;
};

TEST_F(EtcdLeader, TimeThatPassedUnnoticedIsALoss) {
  JumpingClock clock;  // as over a suspended machine
  auto one = *EtcdCoordinator::Make(To(etcd_.Urls()), clock);
  MonoTime at_loss{1};
  ASSERT_TRUE(one->Campaign(
      "a", [&] { Note("elected"); },
      [&] {
        at_loss = one->LeadUntil();
        Note("lost");
      }));
  ASSERT_EQ(Await(1), Told{"elected"});
  clock.Jump(std::chrono::seconds(10));
  // Whoever acts sees it at once, before anybody was told.
  EXPECT_LT(one->LeadUntil(), clock.Read().mono);
  EXPECT_EQ(Await(3), (Told{"elected", "lost", "elected"}));
  EXPECT_EQ(at_loss, MonoTime{0});
  EXPECT_TRUE(Eventually([&] { return one->LeadUntil() > clock.Read().mono; }));
}

TEST_F(EtcdLeader, LosesWhenItsKeyIsDeletedAndIsElectedAgain) {
  auto one = Make(To(etcd_.Urls()));
  ASSERT_TRUE(Campaign(*one, "a"));
  ASSERT_EQ(Await(1), Told{"a elected"});
  ASSERT_EQ(etcd_.Post("/v3/kv/deleterange",
                       fmt::format(R"({{"key":"{}"}})", ToBase64("/muster/leader"))),
            200);
  EXPECT_EQ(Await(3), (Told{"a elected", "a lost", "a elected"}));
}

TEST_F(EtcdLeader, GetsANewLeaseAndItsSeatWhenEtcdForgotAll) {
  auto one = Make(To(etcd_.Urls()));
  auto two = Make(To(etcd_.Urls()));
  const Member self{.name = "a", .url = "https://a:8440"};
  one->Announce(self);
  ASSERT_TRUE(Campaign(*one, "a"));
  ASSERT_EQ(Await(1), Told{"a elected"});
  for (std::uint64_t links = 1; links < 4; ++links) {  // so that revisions go back a good way
    Member next = self;
    next.links = links;
    one->Announce(next);
    ASSERT_TRUE(Eventually([&] { return two->Members() == std::vector<Member>{next}; }));
  }
  one->Announce(self);
  etcd_.Kill(0);
  etcd_.Wipe(0);
  etcd_.Start(0);
  EXPECT_EQ(Await(3), (Told{"a elected", "a lost", "a elected"}));
  EXPECT_TRUE(Eventually([&] { return two->Leader() == "a" && one->Leader() == "a"; }));
  EXPECT_TRUE(Eventually([&] { return two->Members() == std::vector<Member>{self}; }));
  // The watch goes on from the new beginning: this is seen although nothing else changes.
  one->Resign();
  EXPECT_TRUE(Eventually([&] { return two->Leader() == ""; }));
}

TEST_F(EtcdLeader, ResignsAndEndsWhileEtcdIsSilent) {
  TcpForwarder cable(etcd_.Port(0));
  auto one = Make(To({cable.Url()}));
  auto two = Make(To(etcd_.Urls()));
  ASSERT_TRUE(Campaign(*one, "a"));
  ASSERT_EQ(Await(1), Told{"a elected"});
  ASSERT_TRUE(Campaign(*two, "b"));
  cable.Hold(true);
  one->Resign();
  EXPECT_EQ(one->LeadUntil(), MonoTime{0});
  one.reset();
  EXPECT_EQ(Await(2), (Told{"a elected", "b elected"}));
}

TEST_F(EtcdLeader, ClaimThatNobodyHeardOfIsTakenBack) {
  TcpForwarder cable(etcd_.Port(0));
  auto one = Make(To({cable.Url()}));
  auto two = Make(To(etcd_.Urls()));
  one->Announce({.name = "a", .url = "https://a:8440"});
  ASSERT_TRUE(Eventually([&] { return two->Members().size() == 1; }));
  // etcd does what it is told, and only the answer is lost. A claim is made between two renewals;
  // it may have to be tried again when one of them is lost first.
  bool claimed = false;
  for (int tries = 0; tries < 10 && !claimed; ++tries) {
    ASSERT_TRUE(Eventually([&] { return one->Trouble().empty(); }));
    cable.HoldAnswers(true);
    ASSERT_TRUE(Campaign(*one, "a"));
    claimed = Eventually([&] { return two->Leader() == "a"; }, std::chrono::seconds(1));
    one->Resign();
    cable.HoldAnswers(false);
  }
  ASSERT_TRUE(claimed);
  ASSERT_TRUE(Campaign(*two, "b"));
  EXPECT_EQ(Await(1), Told{"b elected"});
}

// Two claims under one lease: a server that resigned and is a candidate again.
TEST_F(EtcdLeader, ReleaseThatComesLateTakesNoLaterClaim) {
  const EtcdOptions options = To(etcd_.Urls());
  etcd::Session session;
  etcd::Gateway gateway(*etcd::ParseEndpoints(options.endpoints), options, std::chrono::seconds(10),
                        session, etcd::Gateway::Role::kLogsIn);
  const auto grant = gateway.AskFor("/v3/lease/grant", etcd::GrantBody(60), etcd::ReadGrant);
  ASSERT_TRUE(grant);
  const std::string key = "/muster/leader";
  const auto first = etcd::LeaderText("a", 1);
  const auto second = etcd::LeaderText("a", 2);
  const auto done = [&](const std::string& body) {
    const auto answer = gateway.AskFor("/v3/kv/txn", body, etcd::ReadTxn);
    return answer && answer->succeeded;
  };
  EXPECT_TRUE(done(etcd::ClaimBody(key, first, grant->lease)));
  const std::string late = etcd::ReleaseBody(key, first, grant->lease);
  EXPECT_TRUE(done(late));
  EXPECT_TRUE(done(etcd::ClaimBody(key, second, grant->lease)));
  EXPECT_FALSE(done(late));
  const auto found = gateway.AskFor("/v3/kv/range", etcd::RangeBody(key), etcd::ReadSnapshot);
  ASSERT_TRUE(found && found->found.size() == 1);
  EXPECT_EQ(found->found.front().value, second);
  EXPECT_FALSE(done(etcd::ReleaseBody(key, second, grant->lease + 1)));
  EXPECT_TRUE(done(etcd::ReleaseBody(key, second, grant->lease)));
}

}  // namespace
}  // namespace muster
