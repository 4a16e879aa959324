#include "adapters/egress/destinations.hpp"

#include <gtest/gtest.h>

namespace muster::outside {
namespace {

ServerAction Message(std::string channel) {
  return {.what = ChannelMessage{
              .channel = {.name = std::move(channel), .way = WebhookChannel{.url = "http://a/"}}}};
}

TEST(DestinationOf, IsTheChannelOrTheHostAndPort) {
  EXPECT_EQ(DestinationOf(Message("ops")), "channel ops");
  EXPECT_EQ(DestinationOf({.what = HttpAction{.url = "https://EXAMPLE.com/a"}}), "example.com:443");
  EXPECT_EQ(DestinationOf({.what = ConditionAction{.request = {.url = "http://10.0.0.1:80/b"}}}),
            "10.0.0.1:80");
  EXPECT_EQ(DestinationOf({.what = HttpAction{.url = "no url"}}), "");
}

TEST(Destinations, AreSlowByTheirLastActionAlone) {
  Destinations destinations;
  EXPECT_FALSE(destinations.IsSlow("a"));
  destinations.End("a", Destinations::kSlow, false);
  EXPECT_TRUE(destinations.IsSlow("a"));
  destinations.End("a", Duration(1), true);
  EXPECT_TRUE(destinations.IsSlow("a")) << "cut off early, which tells nothing";
  destinations.End("a", Duration(1), false);
  EXPECT_FALSE(destinations.IsSlow("a"));
  destinations.End("a", Destinations::kSlow, true);
  EXPECT_TRUE(destinations.IsSlow("a"));
}

TEST(Destinations, WithoutEndAreForgotten) {
  Destinations destinations;
  destinations.End("first", Destinations::kSlow, false);
  for (std::size_t i = 0; i < 2 * Destinations::kMost; ++i) {
    destinations.Expect(std::to_string(i));
    destinations.Begin("busy");
  }
  EXPECT_FALSE(destinations.IsSlow("first"));
  EXPECT_EQ(destinations.TurnOf("first"), 0U);
  EXPECT_GT(destinations.TurnOf("busy"), 0U);
}

TEST(NextPlace, GoesToTheDestinationThatWasNotServedForLongest) {
  Destinations destinations;
  for (const char* name : {"a", "b", "c"}) destinations.Expect(name);
  destinations.Begin("a");
  NextPlace next(destinations);
  EXPECT_TRUE(next.Offer({.run = RunId(1)}, "a"));
  EXPECT_TRUE(next.Offer({.run = RunId(2)}, "c"));
  EXPECT_TRUE(next.Offer({.run = RunId(3)}, "b"));
  EXPECT_FALSE(next.Offer({.run = RunId(4)}, "b")) << "behind the other of this destination";
}

TEST(NextPlace, LeavesOutSlowOnesThatHaveTheirShare) {
  Destinations destinations;
  for (const char* name : {"slow", "quick"}) destinations.Expect(name);
  destinations.End("slow", Destinations::kSlow, false);
  NextPlace next(destinations);
  for (std::size_t i = 0; i < ServerActions::kForSlow; ++i)
    next.AddUnderWay({.run = RunId(i + 1)}, "slow");
  EXPECT_FALSE(next.Offer({.run = RunId(20)}, "slow"));
  EXPECT_TRUE(next.Offer({.run = RunId(21)}, "quick"));
}

}  // namespace
}  // namespace muster::outside
