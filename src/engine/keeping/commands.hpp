#pragma once

#include <cstdint>
#include <string>

#include "engine/caller.hpp"
#include "engine/kinds.hpp"
#include "ports/store.hpp"

// Commands that guard the disk: gates and retention.
namespace muster::engine {

// No run was started, as a gate is closed.
struct GateClosed {
  std::string gate;
  std::string reason;
};

// Closes a gate that every new run passes, or opens it again. Not kept: the sender, which watches
// what the gate stands for, sends it again.
struct SetGate {
  using Answer = NoAnswer;

  std::string gate;    // "disk_low": the API's error code
  std::string reason;  // for operators, what to do included; "" opens it
};

struct OldDropped {
  std::uint32_t things = 0;
};

// Retention: drops one slice of what was looked up as old just before.
struct DropOld {
  using Answer = OldDropped;

  Caller caller;
  Expired old;
};

using KeepingCommands = Kinds<SetGate, DropOld>;

}  // namespace muster::engine
