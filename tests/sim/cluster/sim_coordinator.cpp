#include "sim/cluster/sim_coordinator.hpp"

#include <algorithm>

namespace muster::sim {
namespace {

// Its clock and the servers' do not run equally fast; a lease may end this much early by theirs.
constexpr std::int64_t kFast = 2;  // ms in a lease

}  // namespace

SimCoordinator::Lease SimCoordinator::Grant(const std::string& name) {
  const Lease lease = ++last_;
  leases_[lease] = {name, 0};
  Prolong(lease);
  Changed();
  return lease;
}

bool SimCoordinator::KeepAlive(Lease lease) {
  if (!leases_.contains(lease)) return false;
  Prolong(lease);
  return true;
}

void SimCoordinator::Prolong(Lease lease) {
  const std::int64_t ends = world_.Now() + kTtl.count() - kFast;
  leases_[lease].ends = ends;
  // It notices ended leases now and then.
  const std::int64_t notices =
      ends - world_.Now() + (world_.Chance(0.5) ? 0 : world_.Between(0, 500));
  world_.After(notices, [this, lease, ends] {
    const auto found = leases_.find(lease);
    if (found != leases_.end() && found->second.ends == ends) End(lease);
  });
}

bool SimCoordinator::Claim(Lease lease) {
  if (!leases_.contains(lease)) return false;
  if (leader_ == lease) return true;
  if (leader_ != 0) return false;
  leader_ = lease;
  world_.Trace("{} is elected", leases_[lease].name);
  Changed();
  return true;
}

// The lease stays, and may claim again; who held the key under it does not know of that.
void SimCoordinator::Resign(Lease lease) {
  if (leader_ != lease || lease == 0) return;
  world_.Trace("{} resigns", leases_[lease].name);
  leader_ = 0;
  Changed();
}

void SimCoordinator::Revoke(Lease lease) {
  if (leases_.contains(lease)) End(lease);
}

void SimCoordinator::End(Lease lease) {
  world_.Trace("the lease of {} ends", leases_[lease].name);
  leases_.erase(lease);
  ended_[lease] = world_.Now();
  if (leader_ == lease) leader_ = 0;
  Changed();
}

SimCoordinator::View SimCoordinator::Look() const {
  View view{.revision = revision_, .leader = {}, .leader_lease = leader_, .members = {}};
  if (leader_ != 0) view.leader = leases_.at(leader_).name;
  for (const auto& [lease, held] : leases_) view.members.push_back(held.name);
  std::ranges::sort(view.members);
  const auto [first, last] = std::ranges::unique(view.members);
  view.members.erase(first, last);
  return view;
}

void SimCoordinator::Changed() {
  ++revision_;
  for (const auto& changed : watchers_) changed();
}

}  // namespace muster::sim
