#pragma once

#include <memory>
#include <set>
#include <string>

#include "base/mutex.hpp"
#include "base/result.hpp"

namespace muster::server::api {

// The tests of channels that are under way. Each holds one of the few places of what the server
// sends, half a minute if nothing answers, so a caller has one at a time, and all callers together
// have a few. Safe from any thread.
class ChannelTests {
 public:
  static constexpr std::size_t kMost = 4;

  // The test goes on until what this returns goes. kUnavailable: there are enough.
  Result<std::shared_ptr<void>> Begin(const std::string& caller);

 private:
  struct Open {
    base::Mutex mutex;
    std::set<std::string> callers GUARDED_BY(mutex);
  };

  std::shared_ptr<Open> open_ = std::make_shared<Open>();  // shared with what is under way
};

}  // namespace muster::server::api
