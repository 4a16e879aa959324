#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/instant.hpp"

namespace muster::server {

// The servers that nodes are told of, and which of their lists a node was told last. A cluster's
// servers come and go while links stay, and a node that knows but the one it is linked to has
// nowhere to go when that one is lost. On the loop's thread.
class NamedServers {
 public:
  using Ask = std::function<std::vector<std::string>()>;
  static constexpr Duration kFresh = std::chrono::seconds(1);  // thousands of nodes beat

  void SetAsk(Ask ask) { ask_ = std::move(ask); }

  // What to tell a node in any case, which then knows list `told`. Empty when there is none.
  const std::vector<std::string>& All(MonoTime now, std::uint64_t& told) {
    Look(now);
    told = number_;
    return urls_;
  }
  // The same, empty when the node knows it.
  std::vector<std::string> News(MonoTime now, std::uint64_t& told) {
    Look(now);
    if (std::exchange(told, number_) == number_) return {};
    return urls_;
  }

 private:
  void Look(MonoTime now) {
    if (!ask_ || (number_ != 0 && now - looked_ < kFresh)) return;
    looked_ = now;
    auto urls = ask_();
    if (number_ != 0 && urls == urls_) return;
    urls_ = std::move(urls);
    ++number_;
  }

  Ask ask_;
  std::vector<std::string> urls_;
  std::uint64_t number_ = 0;  // of the list; 0 before the first
  MonoTime looked_{0};
};

}  // namespace muster::server
