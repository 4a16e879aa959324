#pragma once

#include <memory>
#include <string>

#include "engine/turn.hpp"

namespace muster::engine {

// People work on hosts: new runs leave those out. Runs that are open keep theirs.
void Decide(Turn& turn, const MaintainHosts& command);

// The targets that nobody works on, and in words which were left out; "" when none was.
struct Available {
  std::shared_ptr<const Targets> targets;
  std::string left_out;

  // These were left out before.
  void AddLeftOut(const std::string& others);
};
Available LeaveOutMaintained(const Turn& turn, std::shared_ptr<const Targets> targets);

}  // namespace muster::engine
