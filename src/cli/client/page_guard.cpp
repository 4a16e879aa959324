#include "cli/client/page_guard.hpp"

namespace muster::cli {

Result<> PageGuard::Take(const std::string& next, bool empty) {
  empty_ = empty ? empty_ + 1 : 0;
  if (next.size() <= kMostCursor && empty_ <= kMostEmpty && seen_.size() < kMostPages &&
      seen_.insert(next).second)
    return {};
  return Fail(ErrorCode::kInternal, "the server's list has no end: {}; is this a Muster server?",
              next.size() > kMostCursor ? "a cursor is too long"
              : empty_ > kMostEmpty     ? "too many pages are empty"
              : seen_.contains(next)    ? "a cursor came again"
                                        : "it has too many pages");
}

Result<> PageGuard::Keep(std::size_t bytes) {
  bytes_ += bytes;
  if (bytes_ <= kMostBytes) return {};
  return Fail(ErrorCode::kInternal,
              "the server's list has more than {} MB; ask for less, or is this a Muster server?",
              kMostBytes >> 20);
}

}  // namespace muster::cli
