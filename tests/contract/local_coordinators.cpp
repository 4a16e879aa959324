#include "adapters/local/local_coordinator.hpp"
#include "adapters/local/local_election.hpp"
#include "contract/coordinator_fixture.hpp"

namespace muster {
namespace {

Cluster MakeLocal() {
  auto election = std::make_shared<LocalElection>();
  return {.join = [election] { return std::make_unique<LocalCoordinator>(election); },
          .depose = [election] { election->Depose(); }};
}

INSTANTIATE_TEST_SUITE_P(Local, CoordinatorContract,
                         testing::Values(CoordinatorAdapter{"local", MakeLocal}),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace muster
