#pragma once

#include <optional>
#include <string>

#include "domain/audit_facts.hpp"
#include "engine/turn.hpp"

// What commands that steer an open run have in common.
namespace muster::engine {

// The run a command names. kConflict: it is not open, or comes from a backup.
Result<OpenRun*> FindOpen(State& state, RunId id);

// The same. kConflict also for a run that is being stopped: nothing more is decided about it.
Result<OpenRun*> FindGoing(State& state, RunId id);

// What every act about a run says of it.
AuditFacts FactsAbout(const State& state, const OpenRun& run);

// The command is carried out: puts it on the audit trail, keeps and wakes the run. Returns the
// answer.
// `hosts`: which hosts of the run the act is about, if it is about some only.
RunSteered Steered(Turn& turn, const Caller& caller, OpenRun& run, std::string act,
                   std::string detail, const std::string& reason, const AuditFacts& facts,
                   const Ordinals& hosts = {});

std::optional<std::uint32_t> StageNamed(const Run& run, const std::string& name);
std::unexpected<Error> NoSuchStage(const Run& run, const std::string& name);

// The batch a stage, or the one that holds it, stands at, from 1; 0 when it has none.
std::uint32_t BatchOf(const OpenRun& run, std::uint32_t stage);

}  // namespace muster::engine
