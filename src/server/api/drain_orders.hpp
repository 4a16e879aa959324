#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>

#include "base/instant.hpp"
#include "base/mutex.hpp"

namespace muster::server::api {

// The servers that were told to drain a moment ago. What a server says of itself is seen a moment
// later, so that two orders in a row could find each other's server still at work, and leave none.
// Safe from any thread.
class DrainOrders {
 public:
  // A server that is there, as far as is known.
  struct Server {
    bool takes_part = true;    // it does not drain
    std::uint64_t drains = 0;  // how often it was seen to begin
  };

  // Whether one of the other servers stays when `name` drains; if so, the order is noted.
  bool Take(const std::string& name, const std::map<std::string, Server>& servers, MonoTime now) {
    base::Lock lock(mutex_);
    std::erase_if(orders_, [&](const auto& order) { return now - order.second.at > kUntilSeen; });
    for (const auto& [other, server] : servers) {
      if (other == name || !server.takes_part || IsOrdered(other, server)) continue;
      if (const auto found = servers.find(name); found != servers.end() && found->second.takes_part)
        orders_[name] = {now, found->second.drains};
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

  struct Order {
    MonoTime at;
    std::uint64_t drains = 0;  // before it
  };

  // A server that was seen to drain since, and takes part now, was restarted.
  bool IsOrdered(const std::string& name, const Server& server) const REQUIRES(mutex_) {
    const auto order = orders_.find(name);
    return order != orders_.end() && order->second.drains == server.drains;
  }

  base::Mutex mutex_;
  std::map<std::string, Order> orders_ GUARDED_BY(mutex_);
};

}  // namespace muster::server::api
