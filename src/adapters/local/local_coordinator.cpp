#include "adapters/local/local_coordinator.hpp"

#include "adapters/local/local_election.hpp"

namespace muster {

LocalCoordinator::LocalCoordinator() : LocalCoordinator(std::make_shared<LocalElection>()) {}

LocalCoordinator::LocalCoordinator(std::shared_ptr<LocalElection> election)
    : election_(std::move(election)) {}

LocalCoordinator::~LocalCoordinator() { election_->Leave(this); }

Result<> LocalCoordinator::Campaign(std::string name, std::function<void()> elected,
                                    std::function<void()> lost) {
  return election_->Enter(this, std::move(name), std::move(elected), std::move(lost));
}

void LocalCoordinator::Resign() { election_->Leave(this); }

std::string LocalCoordinator::Leader() const { return election_->Leader(); }

}  // namespace muster
