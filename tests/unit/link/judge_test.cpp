#include "link/judge.hpp"

#include <gtest/gtest.h>

namespace muster::link {
namespace {

Host Known() {
  Host host;
  host.name = "web1";
  host.store = "store-a";
  host.session = 7;
  return host;
}

Hello Says(std::string store, std::uint64_t session) {
  Hello hello;
  hello.store = std::move(store);
  hello.boot = "boot-1";
  hello.session = session;
  return hello;
}

TEST(JudgeHello, AcceptsASessionThatGrew) {
  EXPECT_EQ(JudgeHello(Known(), Says("store-a", 8), true).verdict, HelloVerdict::kAccept);
}

TEST(JudgeHello, AcceptsTheFirstHelloOfAHost) {
  EXPECT_EQ(JudgeHello(Host{}, Says("store-a", 1), true).verdict, HelloVerdict::kAccept);
}

TEST(JudgeHello, TakesTheSameSessionTwiceForACopy) {
  EXPECT_EQ(JudgeHello(Known(), Says("store-a", 7), false).verdict, HelloVerdict::kCopy);
}

TEST(JudgeHello, TakesAnotherStoreUnderTheSameKeyForACopy) {
  EXPECT_EQ(JudgeHello(Known(), Says("store-b", 9), true).verdict, HelloVerdict::kCopy);
}

TEST(JudgeHello, AsksASmallerSessionAgainBeforeItIsACopy) {
  EXPECT_EQ(JudgeHello(Known(), Says("store-a", 5), false).verdict, HelloVerdict::kBehind);
  EXPECT_EQ(JudgeHello(Known(), Says("store-a", 5), true).verdict, HelloVerdict::kCopy)
      << "an agent that does not repeat the number is judged by its link";
}

TEST(JudgeHello, TakesAnAgentThatKnowsTheNumberAndCountsLowerForACopy) {
  Hello hello = Says("store-a", 5);
  hello.seen = 7;
  EXPECT_EQ(JudgeHello(Known(), hello, false).verdict, HelloVerdict::kCopy);
}

TEST(JudgeHello, AsksAgainHoweverOftenALateHelloComes) {
  for (const std::uint64_t seen : {0, 6}) {
    Hello hello = Says("store-a", 5);
    hello.seen = seen;
    EXPECT_EQ(JudgeHello(Known(), hello, true).verdict, HelloVerdict::kBehind) << seen;
  }
}

TEST(JudgeHello, RefusesAHelloWithoutIdentity) {
  EXPECT_EQ(JudgeHello(Known(), Says("", 8), false).verdict, HelloVerdict::kStale);
  EXPECT_EQ(JudgeHello(Known(), Says("store-a", 0), false).verdict, HelloVerdict::kStale);
}

TEST(JudgeHello, KeepsRevokedAndCopiedHostsOut) {
  for (const auto state : {HostState::kRevoked, HostState::kCopy}) {
    Host host = Known();
    host.state = state;
    const auto judged = JudgeHello(host, Says("store-a", 8), true);
    EXPECT_EQ(judged.verdict, HelloVerdict::kUnwanted);
    EXPECT_NE(judged.message.find("web1"), std::string::npos);
  }
}

TEST(JudgeUnlisted, OnlyTheSameFolderOnTheSameBootMayBeAskedAgain) {
  EXPECT_EQ(JudgeUnlisted("store-a", "boot-1", Says("store-a", 1)), UnlistedVerdict::kSendAgain);
  EXPECT_EQ(JudgeUnlisted("store-a", "boot-0", Says("store-a", 1)), UnlistedVerdict::kLost);
  EXPECT_EQ(JudgeUnlisted("store-b", "boot-1", Says("store-a", 1)), UnlistedVerdict::kLost);
}

}  // namespace
}  // namespace muster::link
