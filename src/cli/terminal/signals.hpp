#pragma once

#include <csignal>
#include <optional>
#include <string>
#include <vector>

#include "base/instant.hpp"

namespace muster::cli {

// While it lives, INT, HUP and TERM do not end the program but can be waited for. Make it before
// any thread, so that all of them inherit the mask.
class Signals {
 public:
  Signals();
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  // Waits until `fd` (-1: none) is readable or a signal came, at most `timeout` (negative: for
  // ever). Gives the signal, if one came.
  std::optional<int> Wait(int fd, Duration timeout);
  // Whether a signal came that Wait has not given yet.
  bool Pending() const;

 private:
  int fd_ = -1;
  sigset_t before_{};
};

}  // namespace muster::cli
