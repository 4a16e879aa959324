#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace muster::server {

// Which failures of channels are logged: of each channel the first, then one a minute with the
// number of those in between. Its memory is bounded: failures of channels beyond kMost are not
// logged. For one thread.
class FailingChannels {
 public:
  using Time = std::chrono::steady_clock::time_point;
  static constexpr std::chrono::minutes kLineEvery{1};
  static constexpr std::size_t kMost = 1000;

  // How many failures went without a line before this one; nothing: neither does this one.
  std::optional<std::uint32_t> Fail(const std::string& channel, Time now) {
    if (!channels_.contains(channel) && channels_.size() >= kMost)
      std::erase_if(channels_,
                    [&](const auto& item) { return now - item.second.logged >= kLineEvery; });
    if (!channels_.contains(channel) && channels_.size() >= kMost) return std::nullopt;
    const auto [place, first] = channels_.try_emplace(channel, Failing{now, 0});
    Failing& failing = place->second;
    if (!first && now - failing.logged < kLineEvery) {
      ++failing.unlogged;
      return std::nullopt;
    }
    failing.logged = now;
    return std::exchange(failing.unlogged, 0);
  }

  // It took a message. How many failures went without a line before it.
  std::uint32_t Recover(const std::string& channel) {
    const auto found = channels_.find(channel);
    if (found == channels_.end()) return 0;
    const std::uint32_t unlogged = found->second.unlogged;
    channels_.erase(found);
    return unlogged;
  }

 private:
  struct Failing {
    Time logged;
    std::uint32_t unlogged = 0;
  };
  std::map<std::string, Failing> channels_;
};

}  // namespace muster::server
