#pragma once

#include <chrono>
#include <map>
#include <set>
#include <string>

#include "base/instant.hpp"
#include "base/mutex.hpp"

namespace muster::server::api {

// The servers that were told to drain a moment ago. What a server says of itself is seen a moment
// later, so that two orders in a row could find each other's server still at work, and leave none.
// Safe from any thread.
class DrainOrders {
 public:
  // Whether one of `others`, which take part as far as is known, stays when `name` drains; if so,
  // the order is noted.
  bool Take(const std::string& name, const std::set<std::string>& others, MonoTime now) {
    base::Lock lock(mutex_);
    std::erase_if(orders_, [&](const auto& order) { return now - order.second > kUntilSeen; });
    for (const auto& other : others) {
      if (orders_.contains(other)) continue;
      orders_[name] = now;
      return true;
    }
    return false;
  }
  // It takes part again, or the order did not go out.
  void Drop(const std::string& name) {
    base::Lock lock(mutex_);
    orders_.erase(name);
  }

 private:
  static constexpr Duration kUntilSeen = std::chrono::seconds(10);

  base::Mutex mutex_;
  std::map<std::string, MonoTime> orders_ GUARDED_BY(mutex_);
};

}  // namespace muster::server::api
