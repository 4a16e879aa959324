#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/instant.hpp"
#include "ports/coordinator.hpp"

namespace muster::server {

// The servers of the cluster that are there, and those that went a short time ago. Names come from
// etcd, where others may write too, so their number is bounded. Not thread-safe.
class SeenMembers {
 public:
  static constexpr Duration kGoneKept = std::chrono::hours(24);
  static constexpr std::size_t kMost = 1'000;

  struct View {
    Member member;
    bool leads = false;  // for the caller to fill in
    bool here = true;
    WallTime since;            // when it came, or went
    std::uint64_t drains = 0;  // how often it was seen to begin to drain
  };

  // These are there at `now`. Returns the names of those that went since the last call. Past kMost
  // the members that went first are forgotten; if all are there, further ones are not listed.
  std::vector<std::string> Note(const std::vector<Member>& members, WallTime now);

  const std::map<std::string, View>& Views() const noexcept { return views_; }

 private:
  bool ForgetOldest();  // of those that went; false: there is none

  std::map<std::string, View> views_;
};

}  // namespace muster::server
