#include <atomic>

#include "contract/coordinator_fixture.hpp"

namespace muster {
namespace {

const Member kOne{.name = "one",
                  .url = "https://one:8440",
                  .version = "1.2.3",
                  .labels = {{"region", "sh"}, {"zone", "sh1"}},
                  .links = 20'000,
                  .draining = true,
                  .trouble = "its clock"};
const Member kTwo{.name = "two \"2\"", .url = "https://two:8440"};

TEST_P(CoordinatorContract, MembersSeeEachOther) {
  auto one = cluster_.join();
  auto two = cluster_.join();
  EXPECT_EQ(one->Members(), std::vector<Member>{});
  two->Announce(kTwo);
  one->Announce(kOne);
  EXPECT_TRUE(AwaitMembers(*one, {kOne, kTwo}));
  EXPECT_TRUE(AwaitMembers(*two, {kOne, kTwo}));
}

TEST_P(CoordinatorContract, WhoeverJoinsLaterSeesTheMembers) {
  auto one = cluster_.join();
  one->Announce(kOne);
  ASSERT_TRUE(AwaitMembers(*one, {kOne}));
  auto two = cluster_.join();
  EXPECT_TRUE(AwaitMembers(*two, {kOne}));
}

TEST_P(CoordinatorContract, MemberReplacesWhatItSaid) {
  auto one = cluster_.join();
  auto two = cluster_.join();
  Member self = kOne;
  one->Announce(self);
  ASSERT_TRUE(AwaitMembers(*two, {self}));
  for (std::uint64_t links : {1, 2, 3}) {
    self.links = links;
    self.labels["zone"] = "sh" + std::to_string(links);
    one->Announce(self);
  }
  EXPECT_TRUE(AwaitMembers(*two, {self}));
  self.name = "another name";
  one->Announce(self);
  EXPECT_TRUE(AwaitMembers(*two, {self}));
}

TEST_P(CoordinatorContract, MemberThatGoesAwayIsGone) {
  auto one = cluster_.join();
  auto two = cluster_.join();
  one->Announce(kOne);
  two->Announce(kTwo);
  ASSERT_TRUE(AwaitMembers(*two, {kOne, kTwo}));
  one.reset();
  EXPECT_TRUE(AwaitMembers(*two, {kTwo}));
}

TEST_P(CoordinatorContract, MemberStaysWhenItLosesOrResigns) {
  auto one = cluster_.join();
  auto two = cluster_.join();
  one->Announce(kOne);
  ASSERT_TRUE(Campaign(*one, "one"));
  ASSERT_EQ(Await(1), Told{"one elected"});
  cluster_.depose();
  EXPECT_EQ(Await(3), (Told{"one elected", "one lost", "one elected"}));
  EXPECT_TRUE(AwaitMembers(*two, {kOne}));
  one->Resign();
  EXPECT_TRUE(AwaitLeader(*two, ""));
  EXPECT_EQ(two->Members(), std::vector<Member>{kOne});
}

TEST_P(CoordinatorContract, ChangesOfLeaderAndMembersAreTold) {
  std::atomic<int> changes = 0;
  auto one = cluster_.join();
  auto two = cluster_.join();
  two->OnChange([&] { ++changes; });
  // Whoever looks after it was told sees what it was told of.
  const auto sees = [&](const auto& condition) {
    const int before = changes;
    return condition() || (Eventually([&] { return changes > before; }) && condition());
  };
  const auto leads = [&](const std::string& name) {
    return Eventually([&] { return sees([&] { return two->Leader() == name; }); });
  };
  const auto there = [&](const std::vector<Member>& members) {
    return Eventually([&] { return sees([&] { return two->Members() == members; }); });
  };
  one->Announce(kOne);
  EXPECT_TRUE(there({kOne}));
  EXPECT_GE(changes, 1);
  ASSERT_TRUE(Campaign(*one, "one"));
  EXPECT_TRUE(leads("one"));
  one->Resign();
  EXPECT_TRUE(leads(""));
  one.reset();
  EXPECT_TRUE(there({}));
  EXPECT_TRUE(Eventually([&] { return changes >= 4; }));
  two.reset();  // before what it calls
}

}  // namespace
}  // namespace muster
