#include "server/api/caller_slots.hpp"

#include <fmt/format.h>

namespace muster::server::api {

std::string NameOfCaller(const Call& call) {
  const auto& request = call.request();
  if (!request.peer_server.empty()) return "server " + request.peer_server;
  if (call.actor().name.empty()) return "host " + request.peer_key;
  return "token " + call.actor().name;
}

bool CallerSlots::Take(const CallPtr& call) {
  if (!call->request().peer_server.empty()) return true;
  const std::string caller = NameOfCaller(*call);
  {
    base::Lock lock(counts_->mutex);
    std::size_t& count = counts_->by_caller[caller];
    if (count < most_) {
      ++count;
      const auto release = [counts = counts_, caller](void*) {
        base::Lock inner(counts->mutex);
        const auto found = counts->by_caller.find(caller);
        if (--found->second == 0) counts->by_caller.erase(found);
      };
      call->exchange()->Keep(std::shared_ptr<void>(counts_.get(), release));
      return true;
    }
  }
  call->Fail(503, "unavailable",
             fmt::format("this caller has {} of these open already; close some, or try again later",
                         most_),
             {{"Retry-After", "5"}});
  return false;
}

}  // namespace muster::server::api
