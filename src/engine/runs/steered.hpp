#pragma once

#include <optional>
#include <string>

#include "domain/audit_facts.hpp"
#include "engine/turn.hpp"

// What commands that steer an open run have in common.
namespace muster::engine {

// The run a command names; nullptr: it is not open, or comes from a backup, and the answer is
// given.
OpenRun* FindOpen(Turn& turn, const Caller& caller, RunId id);

// The same, of one that goes on: nothing more is decided about a run that is being stopped.
OpenRun* FindGoing(Turn& turn, const Caller& caller, RunId id);

// What every act about a run says of it.
AuditFacts FactsAbout(const State& state, const OpenRun& run);

// The command is carried out: puts it on the audit trail, keeps and wakes the run, and answers.
// `hosts`: which hosts of the run the act is about, if it is about some only.
void Steered(Turn& turn, const Caller& caller, OpenRun& run, std::string act, std::string detail,
             const std::string& reason, const AuditFacts& facts, const Ordinals& hosts = {});

std::optional<std::uint32_t> StageNamed(const Run& run, const std::string& name);
std::unexpected<Error> NoSuchStage(const Run& run, const std::string& name);

// The batch a stage, or the one that holds it, stands at, from 1; 0 when it has none.
std::uint32_t BatchOf(const OpenRun& run, std::uint32_t stage);

}  // namespace muster::engine
