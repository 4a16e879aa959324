#pragma once

#include <sys/types.h>

#include "agent/files.hpp"

namespace muster::agent {

// Holds on to one process: once it has ended, signals reach nobody, also when its number belongs to
// another process by then. A number is only a guess at who is meant, so: hold first, then look
// whether it is the process that was meant, then signal.
//
// Before Linux 5.3 there is nothing to hold on to; there signals go to the number.
class ProcessHandle {
 public:
  // None when there is no such process.
  static ProcessHandle Hold(pid_t pid);

  explicit operator bool() const noexcept { return pid_ > 0; }
  // False when the process has ended. 0 sends nothing and asks just that.
  bool Signal(int number) const noexcept;
  // With a value, as sigqueue(3) sends it.
  bool Queue(int number, int value) const noexcept;

 private:
  Fd fd_;  // none: by number
  pid_t pid_ = 0;
};

}  // namespace muster::agent
