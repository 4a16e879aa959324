#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "domain/run.hpp"
#include "domain/token.hpp"

// Who may answer an approval.
namespace muster {

// What a stage asks a person for, by itself or between its batches; nullptr: nothing.
const ApproveAction* WantedAnswer(const StageSpec& stage);

// Everyone who caused what the run does now, the one who started it first: who started, retried or
// changed it, the authors of what a trigger started, and the same of the runs above it (`above`,
// the nearest first).
std::vector<std::string> StartersOf(const Run& run, std::span<const Run* const> above);

// kDenied: the person of this name and role may not answer it. `starters`: see StartersOf.
Result<> CheckApprover(const std::vector<std::string>& starters, const ApproveAction& wanted,
                       const std::string& name, std::optional<Role> role);

// For people: "bob, admin, not alice"; without names in `by` "an operator". `without`: who may not.
std::string ApproversText(const std::vector<std::string>& by,
                          const std::vector<std::string>& without);

}  // namespace muster
