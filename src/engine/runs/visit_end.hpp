#pragma once

#include <string>

#include "engine/turn.hpp"

// Ends of visits.
namespace muster::engine {

// The visit has come to its end. What follows it is entered.
void EndVisit(Turn& turn, OpenRun& run, Visit visit, StageState state, std::string reason);

// The visit ends with its pass, and nothing follows it. Inner ones must end before the stage that
// holds them.
void EndCancelled(Turn& turn, OpenRun& run, Visit visit);

// A visit that was cut short leaves tasks behind that never began: their hosts are what they were
// before.
void SettleHosts(OpenRun& run, const OpenVisit& visit);

// Why a visit that ends now ends so.
std::string ReasonOf(const OpenRun& run, const OpenVisit& visit);

}  // namespace muster::engine
