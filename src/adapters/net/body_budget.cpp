#include "adapters/net/body_budget.hpp"

namespace muster::net {
namespace {

constexpr std::size_t kUnknownShare = 4;

}  // namespace

bool BodyBudget::Add(std::atomic<std::size_t>& taken, std::size_t bytes, std::size_t most) {
  std::size_t before = taken;
  do {
    if (bytes > most || before > most - bytes) return false;
  } while (!taken.compare_exchange_weak(before, before + bytes));
  return true;
}

BodyBudget::Room BodyBudget::Take(std::size_t bytes, bool known_caller) {
  const std::size_t unknown_most = most_ / kUnknownShare;
  std::atomic<std::size_t>& taken = known_caller ? taken_ : taken_unknown_;
  if (!Add(taken, bytes, known_caller ? most_ - unknown_most : unknown_most)) return nullptr;
  // The budget lives as long as the last of its rooms: a request may outlive its server.
  return {&taken, [self = shared_from_this(), bytes](void* counter) {
            *static_cast<std::atomic<std::size_t>*>(counter) -= bytes;
          }};
}

}  // namespace muster::net
