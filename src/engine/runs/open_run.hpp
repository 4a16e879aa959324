#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "domain/host_result.hpp"
#include "domain/records.hpp"
#include "engine/runs/task_place.hpp"

// Runs that have not ended, as the engine holds them.
namespace muster::engine {

// One host's place in an open visit.
struct Slot {
  TaskState state = TaskState::kWaiting;
  std::uint32_t attempt = 0;  // last one used
  std::uint32_t retries = 0;  // how many of them followed a failure
  // While queued: then it is unreachable. While sent: then it is not sent again to a host that
  // never got the order.
  MonoTime wait_until = kNever;
  MonoTime retry_at{0};        // while queued: not before
  MonoTime deadline = kNever;  // while sent or running: then it is lost
};

// Outputs of one task or stage, in the order they were written.
using Outputs = std::vector<std::pair<std::string, std::string>>;

// A visit that has not ended. Stages that work on hosts have a slot for each; the others none.
struct OpenVisit {
  StageVisit record;
  std::vector<std::uint32_t> hosts;                        // ordinals, ascending
  std::vector<Slot> slots;                                 // one for each of them
  std::unordered_map<std::uint32_t, TaskRecord> attempts;  // sent or running, by ordinal
  TaskCounts counts;
  std::uint32_t cursor = 0;      // places before it have had their turn
  std::uint32_t batch_left = 0;  // hosts of the batch not yet ended
  std::uint32_t batch_failures = 0;
  std::uint32_t batch_succeeded = 0;
  std::uint32_t batch_unreachable = 0;
  std::deque<std::uint32_t> ready;    // queued ordinals whose host is there now
  std::uint32_t kill_cursor = 0;      // while winding up: places before it were told
  HostAction command;                 // as orders carry it; none: made for each host
  bool limit_passed = false;          // and it did not pause, or nobody resumed it
  std::string passed_because;         // then: "1 host failed in batch 3; …"
  bool winding_up = false;            // nothing more is dispatched: stopped, or past max_failures
  std::optional<MonoTime> due;        // of its wait, or of the answer it waits for
  std::optional<StageState> ends_as;  // it has nothing more to do but to end so
  std::uint32_t server_attempts = 0;  // of a stage that the server carries out itself
  bool server_lost = false;           // an earlier leadership began the last of them

  // The place of a host that is in this visit.
  std::uint32_t PlaceOf(std::uint32_t ordinal) const {
    if (ordinal < hosts.size() && hosts[ordinal] == ordinal) return ordinal;
    const auto found = std::ranges::lower_bound(hosts, ordinal);
    return static_cast<std::uint32_t>(found - hosts.begin());
  }
  bool Has(std::uint32_t ordinal) const {
    const std::uint32_t place = PlaceOf(ordinal);
    return place < hosts.size() && hosts[place] == ordinal && !slots.empty();
  }
  Slot& At(std::uint32_t ordinal) { return slots[PlaceOf(ordinal)]; }
  const Slot& At(std::uint32_t ordinal) const { return slots[PlaceOf(ordinal)]; }
};

// How one host comes through a run.
struct HostFlow {
  std::uint32_t dropped_at = kNowhere;    // the stage it did not come through
  HostTasks<> ended;                      // of its tasks those that are over
  TaskState shown = TaskState::kWaiting;  // as OpenRun::counts has it
  bool touched = false;                   // some task was sent to it
  // Its tasks that are queued, sent or running, by visit. Usually one at most.
  std::vector<std::pair<Visit, TaskState>> busy;

  static constexpr std::uint32_t kNowhere = ~0U;
  bool Ok() const { return dropped_at == kNowhere; }
  // What the run came to on it so far: how its tasks ended, or kWaiting.
  TaskState Result() const { return HostTasks<>::InStage(ended.Deciding()); }
  // What the run came to on it, as it ends now.
  TaskState AtEnd() const { return HostTasks<>::Standing(ended.Deciding(), false); }
  // As OpenRun::counts is to have it.
  TaskState Stands() const {
    return busy.empty() ? HostTasks<>::Standing(ended.Deciding(), true) : busy.back().second;
  }
  // Its task in `visit` is in this state; any other than those of `busy`: it is none of them.
  void Move(Visit visit, TaskState state) {
    auto at = std::ranges::lower_bound(busy, visit, {}, &std::pair<Visit, TaskState>::first);
    const bool known = at != busy.end() && at->first == visit;
    if (state == TaskState::kWaiting || IsFinal(state)) {
      if (known) busy.erase(at);
    } else if (known) {
      at->second = state;
    } else {
      busy.emplace(at, visit, state);
    }
  }
};

struct OpenRun {
  Run run;
  std::shared_ptr<const Targets> targets;
  std::map<Visit, OpenVisit> visits;  // that have not ended
  std::vector<HostFlow> hosts;        // by ordinal
  TaskCounts counts;                  // of hosts, as they stand now
  // What stages reported, by name: of each host, and of the stage itself.
  struct Reported {
    std::unordered_map<std::uint32_t, Outputs> hosts;
    Outputs stage;
    std::string status;
  };
  std::map<std::string, Reported, std::less<>> reported;
  // Ended visits of this pass, the last of each stage: what `hosts: touched` of a branch and a
  // retry look at.
  std::map<std::uint32_t, StageVisit> ended;
  // Which hosts a stage was entered with, or was passed by.
  struct Mark {
    Ordinals hosts;
    bool stands = false;  // and nothing before the stage was entered since

    // Whether it holds for all these hosts; of a stage that is entered without hosts, whether it
    // stands.
    bool Covers(const Ordinals& all) const {
      return all.Empty() ? stands : Difference(all, hosts).Empty();
    }
  };
  using Marks = std::map<std::uint32_t, Mark>;  // by stage
  Marks entered;  // hosts that were let into each stage since the run has its plan
  Marks passed;   // that came through each stage since then, and were not let into it again
  // How far the passes came in a stage of the main list. A host that enters the stage again, or one
  // before it, counts no more.
  struct Course {
    Ordinals through;         // came through it
    Ordinals begun;           // were in one of its batches
    std::uint32_t batch = 0;  // index of the last one
  };
  using Courses = std::map<std::uint32_t, Course>;  // by stage
  Courses courses;                                  // since the run has its plan
  Courses earlier;                                  // the same before this pass
  bool restored = false;  // open in the backup this store came from: nothing of it is sent any
                          // more, and what may have been sent meanwhile is lost unless its host
                          // knows better
  bool working = false;   // in RunMemory::work
  std::size_t plan_bytes = 0;  // counted in RunMemory::plan_bytes

  const StageSpec& SpecOf(const OpenVisit& visit) const {
    return run.spec.stages[visit.record.stage];
  }
  bool Stopping() const { return run.stop.has_value(); }
  std::uint32_t OpenTasks() const {
    std::size_t open = 0;
    for (const auto& [id, visit] : visits) open += visit.attempts.size();
    return static_cast<std::uint32_t>(open);
  }
};

}  // namespace muster::engine
