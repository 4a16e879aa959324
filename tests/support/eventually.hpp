#pragma once

#include <chrono>
#include <poll.h>

namespace muster {

// Waits for a condition that other threads or processes bring about; false when it did not come
// true in time.
template <typename Condition>
bool Eventually(Condition condition, std::chrono::seconds patience = std::chrono::seconds(30)) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    poll(nullptr, 0, 2);
  }
  return true;
}

}  // namespace muster
