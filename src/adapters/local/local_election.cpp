#include "adapters/local/local_election.hpp"

#include <algorithm>

namespace muster {

Result<> LocalElection::Enter(const void* owner, std::string name, std::function<void()> elected,
                              std::function<void()> lost) {
  {
    base::Lock lock(mutex_);
    const bool known = std::ranges::any_of(
        candidates_, [&](const CandidatePtr& candidate) { return candidate->owner == owner; });
    if (known) return Fail(ErrorCode::kConflict, "election: {} is a candidate already", name);
    auto candidate = std::make_shared<Candidate>();
    candidate->owner = owner;
    candidate->name = std::move(name);
    candidate->elected = std::move(elected);
    candidate->lost = std::move(lost);
    candidates_.push_back(std::move(candidate));
  }
  ElectFirst();
  return {};
}

void LocalElection::Leave(const void* owner) {
  const auto is_owner = [&](const CandidatePtr& candidate) { return candidate->owner == owner; };
  {
    base::Lock lock(mutex_);
    std::erase_if(candidates_, is_owner);
    // No callback may come after this call returned; one that resigns itself cannot be waited for.
    const auto must_wait = [&](const CandidatePtr& candidate) {
      return is_owner(candidate) && candidate->caller != std::this_thread::get_id();
    };
    while (std::ranges::any_of(calling_, must_wait)) call_ended_.Wait(mutex_);
  }
  TellOfChange();
  ElectFirst();
}

std::string LocalElection::Leader() const {
  base::Lock lock(mutex_);
  return candidates_.empty() || !candidates_.front()->leads ? "" : candidates_.front()->name;
}

bool LocalElection::Leads(const void* owner) const {
  base::Lock lock(mutex_);
  return !candidates_.empty() && candidates_.front()->leads && candidates_.front()->owner == owner;
}

void LocalElection::Announce(const void* owner, Member self) {
  {
    base::Lock lock(mutex_);
    seats_[owner].member = std::move(self);
  }
  TellOfChange();
}

std::vector<Member> LocalElection::Members() const {
  base::Lock lock(mutex_);
  std::vector<Member> members;
  for (const auto& [owner, seat] : seats_)
    if (seat.member) members.push_back(*seat.member);
  std::ranges::sort(members, {}, &Member::name);
  return members;
}

void LocalElection::OnChange(const void* owner, std::function<void()> changed) {
  base::Lock lock(mutex_);
  seats_[owner].changed = std::move(changed);
}

void LocalElection::Forget(const void* owner) {
  {
    base::Lock lock(mutex_);
    if (seats_.erase(owner) == 0) return;
  }
  TellOfChange();
}

void LocalElection::TellOfChange() {
  std::vector<std::function<void()>> told;
  {
    base::Lock lock(mutex_);
    for (const auto& [owner, seat] : seats_)
      if (seat.changed) told.push_back(seat.changed);
  }
  for (const auto& changed : told) changed();
}

void LocalElection::Depose() {
  CandidatePtr deposed;
  {
    base::Lock lock(mutex_);
    if (candidates_.empty() || !candidates_.front()->leads || candidates_.front()->in_call) return;
    deposed = candidates_.front();
    candidates_.splice(candidates_.end(), candidates_, candidates_.begin());
    deposed->leads = false;
    BeginCall(deposed);
  }
  // Whoever lost must have stopped before the next may begin.
  Call(deposed, deposed->lost);
  ElectFirst();
}

void LocalElection::ElectFirst() {
  CandidatePtr first;
  {
    base::Lock lock(mutex_);
    if (candidates_.empty() || candidates_.front()->leads) return;
    first = candidates_.front();
    if (first->in_call) return;  // it is still being told of its loss
    first->leads = true;
    BeginCall(first);
  }
  Call(first, first->elected);
  TellOfChange();
}

void LocalElection::BeginCall(const CandidatePtr& candidate) {
  candidate->in_call = true;
  candidate->caller = std::this_thread::get_id();
  calling_.push_back(candidate);
}

void LocalElection::Call(const CandidatePtr& candidate, const std::function<void()>& callback) {
  callback();
  base::Lock lock(mutex_);
  candidate->in_call = false;
  std::erase(calling_, candidate);
  call_ended_.NotifyAll();
}

}  // namespace muster
