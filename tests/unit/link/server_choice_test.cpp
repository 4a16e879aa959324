#include "link/server_choice.hpp"

#include <map>
#include <random>
#include <set>

#include <gtest/gtest.h>

namespace muster::link {
namespace {

const std::vector<std::string> kThree = {"https://a:8440", "https://b:8440", "https://c:8440"};
constexpr std::int64_t kLong = 3'600'000;

// The servers in the order in which a node with this seed tries them, all of them failing.
std::vector<std::string> OrderOf(const std::string& seed, const std::vector<std::string>& servers) {
  ServerChoice choice(seed, servers);
  std::vector<std::string> order;
  for (std::size_t i = 0; i < choice.Count(); ++i) {
    order.push_back(choice.Current());
    choice.Lost(0, 0);
  }
  return order;
}

TEST(ServerChoice, TriesEachOnceThenWaits) {
  ServerChoice choice("seed", kThree);
  for (int round = 0; round < 3; ++round) {
    std::set<std::string> tried;
    for (int i = 0; i < 3; ++i) {
      tried.insert(choice.Current());
      const Duration wait = choice.Lost(0, 1000);
      EXPECT_EQ(wait > Duration::zero(), i == 2) << "round " << round << " try " << i;
    }
    EXPECT_EQ(tried.size(), 3U);
  }
}

TEST(ServerChoice, WaitsLongerWithEachRound) {
  ServerChoice choice("seed", kThree);
  Duration last{};
  for (int round = 0; round < 6; ++round) {
    choice.Lost(0, 0);
    choice.Lost(0, 0);
    const Duration wait = choice.Lost(0, 0);
    EXPECT_GE(wait, last);
    last = wait;
  }
  EXPECT_GE(last, std::chrono::seconds(3));
}

TEST(ServerChoice, HasOthersUntilItWentRoundOnce) {
  ServerChoice choice("seed", kThree);
  EXPECT_TRUE(choice.HasOthers());
  choice.Lost(0, 0);
  EXPECT_TRUE(choice.HasOthers());
  choice.Lost(0, 0);
  EXPECT_FALSE(choice.HasOthers()) << "it is at the last one";
  for (int i = 0; i < 7; ++i) {
    choice.Lost(0, 0);
    EXPECT_FALSE(choice.HasOthers()) << "all failed, it may as well stay";
  }
  choice.Welcomed(0);
  choice.Lost(1, 0);
  EXPECT_FALSE(choice.HasOthers()) << "that welcome did not last";
  choice.Welcomed(1);
  choice.Lost(kLong, 0);
  EXPECT_TRUE(choice.HasOthers());
  EXPECT_FALSE(ServerChoice("seed", {kThree[0]}).HasOthers());
}

TEST(ServerChoice, WaitsBeforeItsOnlyServer) {
  ServerChoice choice("seed", {kThree[0]});
  EXPECT_GT(choice.Lost(0, 1000), Duration::zero());
  EXPECT_EQ(choice.Current(), kThree[0]);
  choice.Welcomed(0);
  EXPECT_GT(choice.Lost(kLong, 1000), Duration::zero());
}

TEST(ServerChoice, GoesToTheNextAtOnceWhenALinkIsLost) {
  ServerChoice choice("seed", kThree);
  for (std::int64_t now = 0; now < 10 * kLong; now += kLong) {
    const std::string before = choice.Current();
    choice.Welcomed(now);
    EXPECT_EQ(choice.Current(), before) << "it stays where it is welcome";
    EXPECT_EQ(choice.Lost(now + kLong, 1000), Duration::zero());
    EXPECT_NE(choice.Current(), before);
  }
}

TEST(ServerChoice, AWelcomeShortensTheNextWait) {
  ServerChoice choice("seed", {kThree[0]});
  for (int i = 0; i < 10; ++i) choice.Lost(0, 0);
  EXPECT_GT(choice.Lost(0, 0), std::chrono::seconds(10));
  choice.Welcomed(0);
  EXPECT_LT(choice.Lost(kLong, 0), std::chrono::seconds(1));
}

TEST(ServerChoice, DoesNotCircleWithoutAPauseBetweenServersThatWelcomeAndClose) {
  ServerChoice choice("seed", kThree);
  int waits = 0;
  for (int i = 0; i < 30; ++i) {
    choice.Welcomed(i);
    if (choice.Lost(i + 1, 1000) > Duration::zero()) ++waits;
  }
  EXPECT_EQ(waits, 10);
}

TEST(ServerChoice, SpreadsAFleetEvenlyAlsoAfterALoss) {
  std::map<std::string, int> first;
  std::map<std::string, std::map<std::string, int>> second;
  for (int i = 0; i < 9000; ++i) {
    const auto order = OrderOf("host-" + std::to_string(i), kThree);
    ++first[order[0]];
    ++second[order[0]][order[1]];
  }
  for (const auto& server : kThree) {
    EXPECT_NEAR(first[server], 3000, 300) << server;
    for (const auto& [next, count] : second[server]) EXPECT_NEAR(count, 1500, 250) << next;
  }
}

TEST(ServerChoice, KeepsANodesOrderWhateverOrderTheyAreNamedIn) {
  for (int i = 0; i < 100; ++i) {
    const std::string seed = std::to_string(i);
    EXPECT_EQ(OrderOf(seed, kThree), OrderOf(seed, {kThree[2], kThree[0], kThree[1], kThree[0]}));
  }
}

TEST(ServerChoice, KeepsItsHash) {
  // A change here would move every fleet at an upgrade.
  const auto names = [](const std::string& seed) {
    std::string order;
    for (const auto& server : OrderOf(seed, kThree)) order += server[8];
    return order;
  };
  EXPECT_EQ(names("one"), "cba");
  EXPECT_EQ(names("two"), "cab");
  EXPECT_EQ(names("three"), "bca");
  EXPECT_EQ(names("four"), "abc");
}

TEST(ServerChoice, ANewServerTakesOnlyItsShare) {
  auto four = kThree;
  four.push_back("https://d:8440");
  int moved = 0;
  for (int i = 0; i < 4000; ++i) {
    const std::string seed = std::to_string(i);
    const auto before = OrderOf(seed, kThree)[0];
    const auto after = OrderOf(seed, four)[0];
    if (before == after) continue;
    EXPECT_EQ(after, four[3]);
    ++moved;
  }
  EXPECT_NEAR(moved, 1000, 150);
}

TEST(ServerChoice, PrefersWhatItWasToldAndFallsBackToWhatItWasGiven) {
  ServerChoice choice("seed", {"https://old:8440"}, kThree);
  EXPECT_EQ(choice.Count(), 4U);
  for (int i = 0; i < 3; ++i) {
    EXPECT_NE(choice.Current(), "https://old:8440");
    EXPECT_EQ(choice.Lost(0, 1000), Duration::zero());
  }
  EXPECT_EQ(choice.Current(), "https://old:8440");
  EXPECT_GT(choice.Lost(0, 1000), Duration::zero());
}

TEST(ServerChoice, SaysWhatIsNews) {
  ServerChoice choice("seed", {kThree[0]});
  EXPECT_FALSE(choice.Told({}));
  EXPECT_TRUE(choice.Told(kThree));
  EXPECT_FALSE(choice.Told({kThree[2], kThree[1], kThree[0], kThree[1]}));
  EXPECT_FALSE(choice.Told({})) << "none is not news";
  EXPECT_EQ(choice.Count(), 3U);
  EXPECT_TRUE(choice.Told({kThree[1]}));
  EXPECT_EQ(choice.Count(), 2U);
}

TEST(ServerChoice, StaysWithAServerThatIsNotNamedUntilItIsLost) {
  ServerChoice choice("seed", {"https://balancer:443"});
  choice.Welcomed(0);
  choice.Told(kThree);
  EXPECT_EQ(choice.Current(), "https://balancer:443");
  EXPECT_EQ(choice.Lost(kLong, 1000), Duration::zero());
  EXPECT_TRUE(std::ranges::find(kThree, choice.Current()) != kThree.end());
  // One that was taken from the list is followed by one that is on it.
  ServerChoice other("seed", {kThree[0]}, kThree);
  other.Welcomed(0);
  other.Told({"https://d:8440", "https://e:8440"});
  other.Lost(kLong, 1000);
  EXPECT_TRUE(other.Current() == "https://d:8440" || other.Current() == "https://e:8440");
}

std::vector<std::string> WrongServers(int count) {
  std::vector<std::string> servers;
  for (int i = 0; i < count; ++i) servers.push_back("https://wrong" + std::to_string(i) + ":8440");
  return servers;
}

TEST(ServerChoice, WrongAddressesKeepANodeFromTheLastGoodOneForAFewTriesOnly) {
  for (int seed = 0; seed < 50; ++seed) {
    ServerChoice choice(std::to_string(seed), {kThree[0]});
    choice.Welcomed(0);
    auto told = WrongServers(200);
    told.push_back(kThree[0]);
    choice.Told(told);
    int tries = 0;
    choice.Lost(kLong, 0);
    while (choice.Current() != kThree[0]) {
      EXPECT_FALSE(choice.Tested());
      choice.Lost(kLong, 0);
      ASSERT_LE(++tries, 3);
    }
    EXPECT_TRUE(choice.Tested());
  }
}

TEST(ServerChoice, TriesEveryAddressInTime) {
  ServerChoice choice("seed", {kThree[0]}, WrongServers(20));
  std::set<std::string> tried;
  for (int i = 0; i < 7 * 4; ++i) {
    tried.insert(choice.Current());
    choice.Lost(0, 0);
  }
  EXPECT_EQ(tried.size(), 21U);
}

TEST(ServerChoice, KnowsWhoWelcomedItInAnEarlierLifeAlsoWhenNobodyNamesItNow) {
  ServerChoice choice("seed", {"https://moved:8440"}, WrongServers(40), {kThree[1], kThree[2]});
  std::set<std::string> tried;
  for (int i = 0; i < 5; ++i) {
    tried.insert(choice.Current());
    choice.Lost(0, 0);
  }
  EXPECT_TRUE(tried.contains(kThree[1])) << "the last one";
  EXPECT_FALSE(tried.contains(kThree[2])) << "one of long ago that is not named any more";
}

TEST(ServerChoice, SaysWhenAnotherOneWelcomesIt) {
  ServerChoice choice("seed", kThree, {}, {kThree[0]});
  const bool same = choice.Current() == kThree[0];
  EXPECT_EQ(choice.Welcomed(0), !same);
  EXPECT_FALSE(choice.Welcomed(1));
  choice.Lost(kLong, 0);
  EXPECT_TRUE(choice.Welcomed(kLong));
}

TEST(ServerChoice, WhateverHappensTheCurrentIsKnownAndARoundIsNeverWithoutAWait) {
  std::mt19937_64 random(7);
  for (int seed = 0; seed < 200; ++seed) {
    ServerChoice choice(std::to_string(seed), {kThree[0]});
    std::set<std::string> known(kThree.begin(), kThree.end());
    std::int64_t now = 0;
    std::size_t at_once = 0;
    for (int step = 0; step < 200; ++step) {
      now += static_cast<std::int64_t>(random() % 20'000);
      switch (random() % 4) {
        case 0:
          choice.Told({kThree[random() % 3], kThree[random() % 3]});
          break;
        case 1:
          choice.Welcomed(now);
          now += static_cast<std::int64_t>(random() % 20'000);
          at_once = 0;
          choice.Lost(now, random());
          break;
        default:
          at_once = choice.Lost(now, random()) == Duration::zero() ? at_once + 1 : 0;
          ASSERT_LE(at_once, 3U);
      }
      ASSERT_TRUE(known.contains(choice.Current()));
    }
  }
}

}  // namespace
}  // namespace muster::link
