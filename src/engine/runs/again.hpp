#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "engine/runs/stage_entry.hpp"

// What a pass does again, and what it leaves as earlier passes had it.
namespace muster::engine {

// How a stage of the top level is entered in its turn, or by the `switch` of visit `from`. In a
// later pass a stage with `hosts: ok` is not for the hosts that came through it before, and it is
// for those that dropped out of it. Its batches go on where they stood.
Entry EntryFor(const OpenRun& run, std::uint32_t stage, Visit from);

// Hosts that dropped out, by the stage of the top level.
std::map<std::uint32_t, Ordinals> DroppedOut(const OpenRun& run);

// The stages of the main list that did not go well, or that hosts dropped out of.
std::set<std::uint32_t> FailedStages(const OpenRun& run);

// The first of them that no other one leads to; in a loop, the first.
std::optional<std::uint32_t> FirstOf(const RunSpec& plan, const std::set<std::uint32_t>& stages);

// For hosts that dropped out of the stage: they go on with the first inner stage that they did not
// come through. As Entry::begins.
std::vector<Ordinals> BeginsOf(const OpenRun& run, std::uint32_t stage, const Ordinals& hosts);

// The batch counter of `entry` goes on where it stood.
void ContinueBatches(const OpenRun& run, const OpenRun::Courses& courses, std::uint32_t stage,
                     Entry& entry);

// How many hosts came through the stage in an earlier pass, and are not for it now: they count when
// it is judged.
std::uint32_t ThroughBefore(const OpenRun& run, std::uint32_t stage);

// Hosts enter a stage: whatever they came through behind it lies before them again.
void ForgetCourse(OpenRun& run, std::uint32_t stage, const Ordinals& hosts);
// A visit begins. The same, unless its stage is for all or for failed hosts: from there none goes
// on. Hosts that dropped out of the stage before are ok again.
void EnterAgain(OpenRun& run, const StageVisit& begun);

// A visit has ended: which hosts came through, and how far its batches came.
void NoteCourse(OpenRun& run, const StageVisit& ended);

}  // namespace muster::engine
