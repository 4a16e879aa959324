#include "server/api/channel_tests.hpp"

namespace muster::server::api {

Result<std::shared_ptr<void>> ChannelTests::Begin(const std::string& caller) {
  base::Lock lock(open_->mutex);
  if (open_->callers.contains(caller))
    return Fail(ErrorCode::kUnavailable,
                "another test of a channel by '{}' is under way; try again when it ended", caller);
  if (open_->callers.size() >= kMost)
    return Fail(ErrorCode::kUnavailable, "{} tests of channels are under way; try again shortly",
                kMost);
  open_->callers.insert(caller);
  const auto end = [open = open_, caller](void*) {
    base::Lock inner(open->mutex);
    open->callers.erase(caller);
  };
  return std::shared_ptr<void>(open_.get(), end);
}

}  // namespace muster::server::api
