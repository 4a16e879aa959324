#pragma once

#include <optional>
#include <string_view>

#include "engine/turn.hpp"

namespace muster::engine {

// Freezes: people hold new runs back, for a while or until they say otherwise. Durable; what runs
// is not touched, and neither are the runs that it starts. A new run of a job that starts a frozen
// job is held back too.
void Decide(Turn& turn, const FreezeRuns& command);
void Decide(Turn& turn, const ThawRuns& command);

// A run that is about to begin.
struct AboutToStart {
  Origin origin = Origin::kPerson;
  bool during_freeze = false;  // a person means it
  bool advises = true;         // the reason says to a person how to go on
  const RunSpec& plan;
  const FrozenHosts& frozen;
};

// The first freeze that holds it back, when one does: gate "frozen".
std::optional<GateClosed> FrozenBy(const Turn& turn, const AboutToStart& run);

// For the audit trail: "; during a freeze" when only the person's word lets the run begin.
std::string_view DespiteFreeze(const Turn& turn, const AboutToStart& run);

}  // namespace muster::engine
