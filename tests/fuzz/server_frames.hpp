#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "fuzz/choices.hpp"
#include "link/messages.hpp"

// Frames of a server as an input decides: of the right form and about tasks that exist, so that
// they reach what lies behind the decoder.
namespace muster::fuzz {

// What an honest server would say to this node now.
struct Honest {
  std::uint64_t session = 0;
  Term term;
  std::int64_t echo = 0;
};

inline TaskKey PickSmallTask(Choices& choices) {
  return {RunId(1 + choices.Below(3)), Visit(1), static_cast<std::uint32_t>(choices.Below(2)),
          HostId(1), Attempt(static_cast<std::uint32_t>(1 + choices.Below(2)))};
}

inline link::Welcome PickWelcome(Choices& choices, const Honest& honest) {
  link::Welcome welcome;
  welcome.cluster = "c";
  welcome.term = Term(choices.Number());
  welcome.session = choices.Below(4) == 0 ? choices.Number() : honest.session;
  welcome.host = HostId(1);
  welcome.server_time = static_cast<std::int64_t>(choices.Number());
  welcome.echo = choices.Yes() ? honest.echo : static_cast<std::int64_t>(choices.Number());
  for (std::size_t count = choices.Below(4); count > 0; --count) {
    link::TaskAnswer answer;
    answer.task = PickSmallTask(choices);
    answer.verb = static_cast<link::Verb>(1 + choices.Below(3));
    answer.durable_offset = choices.Number();
    welcome.answers.push_back(std::move(answer));
  }
  return welcome;
}

inline link::Order PickOrder(Choices& choices, const Honest& honest) {
  link::Order order;
  order.task = PickSmallTask(choices);
  order.session = choices.Below(4) == 0 ? choices.Number() : honest.session;
  order.term = choices.Below(4) == 0 ? Term(choices.Number()) : honest.term;
  order.start_by = static_cast<std::int64_t>(choices.Number());
  if (choices.Below(4) == 0) order.needs = {std::string(choices.Short())};
  order.command = std::make_shared<const Command>();
  return order;
}

inline link::ServerFrame PickServerFrame(Choices& choices, const Honest& honest) {
  link::ServerFrame frame;
  const std::uint8_t parts = choices.Byte();
  frame.say_hello = (parts & 128) != 0;
  if ((parts & 1) != 0) frame.welcome = PickWelcome(choices, honest);
  if ((parts & 2) != 0)
    for (std::size_t count = 1 + choices.Below(4); count > 0; --count)
      frame.orders.push_back(PickOrder(choices, honest));
  if ((parts & 4) != 0)
    frame.kills.push_back({PickSmallTask(choices), Duration(choices.Number() % 9999)});
  if ((parts & 8) != 0) frame.log_acks.push_back({PickSmallTask(choices), choices.Number()});
  if ((parts & 16) != 0) frame.forgets.push_back(PickSmallTask(choices));
  if ((parts & 32) != 0)
    frame.beat = link::BeatAnswer{static_cast<std::int64_t>(choices.Number()),
                                  static_cast<std::int64_t>(choices.Number())};
  if ((parts & 64) != 0) frame.refusal = link::Refusal{"copy", std::string(choices.Short())};
  if (choices.Below(8) == 1)
    frame.papers = link::Papers{std::string(choices.Short()), std::string(choices.Short()),
                                std::string(choices.Short())};
  if (choices.Below(8) == 1) frame.goodbye = link::Goodbye{{std::string(choices.Short())}};
  return frame;
}

}  // namespace muster::fuzz
