#pragma once

#include <algorithm>

#include "base/instant.hpp"

namespace muster::server {

// A token bucket: `burst` at once, then `per_second`. Full at first.
class Allowance {
 public:
  Allowance(double burst, double per_second, MonoTime now)
      : burst_(burst), per_second_(per_second), left_(burst), seen_(now) {}

  // Uses up `cost`, or leaves everything as it is and says no.
  bool Take(double cost, MonoTime now) {
    Refill(now);
    if (left_ < cost) return false;
    left_ -= cost;
    return true;
  }

  // Uses up `cost` in any case. If it is not there, it says no, and what is missing is owed: at
  // most `burst`, so that the wait has an end.
  bool Charge(double cost, MonoTime now) {
    const bool there = Has(cost, now);
    left_ = std::max(left_ - cost, -burst_);
    return there;
  }

  bool Has(double cost, MonoTime now) {
    Refill(now);
    return left_ >= cost;
  }

  // Until `cost` will be there again.
  Duration Until(double cost) const {
    const double missing = std::max(0.0, cost - left_);
    return Duration(static_cast<std::int64_t>(missing / per_second_ * 1000.0) + 1);
  }

  bool Full(MonoTime now) {
    Refill(now);
    return left_ >= burst_;
  }

 private:
  void Refill(MonoTime now) {
    if (now <= seen_) return;
    const double seconds = static_cast<double>((now - seen_).count()) / 1000.0;
    left_ = std::min(burst_, left_ + seconds * per_second_);
    seen_ = now;
  }

  double burst_;
  double per_second_;
  double left_;
  MonoTime seen_;
};

}  // namespace muster::server
