#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "domain/plan_bytes.hpp"
#include "engine/kinds.hpp"
#include "engine/runs/open_run.hpp"
#include "engine/runs/work_queue.hpp"
#include "ports/store.hpp"

// What the engine holds of runs, and their timers.
namespace muster::engine {

// Timers, each of one task, visit or run.
struct WaitOver {  // a queued task waited for its host as long as it may
  TaskPlace task;
};
struct RetryDue {
  TaskPlace task;
};
struct TaskDeadline {  // the attempt must have ended
  TaskPlace task;
  std::uint32_t attempt = 0;
};
struct VisitDue {  // a wait is over, or an approval's time
  RunId run;
  Visit visit;
};
struct BudgetDue {  // the run may have used its own up
  RunId run;
};
using TimersOfRuns = Kinds<WaitOver, RetryDue, TaskDeadline, VisitDue, BudgetDue>;

struct RunMemory {
  std::uint64_t next = 1;
  std::map<RunId, OpenRun> open;
  std::map<RunId, std::set<RunId>> below;  // open ones, by each run above them, open or ended
  std::size_t plan_bytes = 0;              // of their plans, together
  WorkQueue work;                          // runs with something to do now
  std::set<RunId> untold;                  // runs whose counts changed since the last news
  std::set<RunId> dirty;                   // whose row is to be written at the end of this turn
  std::set<RunId> changed;                 // of those, whose own row did
  std::unordered_map<RunId, std::uint32_t> logs_open;  // whose output is still to come, of tasks
  // Runs that ended lately, and when: a look-up from before that is no longer true. Of others only
  // look-ups since `ended_forgotten_at` can be trusted.
  std::unordered_map<RunId, CommitNumber> ended_at;
  std::deque<std::pair<RunId, CommitNumber>> ended_order;
  CommitNumber ended_forgotten_at;

  void RememberEnd(RunId run, CommitNumber commit) {
    constexpr std::size_t kMostEnds = 10'000;
    ended_at[run] = commit;
    ended_order.emplace_back(run, commit);
    if (ended_order.size() <= kMostEnds) return;
    const auto [oldest, then] = ended_order.front();
    ended_order.pop_front();
    ended_forgotten_at = then;
    if (const auto found = ended_at.find(oldest); found != ended_at.end() && found->second == then)
      ended_at.erase(found);
  }

  void CountOpenLog(RunId run) { ++logs_open[run]; }
  void CountClosedLog(RunId run) {
    const auto found = logs_open.find(run);
    if (found != logs_open.end() && --found->second == 0) logs_open.erase(found);
    untold.insert(run);
  }

  // A run is open now, or not any more.
  void AddBelow(const Run& run) {
    for (const RunId above : run.above) below[above].insert(run.id);
  }
  void DropBelow(const Run& run) {
    for (const RunId above : run.above) {
      const auto found = below.find(above);
      if (found != below.end() && found->second.erase(run.id) > 0 && found->second.empty())
        below.erase(found);
    }
  }

  // A run is open, or has another plan now; an ended one is taken off by ForgetPlan.
  void CountPlan(OpenRun& run) {
    ForgetPlan(run);
    run.plan_bytes = BytesOf(run.run.spec);
    plan_bytes += run.plan_bytes;
  }
  void ForgetPlan(OpenRun& run) { plan_bytes -= std::exchange(run.plan_bytes, 0); }
};

// Ended attempts whose node still has something to say, or has to hear of a stop.
struct TaskMemory {
  std::unordered_map<TaskKey, TaskRecord> lingering;  // output to come, or a lost one that lives
  std::unordered_map<HostId, std::set<TaskKey>> lingering_by_host;
  std::map<HostId, std::map<TaskKey, StopWish>> wishes;  // stops their hosts have not heard of yet
  // Tasks of runs that a restore lost, of which the audit tells, by the host that has them.
  std::unordered_map<HostId, std::set<TaskKey>> strangers;

  void Linger(TaskRecord record) {
    lingering_by_host[record.key.host].insert(record.key);
    lingering.insert_or_assign(record.key, std::move(record));
  }
  void Unlinger(const TaskKey& key) {
    if (lingering.erase(key) == 0) return;
    const auto found = lingering_by_host.find(key.host);
    found->second.erase(key);
    if (found->second.empty()) lingering_by_host.erase(found);
  }
};

// Visits of passes that were opened after a restore from backup begin here, as nobody knows which
// numbers were used between the two.
constexpr std::uint32_t FirstVisitOf(std::uint64_t id_space) {
  const auto part = static_cast<std::uint32_t>(id_space % 2048);
  return (part == 0 && id_space > 0 ? 1 : part) << 20;  // never those of a first life
}

}  // namespace muster::engine
