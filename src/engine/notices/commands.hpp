#pragma once

#include <string>

#include "engine/caller.hpp"
#include "engine/kinds.hpp"

// Commands about notices.
namespace muster::engine {

// A test message is sent through a channel.
struct NoteTest {
  using Answer = Done;

  Caller caller;
  std::string channel;
  std::string reason;
};

using NoticeCommands = Kinds<NoteTest>;

}  // namespace muster::engine
