#include "server/api/caller_slots.hpp"

#include <fmt/format.h>

namespace muster::server::api {

bool CallerSlots::Take(const CallPtr& call) {
  const auto& request = call->request();
  if (!request.peer_server.empty()) return true;
  // A token by its name, a host by the key of its certificate; a name has no space in it.
  const std::string caller =
      call->actor().name.empty() ? "host " + request.peer_key : call->actor().name;
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
