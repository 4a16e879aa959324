// Whether this server takes part: keeps nodes, and competes for the lead.
#include <algorithm>
#include <utility>

#include <spdlog/spdlog.h>

#include "server/peers/cluster.hpp"

namespace muster::server {

void Cluster::Drain(bool wanted) {
  draining_ = wanted;
  spdlog::info("drain wanted={}", wanted);
  TakePart();
}

void Cluster::SetUnfit(std::string why) {
  {
    base::Lock lock(mutex_);
    if (why == unfit_) return;
    unfit_ = std::move(why);
  }
  TakePart();
}

void Cluster::TakePart() {
  const Member self = Self();
  const bool leaves = self.draining || !self.unfit.empty();
  if (!self.unfit.empty()) spdlog::error("this server takes no part: {}", self.unfit);
  leaves_ = leaves;
  StandBy();
  loop_.Post([this, alive = alive_, leaves] {
    if (!*alive) return;
    Announce();
    if (leaves) exits_.say_goodbye(kGoodbyeWithin, [this] { return SendsAway(); });
  });
}

bool Cluster::SetDiskLow(std::string why) {
  bool changed = false;
  {
    base::Lock lock(mutex_);
    changed = why.empty() != disk_low_.empty();
    disk_low_ = std::move(why);
  }
  if (changed) {
    loop_.Post([this, alive = alive_] {
      if (*alive) Announce();
    });
    StandBy();
  }
  return Yields();
}

bool Cluster::Yields() const {
  {
    base::Lock lock(mutex_);
    if (disk_low_.empty()) return false;
  }
  const auto others = Others();
  return std::ranges::any_of(others, [](const Member& other) {
    return !other.draining && other.unfit.empty() && other.trouble.empty();
  });
}

void Cluster::StandBy() {
  const bool yields = Yields();
  {
    base::Lock lock(mutex_);
    if (std::exchange(yields_, yields) != yields)
      spdlog::warn("{}", yields ? "leaves the lead to a server whose disk has room: " + disk_low_
                                : "may lead again: its disk has room, or no other server's has");
  }
  exits_.stand_by(leaves_ || yields);
}

}  // namespace muster::server
