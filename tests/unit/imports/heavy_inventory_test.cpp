#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "imports/inventory.hpp"
#include "support/cpu_time.hpp"

// Inventories that an attacker writes to cost as much as possible.
namespace muster::imports {
namespace {

using testing::HasSubstr;

Inventory Read(std::string text, InventoryFormat format) {
  return ReadInventory({"hosts", std::move(text)}, format);
}

std::string FirstProblem(std::string text, InventoryFormat format) {
  const auto read = Read(std::move(text), format);
  return read.problems.empty() ? "" : documents::Written(read.problems.front());
}

template <typename Each>
std::string Repeated(std::size_t count, const Each& each) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += each(i);
  return text;
}

TEST(HeavyInventory, GroupsOfGroupsKeepNoNames) {
  const auto read = [](std::size_t groups) {
    const auto begin = ThreadTime();
    const auto inventory = Read(
        "[a]\nh[1:50000]\n" +
            Repeated(groups, [](std::size_t i) { return fmt::format("[g{}:children]\na\n", i); }),
        InventoryFormat::kAnsible);
    EXPECT_TRUE(inventory.problems.empty());
    EXPECT_EQ(inventory.groups.size(), groups + 1);
    EXPECT_EQ(inventory.groups.front().hosts.size(), 50'000U);
    EXPECT_EQ(inventory.groups.back().groups, std::vector<std::string>{"a"});
    return ThreadTime() - begin;
  };
  const auto alone = read(1);
  EXPECT_LT(read(200), alone * 4) << "each group costs as much as its hosts";
}

TEST(HeavyInventory, HostsOverAllGroupsAreBounded) {
  const auto direct = [](std::size_t count) {
    return Repeated(count, [](std::size_t i) { return fmt::format("[g{}]\nh[1:100000]\n", i); });
  };
  EXPECT_EQ(FirstProblem(direct(10), InventoryFormat::kAnsible), "");
  EXPECT_THAT(FirstProblem(direct(11), InventoryFormat::kAnsible),
              HasSubstr("hosts:22:1: more than 1000000 hosts over all groups"));
  // Groups with hosts and groups become lists of names.
  const auto mixed = "[a]\nh[1:90000]\n" + Repeated(12, [](std::size_t i) {
                       return fmt::format("[g{}]\nown{}\n[g{}:children]\na\n", i, i, i);
                     });
  EXPECT_THAT(FirstProblem(mixed, InventoryFormat::kAnsible),
              HasSubstr("more than 1000000 hosts over all groups"));
}

TEST(HeavyInventory, LabelsOverAllHostsAreBounded) {
  const auto vars = Repeated(30, [](std::size_t i) { return fmt::format("v{}=1\n", i); });
  EXPECT_THAT(FirstProblem("[a]\nh[1:100000]\n[a:vars]\n" + vars, InventoryFormat::kAnsible),
              HasSubstr("more than 2000000 labels"));
  const auto words = Repeated(30, [](std::size_t i) { return fmt::format(" v{}=1", i); });
  EXPECT_THAT(FirstProblem("h[1:100000]" + words + "\n", InventoryFormat::kAnsible),
              HasSubstr("hosts:1:1: more than 2000000 variables"));
}

TEST(HeavyInventory, NamesThatNoHostCanHaveAreNotMade) {
  const std::string tail(5'000, 'a');
  EXPECT_THAT(FirstProblem("h[1-100000]" + tail + "\n", InventoryFormat::kLines),
              HasSubstr("too long for a host name"));
  EXPECT_THAT(FirstProblem("h[1:100000]" + tail + "\n", InventoryFormat::kAnsible),
              HasSubstr("too long for a host name"));
}

TEST(HeavyInventory, ReadingStopsWhenNothingMoreWouldBeTold) {
  const auto read = Read(Repeated(100, [](std::size_t) { return "- "; }), InventoryFormat::kLines);
  ASSERT_EQ(read.problems.size(), 21U);
  EXPECT_EQ(documents::Written(read.problems.back()), "hosts:1:39: more problems follow");
}

TEST(HeavyInventory, ALongLineCostsItsLength) {
  EXPECT_LT(GrowthOverFour(
                10'000,
                [](std::size_t size) {
                  EXPECT_EQ(
                      Read(Repeated(size, [](std::size_t i) { return fmt::format("h{} ", i); }),
                           InventoryFormat::kLines)
                          .hosts.size(),
                      size);
                }),
            kNotTheSquare);
  EXPECT_LT(
      GrowthOverFour(10'000,
                     [](std::size_t size) {
                       Read("h " + Repeated(size,
                                            [](std::size_t i) { return fmt::format("v{}=1 ", i); }),
                            InventoryFormat::kAnsible);
                     }),
      kNotTheSquare);
}

TEST(HeavyInventory, ColumnsOfALongLineAreInCharacters) {
  EXPECT_THAT(FirstProblem("a b c ü=1\n", InventoryFormat::kLines), HasSubstr("hosts:1:7: "));
  EXPECT_THAT(FirstProblem("a v=ü w=ü x\n", InventoryFormat::kAnsible), HasSubstr("hosts:1:11: "));
  EXPECT_THAT(FirstProblem("name,zone\nü,\"x\"y\n", InventoryFormat::kCsv),
              HasSubstr("hosts:2:6: "));
}

}  // namespace
}  // namespace muster::imports
