#pragma once

#include <memory>
#include <string>
#include <unordered_map>

#include "base/mutex.hpp"
#include "server/api/call.hpp"

namespace muster::server::api {

// Who calls, told apart from every other caller: a server by its name, a token by its name, a host
// by the key of its certificate.
std::string NameOfCaller(const Call& call);

// How much of something long each caller has under way: transfers, event streams, searches. What
// one caller holds open costs the server memory, however slowly it reads or sends. Safe from any
// thread.
class CallerSlots {
 public:
  explicit CallerSlots(std::size_t most) : counts_(std::make_shared<Counts>()), most_(most) {}

  // Counts one more for the call's caller, until its exchange is over. False: the caller has its
  // share already, and the call was answered 503 with Retry-After.
  bool Take(const CallPtr& call);
  // The same, until what it returns goes. Null: as false above.
  std::shared_ptr<void> Hold(const CallPtr& call);

 private:
  struct Counts {
    base::Mutex mutex;
    std::unordered_map<std::string, std::size_t> by_caller GUARDED_BY(mutex);
  };

  const std::shared_ptr<Counts> counts_;  // shared with what is under way
  const std::size_t most_;
};

}  // namespace muster::server::api
