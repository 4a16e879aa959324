#include "adapters/local/local_coordinator.hpp"

#include "adapters/local/local_election.hpp"

namespace muster {

LocalCoordinator::LocalCoordinator() : LocalCoordinator(std::make_shared<LocalElection>()) {}

LocalCoordinator::LocalCoordinator(std::shared_ptr<LocalElection> election)
    : election_(std::move(election)) {}

LocalCoordinator::~LocalCoordinator() {
  election_->Leave(this);
  election_->Forget(this);
}

Result<> LocalCoordinator::Campaign(std::string name, std::function<void()> elected,
                                    std::function<void()> lost) {
  return election_->Enter(this, std::move(name), std::move(elected), std::move(lost));
}

void LocalCoordinator::Resign() { election_->Leave(this); }

MonoTime LocalCoordinator::LeadUntil() const {
  return election_->Leads(this) ? kNever : MonoTime{0};
}

std::string LocalCoordinator::Leader() const { return election_->Leader(); }

void LocalCoordinator::Announce(Member self) { election_->Announce(this, std::move(self)); }

std::vector<Member> LocalCoordinator::Members() const { return election_->Members(); }

void LocalCoordinator::OnChange(std::function<void()> changed) {
  election_->OnChange(this, std::move(changed));
}

}  // namespace muster
