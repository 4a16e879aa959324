#include "server/leading/slots_first.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::server {
namespace {

TEST(SlotsFirst, OvertakeOthersAndNobodyElseDoes) {
  const auto slot = [](std::string name) { return engine::FireSlot{.trigger = std::move(name)}; };
  const auto closed = [](std::uint64_t link) { return engine::LinkClosed{LinkId(link)}; };
  std::deque<engine::AnyCommand> queue{closed(1), slot("a"), closed(2), closed(3), slot("b")};
  BringSlotsFirst(queue);
  std::vector<std::string> order;
  for (const auto& command : queue)
    if (const auto* fire = std::get_if<engine::FireSlot>(&command))
      order.push_back(fire->trigger);
    else
      order.push_back(std::to_string(std::get<engine::LinkClosed>(command).link.value));
  EXPECT_THAT(order, testing::ElementsAre("a", "b", "1", "2", "3"));
}

}  // namespace
}  // namespace muster::server
