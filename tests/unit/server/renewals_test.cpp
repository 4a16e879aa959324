#include "server/gateway/renewals.hpp"

#include <gtest/gtest.h>

namespace muster::server {
namespace {

Renewals::Request RequestOf(std::string key) {
  return {.link = LinkId(1), .key = std::move(key), .host = "h", .pem = "pem"};
}

TEST(Renewals, NodeHasOneAtATimeAndOneInEachPeriod) {
  Renewals renewals;
  renewals.SetEvery(std::chrono::seconds(60));
  EXPECT_TRUE(renewals.Take(RequestOf("a"), MonoTime{0}));
  EXPECT_FALSE(renewals.Take(RequestOf("a"), MonoTime{100'000})) << "the first still waits";
  const auto next = renewals.Next();
  ASSERT_TRUE(next);
  EXPECT_EQ(next->key, "a");
  renewals.Done("a");
  EXPECT_FALSE(renewals.Take(RequestOf("a"), MonoTime{59'999}));
  EXPECT_TRUE(renewals.Take(RequestOf("a"), MonoTime{60'000}));
}

TEST(Renewals, AreSignedOneAfterTheOther) {
  Renewals renewals;
  EXPECT_FALSE(renewals.Next());
  EXPECT_TRUE(renewals.Take(RequestOf("a"), MonoTime{0}));
  EXPECT_TRUE(renewals.Take(RequestOf("b"), MonoTime{0}));
  ASSERT_TRUE(renewals.Next());
  EXPECT_FALSE(renewals.Next()) << "one is under way";
  renewals.Done("a");
  const auto next = renewals.Next();
  ASSERT_TRUE(next);
  EXPECT_EQ(next->key, "b");
}

TEST(Renewals, SweepForgetsOnlyThoseWhoseTimeIsOver) {
  Renewals renewals;
  renewals.SetEvery(std::chrono::seconds(60));
  EXPECT_TRUE(renewals.Take(RequestOf("a"), MonoTime{0}));
  renewals.Sweep(MonoTime{600'000});
  EXPECT_FALSE(renewals.Take(RequestOf("a"), MonoTime{600'000})) << "it still waits";
  ASSERT_TRUE(renewals.Next());
  renewals.Done("a");
  renewals.Sweep(MonoTime{600'000});
  EXPECT_TRUE(renewals.Take(RequestOf("a"), MonoTime{600'000}));
}

}  // namespace
}  // namespace muster::server
