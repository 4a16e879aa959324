#include "server/peers/proven_servers.hpp"

#include <gtest/gtest.h>

namespace muster::server {
namespace {

using UrlList = std::vector<std::string>;

const Member kSelfMember{.name = "s1", .url = "https://s1"};

TEST(ProvenServers, NodesAreToldOfThisServerAndOfThoseThatProvedThemselves) {
  ProvenServers proven;
  const std::vector<Member> members = {
      kSelfMember, {.name = "s2", .url = "https://s2"}, {.name = "x1", .url = "https://silent"}};
  EXPECT_EQ(proven.Urls(kSelfMember, members), UrlList{"https://s1"});
  EXPECT_FALSE(proven.All("s1", members));
  proven.Learn({"s2", "https://s2", {"a"}});
  EXPECT_EQ(proven.Urls(kSelfMember, members), (UrlList{"https://s1", "https://s2"}));
  EXPECT_FALSE(proven.All("s1", members));
  proven.Learn({"x1", "https://x1", {"a"}});
  EXPECT_TRUE(proven.All("s1", members));
}

TEST(ProvenServers, AUrlIsTheServersOwnWord) {
  ProvenServers proven;
  proven.Learn({"s2", "https://s2", {"a"}});
  const std::vector<Member> moved = {{.name = "s1", .url = "https://elsewhere"},
                                     {.name = "s2", .url = "https://elsewhere"}};
  EXPECT_EQ(proven.Urls(kSelfMember, moved), (UrlList{"https://s1", "https://s2"}));
  proven.Learn({"s2", "", {"a"}});
  EXPECT_EQ(proven.Urls(kSelfMember, moved), (UrlList{"https://s1", "https://elsewhere"}))
      << "one that does not say its URL has only that of the members";
}

TEST(ProvenServers, ThoseThatWentOrSendNodesAwayAreLeftOutWhileOthersAreThere) {
  ProvenServers proven;
  for (const char* name : {"s2", "s3"}) proven.Learn({name, std::string("https://") + name, {}});
  Member s2{.name = "s2", .url = "https://s2"};
  Member s3{.name = "s3", .url = "https://s3"};
  EXPECT_EQ(proven.Urls(kSelfMember, {kSelfMember, s3}), (UrlList{"https://s1", "https://s3"}));
  s3.draining = true;
  EXPECT_EQ(proven.Urls(kSelfMember, {kSelfMember, s2, s3}), (UrlList{"https://s1", "https://s2"}));
  s2.unfit = "old";
  EXPECT_EQ(proven.Urls(kSelfMember, {kSelfMember, s2, s3}).size(), 3U);
}

TEST(ProvenServers, KeepWhatIsKnownOfCasWhenAServerDoesNotSay) {
  ProvenServers proven;
  EXPECT_EQ(proven.Find("s2"), nullptr);
  proven.Learn({"s2", "https://s2", {"a", "b"}});
  proven.Learn({"s2", "https://s2", {}});
  EXPECT_EQ(proven.Find("s2")->cas, (UrlList{"a", "b"}));
  proven.Learn({"s2", "https://s2", {"b"}});
  EXPECT_EQ(proven.Find("s2")->cas, UrlList{"b"});
}

}  // namespace
}  // namespace muster::server
