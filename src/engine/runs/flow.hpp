#pragma once

#include <optional>
#include <string>

#include "engine/turn.hpp"

// A run from stage to stage. Visits that end are followed by others until nothing is left to do.
namespace muster::engine {

// Whether stages of the main list wait for what they need, and not for the one before them.
bool IsGraph(const RunSpec& spec);
// The stages of the main list that one of them waits for.
std::vector<std::uint32_t> NeedsOf(const RunSpec& spec, std::uint32_t stage);

// Whether what needs it, and what follows it, may go on.
bool WentWell(StageState state);

// Moves a run as far as it can go now, within the turn's budget. Returns false when the run ended
// (and is no longer in memory).
bool Advance(Turn& turn, OpenRun& run);

// Enters the first stage of a new run or pass.
void Begin(Turn& turn, OpenRun& run);

// How a stage is entered when not simply in its turn.
struct Entry {
  Visit from = {};                     // whose `switch` leads here
  std::optional<Ordinals> hosts = {};  // instead of those the stage itself would choose
  std::uint32_t batch = 0;             // to begin with
  std::uint32_t batch_hosts = 0;       // it has at most so many of the hosts; 0: as planned
  std::vector<Ordinals> begins = {};   // see StageVisit
};
void Enter(Turn& turn, OpenRun& run, std::uint32_t stage, const Entry& entry);

// The visit has come to its end. What follows it is entered.
void EndVisit(Turn& turn, OpenRun& run, Visit visit, StageState state, std::string reason);

// A visit that was cut short leaves tasks behind that never began: their hosts are what they were
// before.
void SettleHosts(OpenRun& run, const OpenVisit& visit);

// The visit ends with its pass, and nothing follows it. Inner ones must end before the stage that
// holds them.
void EndCancelled(Turn& turn, OpenRun& run, Visit visit);

// Past max_failures, with on_limit: pause.
void PauseAtLimit(Turn& turn, OpenRun& run, OpenVisit& visit, std::string reason);

// A new batch of a visit is on record, and news.
void TellBatch(Turn& turn, OpenRun& run, OpenVisit& visit);

// Arms the moment that a visit waits for.
void ArmVisit(Turn& turn, OpenRun& run, OpenVisit& visit, MonoTime at);

// That moment has come.
void OnVisitDue(Turn& turn, OpenRun& run, OpenVisit& visit);

// The run's row has changed: it is written, once, at the end of the turn, and told of.
void KeepRun(Turn& turn, OpenRun& run);
void WriteRuns(Turn& turn);

// The stages that `stage` holds, in order.
std::vector<std::uint32_t> InnerOf(const RunSpec& spec, std::uint32_t stage);
std::optional<std::uint32_t> CheckOf(const RunSpec& spec, std::uint32_t stage);

}  // namespace muster::engine
