#pragma once

#include <atomic>
#include <cstddef>
#include <memory>

namespace muster::net {

// The memory that request bodies may take together. A body's room is taken for its whole length
// before its first byte is read, and given back when the request is gone. Safe from
// any thread.
class BodyBudget : public std::enable_shared_from_this<BodyBudget> {
 public:
  // Requests of unknown callers get a quarter of `most`.
  explicit BodyBudget(std::size_t most) : most_(most) {}

  // Gives its bytes back at its end.
  using Room = std::shared_ptr<void>;

  // Null when there is no room.
  Room Take(std::size_t bytes, bool known_caller);

  std::size_t Taken() const { return taken_ + taken_unknown_; }

 private:
  static bool Add(std::atomic<std::size_t>& taken, std::size_t bytes, std::size_t most);

  const std::size_t most_;
  std::atomic<std::size_t> taken_{0};          // by known callers
  std::atomic<std::size_t> taken_unknown_{0};  // by the others
};

}  // namespace muster::net
