#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "domain/host_result.hpp"
#include "domain/records.hpp"
#include "engine/command.hpp"
#include "engine/triggers/memory.hpp"
#include "engine/work_queue.hpp"
#include "ports/store.hpp"

// The engine's memory: what can act soon. Everything here is either loaded from the store or
// follows from messages of this term. Only the rooms of the engine touch it.
namespace muster::engine {

struct Options {
  Duration order_life = std::chrono::seconds(10);       // start_by lies so far ahead
  Duration reconnect_bound = std::chrono::seconds(60);  // a cut link is expected back within
  Duration takeover_grace =
      std::chrono::minutes(2);  // after a load, before any task deadline fires
  Duration heartbeat = std::chrono::seconds(10);
  std::size_t most_things = 1000;  // one decision touches at most about so many
  Duration keys_remembered = std::chrono::minutes(10);
  // Triggers. Without zones they all wait: nobody plans their runs.
  std::shared_ptr<const Zones> zones = {};          // shared by the engines of one program
  Duration missed_after = std::chrono::minutes(1);  // a slot so late was missed
  Duration ask_again = std::chrono::minutes(1);     // for a plan that does not come
  Duration clock_watch = std::chrono::seconds(10);  // a jump of the wall clock is seen within
  // No new run is started while the plans of open runs take more memory than this.
  std::size_t most_plan_bytes = 1ULL << 30;
};

// A task that is not over, wherever it stands.
struct TaskPlace {
  RunId run;
  Visit visit;
  std::uint32_t ordinal = 0;

  friend auto operator<=>(const TaskPlace&, const TaskPlace&) = default;
};

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
  bool working = false;   // in State::work
  std::size_t plan_bytes = 0;  // counted in State::plan_bytes

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

// What a host has sent for a task that takes files from it. Known from messages of this term only.
struct SentFile {
  std::uint64_t size = 0;
  bool kept = false;  // it came whole, and stays
};
struct SentFiles {
  std::unordered_map<std::string, SentFile> files;  // by hash
  std::uint64_t bytes = 0;
};

// An agent of a host that is shown as a copy, as long as no other of that host was heard.
struct LoneAgent {
  std::string store;
  std::string boot;
  std::uint64_t session = 0;
  MonoTime since{};
  MonoTime heard{};
  std::uint32_t hellos = 0;
};

struct HostEntry {
  Host host;
  LinkId link;   // none: offline
  LinkId asked;  // the latest that was asked to say Hello again, having counted lower
  std::optional<LoneAgent> heard_alone = {};
  bool settled = false;  // said Hello in this term
  std::string address;
  std::vector<std::string> features;
  std::set<TaskPlace> open;             // attempts sent to it
  std::set<TaskPlace> queued;           // tasks that wait for it
  std::map<TaskPlace, SentFiles> sent;  // of `open`
  // When output of an ended task was last proven or given up in this term: a look-up from before
  // that may still call it awaited.
  CommitNumber output_over;

  void Close(const TaskPlace& place) {
    open.erase(place);
    sent.erase(place);
  }
  bool Online() const { return static_cast<bool>(link); }
};

enum class TimerKind : std::uint8_t {
  kWaitOver,
  kRetry,
  kTaskDeadline,
  kVisitDue,  // a wait is over, or an approval's time
  kBudget,    // a run may have used its own up
  kNotice,    // one is to be sent (again)
};
struct Timer {
  MonoTime at;
  TimerKind kind = TimerKind::kWaitOver;
  TaskPlace task = {};
  std::uint32_t attempt = 0;

  friend bool operator>(const Timer& a, const Timer& b) { return a.at > b.at; }
};

// Visits of passes that were opened after a restore from backup begin here, as nobody knows which
// numbers were used between the two.
constexpr std::uint32_t FirstVisitOf(std::uint64_t id_space) {
  const auto part = static_cast<std::uint32_t>(id_space % 2048);
  return (part == 0 && id_space > 0 ? 1 : part) << 20;  // never those of a first life
}

// Who holds a key of the limiter, and who waits for it, in the order they came.
struct KeyState {
  std::set<TaskKey> holders;
  std::map<std::uint64_t, TaskPlace> waiting;
};

struct State {
  Options options;
  std::string cluster;
  Term term;
  MonoTime lead_until = kNever;  // no order may be begun later
  CommitNumber loaded_at;
  MonoTime loaded;
  std::uint64_t id_space = 0;
  std::uint64_t next_run = 1;
  std::uint64_t next_host = 1;
  AuditHead audit;  // the last entry, committed or not
  std::optional<Snapshot::Restored> restored;

  std::unordered_map<HostId, HostEntry> hosts;
  std::unordered_map<std::string, HostId> host_by_key;
  std::unordered_map<std::string, HostId> host_by_name;
  std::unordered_map<LinkId, HostId> host_by_link;
  std::unordered_map<std::string, Invite> invites;
  std::map<std::string, Token> tokens;  // by name; revoked ones for a while
  struct Pending {
    PendingJoin join;
    MonoTime asked;  // when it last did
  };
  std::map<std::string, Pending, std::less<>> pending;  // by name

  // The latest of each, by kind and name; also deleted ones, for their numbers.
  std::map<std::pair<std::string, std::string>, DocumentHead> documents;

  std::map<RunId, OpenRun> runs;
  std::map<RunId, std::set<RunId>> below;  // open ones, by each run above them, open or ended
  std::size_t plan_bytes = 0;              // of their plans, together
  WorkQueue work;                          // runs with something to do now
  std::set<RunId> untold;                  // runs whose counts changed since the last news
  std::set<RunId> dirty_runs;              // whose row is to be written at the end of this turn
  std::set<RunId> changed_runs;            // of those, whose own row did
  // Runs that ended lately, and when: a look-up from before that is no longer true. Of others only
  // look-ups since `ended_forgotten_at` can be trusted.
  std::unordered_map<RunId, CommitNumber> ended_at;
  std::deque<std::pair<RunId, CommitNumber>> ended_order;
  CommitNumber ended_forgotten_at;

  // Ended attempts whose node still has something to say: output to come, or a lost one that lives.
  std::unordered_map<TaskKey, TaskRecord> lingering;
  std::unordered_map<HostId, std::set<TaskKey>> lingering_by_host;
  std::unordered_map<RunId, std::uint32_t> logs_open;
  std::map<HostId, std::map<TaskKey, StopWish>> wishes;  // stops their hosts have not heard of yet

  struct RememberedKey {
    IdempotencyKey key;
    CommitNumber commit;
    MonoTime at;
  };
  std::map<std::pair<std::string, std::string>, RememberedKey> keys;
  CommitNumber keys_forgotten_at;  // reads older than this cannot be trusted about keys

  std::priority_queue<Timer, std::vector<Timer>, std::greater<>> timers;

  std::map<std::string, KeyState, std::less<>> keys_held;
  std::unordered_map<TaskKey, std::vector<std::string>> holds;  // keys by holder
  // Lost ones that may still run there; whether no Hello can tell that they do not.
  std::unordered_map<HostId, std::map<TaskKey, bool>> lost_holders;
  std::multimap<MonoTime, TaskKey> lost_over;  // until when at most
  // Of those, by open run, the ones that are under the keys of a run.
  std::map<RunId, std::set<TaskKey>> lost_in;
  std::map<TaskPlace, std::pair<std::string, std::uint64_t>> waits_for_key;  // which, and its place
  std::uint64_t next_waiter = 1;
  // Secrets that were set in this term, without their values; nothing: removed.
  std::map<std::string, std::optional<Secret>, std::less<>> secrets;
  struct Telling {
    OpenNotice notice;
    bool under_way = false;
  };
  std::map<std::pair<RunId, Visit>, Telling> notices;  // that no channel took yet

  std::map<std::string, std::string> gates;  // closed ones, with their reasons
  std::map<std::uint64_t, Freeze> freezes;   // perhaps over by now
  TriggerMemory triggers;
  // Tasks of runs that a restore lost, of which the audit tells, by the host that has them.
  std::unordered_map<HostId, std::set<TaskKey>> strangers;

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

  // Whether a run began before the restore that opened this id space.
  bool FromBackup(RunId run) const { return SpaceOf(run) < id_space; }

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
  void CountOpenLog(RunId run) { ++logs_open[run]; }
  void CountClosedLog(RunId run) {
    const auto found = logs_open.find(run);
    if (found != logs_open.end() && --found->second == 0) logs_open.erase(found);
    untold.insert(run);
  }
};

}  // namespace muster::engine
