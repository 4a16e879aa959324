#include "adapters/egress/places.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace muster::outside {
namespace {

// How many of these can be under way at once, when each takes its place.
std::size_t Fitting(std::vector<PlaceUse> under_way, const std::vector<PlaceUse>& next) {
  const std::size_t before = under_way.size();
  for (const PlaceUse& use : next)
    if (HasPlace(under_way, use)) under_way.push_back(use);
  return under_way.size() - before;
}

std::vector<PlaceUse> Requests(std::size_t runs) {
  std::vector<PlaceUse> uses;
  for (std::size_t i = 1; i <= runs; ++i) uses.push_back({.run = RunId(i)});
  return uses;
}

TEST(HasPlace, SomeAreForMessagesAlone) {
  EXPECT_EQ(Fitting({}, Requests(20)), ServerActions::kAtOnce - ServerActions::kForMessages);
}

TEST(HasPlace, MessagesMayTakeThemAll) {
  std::vector<PlaceUse> messages;
  const std::vector<std::string> names{"a", "b", "c", "d", "e", "f", "g", "h", "i"};
  for (std::size_t i = 0; i < names.size(); ++i)
    messages.push_back({.run = RunId(i + 1), .channel = names[i]});
  EXPECT_EQ(Fitting({}, messages), ServerActions::kAtOnce);
  EXPECT_EQ(Fitting(messages, Requests(1)), 0U);
}

TEST(HasPlace, ARunHasAFewForItsRequestsAndAFewForItsMessages) {
  const PlaceUse request{.run = RunId(7)};
  EXPECT_EQ(Fitting({}, {request, request, request, request}), ServerActions::kAtOnceOfRun);
  EXPECT_EQ(Fitting({request, request}, {{.run = RunId(7), .channel = "a"},
                                         {.run = RunId(7), .channel = "b"},
                                         {.run = RunId(7), .channel = "c"}}),
            ServerActions::kAtOnceOfRun);
}

TEST(HasPlace, AChannelHasAFewForAllRunsTogether) {
  EXPECT_EQ(Fitting({}, {{.run = RunId(1), .channel = "a"},
                         {.run = RunId(2), .channel = "a"},
                         {.run = RunId(3), .channel = "a"},
                         {.run = RunId(4), .channel = "b"}}),
            ServerActions::kAtOnceOfChannel + 1);
}

TEST(HasPlace, SlowDestinationsShareHalfOfThem) {
  std::vector<PlaceUse> messages;
  const std::vector<std::string> names{"a", "b", "c", "d", "e", "f", "g", "h", "i"};
  for (std::size_t i = 0; i < names.size(); ++i)
    messages.push_back({.run = RunId(i + 1), .channel = names[i], .slow = true});
  EXPECT_EQ(Fitting({}, messages), ServerActions::kForSlow);
  messages.resize(ServerActions::kForSlow);
  EXPECT_EQ(Fitting(messages, {{.run = RunId(20), .slow = true}}), 0U);
  EXPECT_EQ(Fitting(messages, {{.run = RunId(20), .channel = "quick"}, {.run = RunId(21)}}), 2U);
}

TEST(HasPlace, WithoutARunThereIsNoneToShareWith) {
  const PlaceUse trace{};
  EXPECT_EQ(Fitting({}, {trace, trace, trace}), 3U);
}

}  // namespace
}  // namespace muster::outside
