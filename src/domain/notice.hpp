#pragma once

#include <cstdint>
#include <string>

#include "base/instant.hpp"
#include "domain/ids.hpp"

namespace muster {

// A message about a run that is still to be told through a channel. It is kept with the change it
// tells of, and until the channel took it; so it may arrive more than once, and always under the
// same identity (run, visit).
struct OpenNotice {
  RunId run;
  Visit visit;  // a number of the run's that no stage has
  std::string channel;
  std::string job;      // of the run; "" when it has none
  std::string state;    // the run came into, as Notice::on names it
  std::string message;  // for people; its first line says the most
  WallTime made;
  std::uint32_t attempts = 0;  // that ended
  WallTime next;               // when to try again

  friend bool operator==(const OpenNotice&, const OpenNotice&) = default;
};

}  // namespace muster
