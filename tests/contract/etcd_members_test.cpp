#include <csignal>

#include "adapters/etcd/watcher.hpp"
#include "contract/etcd_fixture.hpp"

// An etcd of several members, and what it does to its keys.
namespace muster {
namespace {

using namespace std::chrono_literals;

// etcd elects a leader of its own among the members; so that this is over well within a lease.
PrivateEtcd::Options Three() {
  return {.members = 3, .flags = {"--heartbeat-interval", "50", "--election-timeout", "500"}};
}

class EtcdMembers : public EtcdTest {};

TEST_F(EtcdMembers, LeadershipOutlivesEachOfThree) {
  PrivateEtcd etcd(Three());
  EtcdOptions options = To(etcd.Urls());
  options.lease = 4s;
  auto one = Make(options);
  ASSERT_TRUE(Campaign(*one, "a"));
  ASSERT_EQ(Await(1), Told{"a elected"});
  for (std::size_t member = 0; member < 3; ++member) {
    etcd.Kill(member);
    EXPECT_TRUE(AwaitRenewal(*one, 4s)) << member;
    etcd.Start(member);
    ASSERT_TRUE(Eventually([&] { return etcd.Ready(member); })) << member;
  }
  for (std::size_t member = 0; member < 3; ++member) {
    etcd.Send(member, SIGSTOP);  // accepts, and never answers
    EXPECT_TRUE(AwaitRenewal(*one, 4s)) << member;
    etcd.Send(member, SIGCONT);
    ASSERT_TRUE(Eventually([&] { return etcd.Ready(member); })) << member;
  }
  EXPECT_EQ(All(), Told{"a elected"});
}

TEST_F(EtcdMembers, WithoutMajorityNobodyLeadsUntilItIsBack) {
  PrivateEtcd etcd(Three());
  auto one = Make(To(etcd.Urls()));
  auto two = Make(To(etcd.Urls()));
  ASSERT_TRUE(Campaign(*one, "a"));
  ASSERT_EQ(Await(1), Told{"a elected"});
  ASSERT_TRUE(Campaign(*two, "b"));
  etcd.Kill(1);
  etcd.Kill(2);
  EXPECT_EQ(Await(2), (Told{"a elected", "a lost"}));
  EXPECT_EQ(one->LeadUntil(), MonoTime{0});
  EXPECT_TRUE(
      Eventually([&] { return two->Trouble().starts_with("etcd: no endpoint answers: "); }));
  EXPECT_EQ(All().size(), 2U);
  etcd.Start(1);
  const Told after = Await(3);
  ASSERT_EQ(after.size(), 3U);
  EXPECT_TRUE(after.back() == "a elected" || after.back() == "b elected") << after.back();
  EXPECT_TRUE(Eventually([&] { return one->Trouble().empty() && two->Trouble().empty(); }));
}

TEST_F(EtcdMembers, WatchReadsAnewWhatWasCompactedMeanwhile) {
  PrivateEtcd etcd;
  auto one = Make(To(etcd.Urls()));
  Member self{.name = "a", .url = "https://a:8440"};
  one->Announce(self);

  TcpForwarder cable(etcd.Port(0));
  const EtcdOptions options = To({cable.Url()});
  etcd::Session session;
  etcd::Gateway gateway(*etcd::ParseEndpoints(options.endpoints), options, 300ms, session,
                        etcd::Gateway::Role::kFollows);
  etcd::View view{etcd::Keys(options.prefix)};
  const auto sees = [&] { return view.Members() == std::vector<Member>{self}; };
  etcd::Watcher watcher(gateway, etcd::Keys(options.prefix), 300ms, view, [] {});
  ASSERT_TRUE(Eventually(sees));

  // To the watch the connection is only silent.
  cable.Hold(true);
  etcd::View direct{etcd::Keys(options.prefix)};
  const EtcdOptions past_cable = To(etcd.Urls());
  etcd::Gateway reader(*etcd::ParseEndpoints(past_cable.endpoints), past_cable, 2s, session,
                       etcd::Gateway::Role::kFollows);
  etcd::Revision revision = 0;
  for (std::uint64_t links : {1, 2}) {
    self.links = links;
    one->Announce(self);
    ASSERT_TRUE(Eventually([&] {
      const auto snapshot =
          reader.AskFor("/v3/kv/range", etcd::RangeBody(options.prefix), etcd::ReadSnapshot);
      etcd::Position from_here;
      if (!snapshot) return false;
      direct.Replace(*snapshot, from_here);
      revision = snapshot->revision;
      return direct.Members() == std::vector<Member>{self};
    }));
  }
  ASSERT_EQ(etcd.Post("/v3/kv/compaction", fmt::format(R"({{"revision":"{}"}})", revision)), 200);
  EXPECT_FALSE(sees());
  cable.Hold(false);
  EXPECT_TRUE(Eventually(sees));
  // And follows from there.
  self.links = 3;
  one->Announce(self);
  EXPECT_TRUE(Eventually(sees));
}

TEST_F(EtcdMembers, SeatThatSomebodyDeletedIsTakenAgain) {
  PrivateEtcd etcd;
  auto one = Make(To(etcd.Urls()));
  const Member self{.name = "a", .url = "https://a:8440"};
  one->Announce(self);
  std::atomic<bool> gone = false;
  auto two = Make(To(etcd.Urls()));
  two->OnChange([&] { gone = gone || two->Members().empty(); });
  const auto sees = [&] { return two->Members() == std::vector<Member>{self}; };
  ASSERT_TRUE(Eventually(sees));
  gone = false;
  ASSERT_EQ(etcd.Post("/v3/kv/deleterange",
                      fmt::format(R"({{"key":"{}"}})", ToBase64("/muster/members/a"))),
            200);
  EXPECT_TRUE(Eventually([&] { return gone && sees(); }));
  two.reset();
}

TEST_F(EtcdMembers, SecondServerOfOneNameIsATrouble) {
  PrivateEtcd etcd;
  auto one = Make(To(etcd.Urls()));
  auto two = Make(To(etcd.Urls()));
  one->Announce({.name = "a", .url = "https://one:8440"});
  ASSERT_TRUE(Eventually([&] { return two->Members().size() == 1; }));
  two->Announce({.name = "a", .url = "https://two:8440"});
  EXPECT_TRUE(Eventually([&] { return one->Trouble().contains("calls itself a too"); }));
  EXPECT_EQ(two->Trouble(), "");
}

TEST_F(EtcdMembers, ClustersUnderOtherPrefixesAreApart) {
  PrivateEtcd etcd;
  EtcdOptions east = To(etcd.Urls());
  east.prefix = "/muster/east";
  EtcdOptions west = To(etcd.Urls());
  west.prefix = "/muster/west/";
  auto one = Make(east);
  auto two = Make(west);
  ASSERT_TRUE(Campaign(*one, "a"));
  ASSERT_EQ(Await(1), Told{"a elected"});
  ASSERT_TRUE(Campaign(*two, "b"));
  EXPECT_EQ(Await(2), (Told{"a elected", "b elected"}));
  EXPECT_EQ(one->Leader(), "a");
  EXPECT_EQ(two->Leader(), "b");
}

}  // namespace
}  // namespace muster
