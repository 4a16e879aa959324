#include "engine/runs/next_stage.hpp"

#include <algorithm>
#include <string_view>

#include "domain/approvals.hpp"
#include "engine/runs/again.hpp"
#include "engine/runs/stage_order.hpp"

namespace muster::engine {
namespace {

void EnterList(Turn& turn, OpenRun& run, const std::vector<std::uint32_t>& list, std::size_t at,
               Visit from = {});
void Close(Turn& turn, OpenRun& run);

// Opens a stage in its turn. As OpenStage.
bool OpenNext(Turn& turn, OpenRun& run, std::uint32_t stage, Visit from = {}) {
  const Entry entry = EntryFor(run, stage, from);
  return OpenStage(turn, run, stage, {.hosts = *entry.hosts, .entry = entry});
}

// Enters every stage of the graph whose needs are met; again when one of them was skipped.
void EnterReady(Turn& turn, OpenRun& run) {
  const auto list = ListOf(run.run.spec, Section::kMain);
  for (bool again = true; again;) {
    again = false;
    for (std::size_t i = 0; i < list.size(); ++i) {
      const StageProgress& progress = run.run.stages[list[i]];
      if (progress.state != StageState::kWaiting) continue;
      const auto needs = NeedsOf(run.run.spec, list[i]);
      const bool met = std::ranges::all_of(
          needs, [&](std::uint32_t need) { return WentWell(run.run.stages[need].state); });
      if (!met) continue;
      again = !OpenNext(turn, run, list[i]) || again;
    }
  }
}

// Enters the first stage from `list[at]` on that is not skipped.
void EnterList(Turn& turn, OpenRun& run, const std::vector<std::uint32_t>& list, std::size_t at,
               Visit from) {
  for (; at < list.size(); ++at)
    if (OpenNext(turn, run, list[at], from)) return;
  if (!run.run.closing) Close(turn, run);
}

// The main list is through, one way or the other: what must be done in the end.
void Close(Turn& turn, OpenRun& run) {
  if (run.run.closing || !run.visits.empty()) return;
  run.run.closing = true;
  if (!run.restored) EnterList(turn, run, ListOf(run.run.spec, Section::kFinally), 0);
}

// The stage that `switch` names for this outcome. Hosts report the status, so it never stands for
// how the stage ended.
std::optional<std::uint32_t> SwitchOf(const StageSpec& spec, const StageVisit& ended) {
  const std::string_view status = IsOutcomeName(ended.status) ? "" : std::string_view(ended.status);
  for (const std::string_view name : {status, Name(ended.state), kDefaultOutcome})
    if (const auto found = spec.next.find(name); !name.empty() && found != spec.next.end())
      return found->second;
  return std::nullopt;
}

// A stage was left out: what comes after it, in a graph by what it needs.
void EnterBehind(Turn& turn, OpenRun& run, const std::vector<std::uint32_t>& list,
                 std::uint32_t left_out) {
  if (!IsGraph(run.run.spec)) return EnterList(turn, run, list, PlaceIn(list, left_out) + 1);
  EnterReady(turn, run);
  Close(turn, run);
}

void TakeSwitch(Turn& turn, OpenRun& run, const StageVisit& ended, std::uint32_t target) {
  if (!WentWell(ended.state)) run.run.outcome = ended.state;
  if (target == StageSpec::kEnd) return Close(turn, run);
  const StageSpec& spec = run.run.spec.stages[target];
  const auto list = ListOf(run.run.spec, spec.section);
  if (OpenNext(turn, run, target, ended.visit)) return;
  if (spec.section == Section::kMain)
    EnterBehind(turn, run, list, target);
  else
    Close(turn, run);
}

void FollowInClosing(Turn& turn, OpenRun& run, const StageVisit& ended) {
  if (!WentWell(ended.state) && run.run.outcome == StageState::kSucceeded)
    run.run.outcome = StageState::kFailed;
  // The others are done however it went, but not behind an approval that was not given.
  if (!WentWell(ended.state) && HoldApprovals(run.run.spec)[ended.stage]) return;
  const auto list = ListOf(run.run.spec, Section::kFinally);
  EnterList(turn, run, list, PlaceIn(list, ended.stage) + 1);
}

}  // namespace

void Follow(Turn& turn, OpenRun& run, const StageVisit& ended) {
  if (run.Stopping()) return;
  if (run.run.closing) return FollowInClosing(turn, run, ended);
  const StageSpec& spec = run.run.spec.stages[ended.stage];
  const bool well = WentWell(ended.state);
  if (spec.recovers && well) run.run.outcome = StageState::kSucceeded;
  if (run.restored) {
    const auto list = ListOf(run.run.spec, Section::kMain);
    if (!well || list.back() != ended.stage)
      run.run.outcome = well ? StageState::kFailed : ended.state;
    return Close(turn, run);
  }
  if (const auto target = SwitchOf(spec, ended)) return TakeSwitch(turn, run, ended, *target);
  if (!well) {
    run.run.outcome = ended.state;
    if (run.run.reason.empty()) run.run.reason = ended.reason;
    return Close(turn, run);
  }
  if (spec.section == Section::kBranch) return Close(turn, run);
  if (IsGraph(run.run.spec)) {
    if (run.run.outcome == StageState::kSucceeded) EnterReady(turn, run);
    return Close(turn, run);
  }
  const auto list = ListOf(run.run.spec, Section::kMain);
  EnterList(turn, run, list, PlaceIn(list, ended.stage) + 1);
}

void Begin(Turn& turn, OpenRun& run) {
  if (IsGraph(run.run.spec)) {
    EnterReady(turn, run);
    Close(turn, run);
  } else {
    EnterList(turn, run, ListOf(run.run.spec, Section::kMain), 0);
  }
  turn.Wake(run);
}

void Enter(Turn& turn, OpenRun& run, std::uint32_t stage, const Entry& entry) {
  const StageSpec& spec = run.run.spec.stages[stage];
  const Ordinals hosts = entry.hosts ? *entry.hosts : ChooseHosts(run, spec, entry.from);
  if (!OpenStage(turn, run, stage, {.hosts = hosts, .entry = entry}))
    EnterBehind(turn, run, ListOf(run.run.spec, spec.section), stage);
  else if (IsGraph(run.run.spec))
    EnterReady(turn, run);  // what stands beside it
  turn.Wake(run);
}

}  // namespace muster::engine
