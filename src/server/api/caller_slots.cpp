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
  auto held = Hold(call);
  if (!held) return false;
  call->exchange()->Keep(std::move(held));
  return true;
}

std::shared_ptr<void> CallerSlots::Hold(const CallPtr& call) {
  if (!call->request().peer_server.empty()) return counts_;  // servers are not counted
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
      return std::shared_ptr<void>(counts_.get(), release);
    }
  }
  call->Fail(503, "unavailable",
             fmt::format("this caller has {} of these open already; close some, or try again later",
                         most_),
             {{"Retry-After", "5"}});
  return nullptr;
}

}  // namespace muster::server::api
