#pragma once

#include <span>
#include <string>

#include "documents/documents.hpp"
#include "domain/freeze.hpp"
#include "domain/run.hpp"
#include "engine/command.hpp"
#include "server/planning/inventory.hpp"

// What a start, of a person or of a trigger, says of its hosts.
namespace muster::server {

// The expression that a run is on record with: what it was started on, without what it excluded. So
// a reader has all of it, and so does a start that repeats the run.
std::string TargetsWithout(const std::string& targets, const std::string& exclude);

// The targets, folded for the audit trail.
std::string FoldedNames(const Targets& targets);

// Whether so many hosts are within the job's envelope: more are a mistake.
Result<> CheckHosts(const LiveView& live, const documents::JobDocument& job, std::size_t hosts);

// How many of a run's hosts each freeze means that is about hosts. Goes with the start.
engine::FrozenHosts CountFrozen(const Inventory& inventory, std::span<const Freeze> freezes,
                                const Targets& targets);

}  // namespace muster::server
