#pragma once

#include <array>
#include <deque>
#include <optional>

#include "domain/run.hpp"

namespace muster::engine {

// Runs with something to do now, in three classes that are taken 3:2:1 while all have some.
class WorkQueue {
 public:
  void Push(Priority priority, RunId run) {
    classes_[static_cast<std::size_t>(priority)].push_back(run);
  }
  bool Empty() const { return Size() == 0; }
  std::size_t Size() const {
    std::size_t size = 0;
    for (const auto& one : classes_) size += one.size();
    return size;
  }
  std::optional<RunId> Pop() {
    for (std::size_t tried = 0; tried < kTurns.size(); ++tried) {
      auto& one = classes_[kTurns[turn_]];
      turn_ = (turn_ + 1) % kTurns.size();
      if (one.empty()) continue;
      const RunId run = one.front();
      one.pop_front();
      return run;
    }
    return std::nullopt;
  }

 private:
  static constexpr std::array<std::size_t, 6> kTurns = {0, 1, 0, 2, 1, 0};

  std::array<std::deque<RunId>, 3> classes_;
  std::size_t turn_ = 0;
};

}  // namespace muster::engine
