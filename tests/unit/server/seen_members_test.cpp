#include "server/peers/seen_members.hpp"

#include <gtest/gtest.h>

namespace muster::server {
namespace {

using NameList = std::vector<std::string>;

constexpr WallTime kFirstSeen{1'000'000};

std::vector<Member> MembersNamed(const NameList& names) {
  std::vector<Member> members;
  for (const auto& name : names) members.push_back({.name = name, .url = "https://" + name});
  return members;
}

std::vector<Member> ManyMembers(const std::string& prefix, std::size_t count) {
  NameList names;
  for (std::size_t i = 0; i < count; ++i) names.push_back(prefix + std::to_string(i));
  return MembersNamed(names);
}

TEST(SeenMembers, TellWhoWentAndWhen) {
  SeenMembers seen;
  EXPECT_TRUE(seen.Note(MembersNamed({"s1", "s2"}), kFirstSeen).empty());
  EXPECT_EQ(seen.Note(MembersNamed({"s1"}), kFirstSeen + std::chrono::seconds(5)), NameList{"s2"});
  EXPECT_TRUE(seen.Note(MembersNamed({"s1"}), kFirstSeen + std::chrono::seconds(6)).empty());
  EXPECT_TRUE(seen.Views().at("s1").here);
  EXPECT_EQ(seen.Views().at("s1").since, kFirstSeen);
  EXPECT_FALSE(seen.Views().at("s2").here);
  EXPECT_EQ(seen.Views().at("s2").since, kFirstSeen + std::chrono::seconds(5));
  seen.Note(MembersNamed({"s1", "s2"}), kFirstSeen + std::chrono::seconds(9));
  EXPECT_TRUE(seen.Views().at("s2").here);
  EXPECT_EQ(seen.Views().at("s2").since, kFirstSeen + std::chrono::seconds(9));
}

TEST(SeenMembers, CountHowOftenAServerBeganToDrain) {
  SeenMembers seen;
  auto members = MembersNamed({"s1"});
  members[0].draining = true;
  seen.Note(members, kFirstSeen);
  seen.Note(members, kFirstSeen);
  EXPECT_EQ(seen.Views().at("s1").drains, 1U);
  seen.Note(MembersNamed({"s1"}), kFirstSeen);
  seen.Note(members, kFirstSeen);
  EXPECT_EQ(seen.Views().at("s1").drains, 2U);
}

TEST(SeenMembers, ForgetWhoWentADayAgo) {
  SeenMembers seen;
  seen.Note(MembersNamed({"s1", "s2"}), kFirstSeen);
  seen.Note(MembersNamed({"s1"}), kFirstSeen + std::chrono::seconds(1));
  seen.Note(MembersNamed({"s1"}), kFirstSeen + std::chrono::hours(24));
  EXPECT_TRUE(seen.Views().contains("s2"));
  seen.Note(MembersNamed({"s1"}), kFirstSeen + std::chrono::hours(24) + std::chrono::seconds(2));
  EXPECT_FALSE(seen.Views().contains("s2"));
  EXPECT_TRUE(seen.Views().contains("s1")) << "it has been there all the time";
}

TEST(SeenMembers, KeepWhoIsThereAndBoundTheRest) {
  SeenMembers seen;
  seen.Note(MembersNamed({"s1", "s2"}), kFirstSeen);
  for (int round = 1; round <= 3; ++round) {
    auto now = ManyMembers("round" + std::to_string(round) + "-", 900);
    now.push_back(MembersNamed({"s1"}).front());
    seen.Note(now, kFirstSeen + std::chrono::seconds(round));
    EXPECT_LE(seen.Views().size(), SeenMembers::kMost);
    EXPECT_TRUE(seen.Views().contains("s1"));
  }
  EXPECT_TRUE(seen.Views().contains("round3-899"));
  EXPECT_FALSE(seen.Views().contains("s2")) << "it went first";
}

TEST(SeenMembers, ListNoMoreThanTheirBoundIfAllAreThere) {
  SeenMembers seen;
  seen.Note(MembersNamed({"s1"}), kFirstSeen);
  auto now = ManyMembers("a", 5'000);
  now.push_back({.name = "s1", .url = "https://elsewhere"});
  seen.Note(now, kFirstSeen + std::chrono::seconds(1));
  EXPECT_EQ(seen.Views().size(), SeenMembers::kMost);
  EXPECT_EQ(seen.Views().at("s1").member.url, "https://elsewhere");
}

}  // namespace
}  // namespace muster::server
