#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/mutex.hpp"
#include "server/api/lane.hpp"

namespace muster::server::api {

// A lane whose steps belong to somebody: each has one step in the lane at a time, so that they take
// turns there, and the further ones wait in a queue of their own. Safe from any thread; outlives
// the workers' work.
class Turns {
 public:
  // As Lane has it.
  Turns(WorkerPool& workers, std::string what) : lane_(workers, std::move(what)) {}

  // As Lane::Post. `dropped` is also called when too many steps of this owner wait already.
  void Post(const std::string& owner, std::function<void()> step, std::function<void()> dropped)
      EXCLUDES(mutex_) {
    Work work{std::move(step), std::move(dropped)};
    switch (Admit(owner, work)) {
      case Fate::kEnters:
        return Enter(owner, std::move(work));
      case Fate::kWaits:
        return;
      case Fate::kTooMany:
        return work.dropped();
    }
  }

 private:
  static constexpr std::size_t kMostWaiting = 1'000;  // of one owner

  enum class Fate : std::uint8_t { kEnters, kWaits, kTooMany };
  struct Work {
    std::function<void()> step;
    std::function<void()> dropped;
  };

  Fate Admit(const std::string& owner, Work& work) EXCLUDES(mutex_) {
    base::Lock lock(mutex_);
    const auto [at, is_first] = waiting_.try_emplace(owner);
    if (is_first) return Fate::kEnters;
    if (at->second.size() >= kMostWaiting) return Fate::kTooMany;
    at->second.push_back(std::move(work));
    return Fate::kWaits;
  }

  void Enter(const std::string& owner, Work work) EXCLUDES(mutex_) {
    const auto then = [this, owner](const std::function<void()>& act) {
      act();
      Work next;
      if (Next(owner, next)) Enter(owner, std::move(next));
    };
    lane_.Post([then, step = std::move(work.step)] { then(step); },
               [then, dropped = std::move(work.dropped)] { then(dropped); });
  }

  // False: none of this owner waits.
  bool Next(const std::string& owner, Work& next) EXCLUDES(mutex_) {
    base::Lock lock(mutex_);
    const auto found = waiting_.find(owner);
    if (found->second.empty()) {
      waiting_.erase(found);
      return false;
    }
    next = std::move(found->second.front());
    found->second.pop_front();
    return true;
  }

  Lane lane_;
  base::Mutex mutex_;
  // By owner, for those with a step in the lane.
  std::unordered_map<std::string, std::deque<Work>> waiting_ GUARDED_BY(mutex_);
};

}  // namespace muster::server::api
