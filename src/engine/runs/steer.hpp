#pragma once

#include <vector>

#include "engine/turn.hpp"

// What an operator does with a run that is under way, or with one that has ended.
namespace muster::engine {

void Decide(Turn& turn, const PauseRun& command);
void Decide(Turn& turn, const ResumeRun& command);
void Decide(Turn& turn, const SkipStage& command);
void Decide(Turn& turn, const AnswerApproval& command);
void Decide(Turn& turn, const SetRun& command);
void Decide(Turn& turn, const RetryRun& command);

// A paused run goes on, with those below it that were paused with it. Returns the children that
// stay paused, each for a reason of its own.
std::vector<RunId> EndPause(Turn& turn, OpenRun& run);

}  // namespace muster::engine
