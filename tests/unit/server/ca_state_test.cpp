#include "server/certificates/ca_state.hpp"

#include <gtest/gtest.h>

#include "support/temp_folder.hpp"

namespace muster::server {
namespace {

constexpr WallTime kStateTime{1'000'000};

// s1, which was started with CA "old" and the next one "new", as the two other servers and 5 hosts.
CaState ReadyToUse() {
  return {.server = "s1",
          .cas = {"old", "new"},
          .trusts = "both",
          .cluster = {.servers = {{"s2", "https://s2", {"old", "new"}},
                                  {"s3", "https://s3", {"old", "new"}}},
                      .hosts = {{"old", "both", 5, "h1"}}},
          .written = kStateTime};
}

CaState ReadyToDrop() {
  CaState state = ReadyToUse();
  state.cas = {"new", "old"};
  for (auto& server : state.cluster.servers) server.cas = {"new", "old"};
  state.cluster.hosts = {{"new", "both", 5, "h1"}};
  return state;
}

bool Refused(const Result<>& result) {
  return !result && result.error().code == ErrorCode::kConflict;
}

TEST(CaStateTest, IsReadAsItWasWritten) {
  const TempFolder temp;
  EXPECT_EQ(ReadCaState(temp.Path()).error().code, ErrorCode::kNotFound);
  const CaState state = ReadyToUse();
  ASSERT_TRUE(WriteCaState(temp.Path(), state));
  const auto read = ReadCaState(temp.Path());
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->server, state.server);
  EXPECT_EQ(read->cas, state.cas);
  EXPECT_EQ(read->trusts, state.trusts);
  EXPECT_EQ(read->cluster, state.cluster);
  EXPECT_EQ(read->written, state.written);
}

TEST(CaStateTest, IsKeptAgainWhenItChangesOrGetsOld) {
  const CaState before = ReadyToUse();
  CaState now = before;
  now.written = before.written + std::chrono::seconds(1);
  EXPECT_FALSE(IsCaStateNews(before, now));
  now.written = before.written + std::chrono::minutes(1);
  EXPECT_TRUE(IsCaStateNews(before, now));
  now = before;
  now.cluster.hosts.clear();
  EXPECT_TRUE(IsCaStateNews(before, now));
}

TEST(CaStateTest, HostsAreGroupedAndRevokedOnesLeftOut) {
  Host one{.id = HostId(1), .name = "h1", .facts = {{"ca", "old"}, {"trusts", "both"}}};
  Host two{.id = HostId(2), .name = "h2", .facts = {{"ca", "old"}, {"trusts", "both"}}};
  Host behind{.id = HostId(3), .name = "h3", .facts = {{"ca", "old"}, {"trusts", "one"}}};
  Host silent{.id = HostId(4), .name = "h4"};
  Host revoked = behind;
  revoked.state = HostState::kRevoked;
  const auto groups = GroupByCa({&two, &one, &behind, &silent, &revoked});
  EXPECT_EQ(groups, (std::vector<HostsOfCa>{
                        {"", "", 1, "h4"}, {"old", "both", 2, "h1, h2"}, {"old", "one", 1, "h3"}}));
}

TEST(CaStateTest, HostsThatToldNothingStandAgainstAStep) {
  Host silent{.id = HostId(4), .name = "h4"};
  for (CaState state : {ReadyToUse(), ReadyToDrop()}) {
    const bool use = state.cas.front() == "old";
    const auto step = [&] {
      return use ? MayUseCa(state, "new", kStateTime) : MayDropCas(state, "new", kStateTime);
    };
    EXPECT_TRUE(step());
    const auto groups = GroupByCa({&silent});
    state.cluster.hosts.insert(state.cluster.hosts.end(), groups.begin(), groups.end());
    ASSERT_TRUE(Refused(step()));
    EXPECT_NE(step().error().message.find("h4"), std::string::npos) << "it is named";
  }
}

TEST(CaStateTest, OneServerOfAClusterMakesTheNextCa) {
  CaState state = ReadyToUse();
  for (auto& server : state.cluster.servers) server.cas = {"old"};
  EXPECT_TRUE(MayAddCa(state, {"old"}));
  state.server = "s4";
  EXPECT_TRUE(Refused(MayAddCa(state, {"old"}))) << "another one comes before it";
  state.server = "s1";
  state.cluster.servers[1].cas = {"old", "other"};
  EXPECT_TRUE(Refused(MayAddCa(state, {"old"}))) << "there is one already";
  state.cluster.servers.clear();
  EXPECT_TRUE(MayAddCa(state, {"old"}));
}

TEST(CaStateTest, NextCaSignsWhenAllHaveIt) {
  EXPECT_TRUE(MayUseCa(ReadyToUse(), "new", kStateTime));

  CaState not_served = ReadyToUse();
  not_served.cas = {"old"};
  EXPECT_TRUE(Refused(MayUseCa(not_served, "new", kStateTime)));

  CaState server_behind = ReadyToUse();
  server_behind.cluster.servers[1].cas = {"old"};
  EXPECT_TRUE(Refused(MayUseCa(server_behind, "new", kStateTime)));
  server_behind.cluster.servers[1].cas = {};
  EXPECT_TRUE(Refused(MayUseCa(server_behind, "new", kStateTime))) << "nothing is known of it";

  CaState host_behind = ReadyToUse();
  host_behind.cluster.hosts.push_back({"old", "one", 1, "h9"});
  EXPECT_TRUE(Refused(MayUseCa(host_behind, "new", kStateTime)));

  const WallTime later = kStateTime + std::chrono::hours(1);
  EXPECT_TRUE(Refused(MayUseCa(ReadyToUse(), "new", later))) << "the others may have changed";
  CaState alone = ReadyToUse();
  alone.cluster.servers.clear();
  EXPECT_TRUE(MayUseCa(alone, "new", later));
}

TEST(CaStateTest, OldCaGoesWhenNobodyNeedsIt) {
  EXPECT_TRUE(MayDropCas(ReadyToDrop(), "new", kStateTime));

  CaState not_served = ReadyToDrop();
  not_served.cas = {"old", "new"};
  EXPECT_TRUE(Refused(MayDropCas(not_served, "new", kStateTime)));

  CaState server_behind = ReadyToDrop();
  server_behind.cluster.servers[0].cas = {"old", "new"};
  EXPECT_TRUE(Refused(MayDropCas(server_behind, "new", kStateTime)));

  CaState host_behind = ReadyToDrop();
  host_behind.cluster.hosts.push_back({"old", "both", 1, "h9"});
  EXPECT_TRUE(Refused(MayDropCas(host_behind, "new", kStateTime)));

  EXPECT_TRUE(MayDropCas(ReadyToUse(), "old", kStateTime)) << "the next one is taken back";
}

TEST(CaStateTest, AUseIsTakenBackWhileAllTrustTheOldCa) {
  EXPECT_TRUE(MayUndoCa(ReadyToDrop(), "old", kStateTime));
  CaState dropped = ReadyToDrop();
  dropped.cluster.servers[0].cas = {"new"};
  EXPECT_TRUE(Refused(MayUndoCa(dropped, "old", kStateTime)));
}

}  // namespace
}  // namespace muster::server
