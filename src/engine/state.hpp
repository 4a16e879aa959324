#pragma once

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

#include "domain/records.hpp"
#include "engine/command.hpp"
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
};

// One host's place in an open run.
struct Slot {
  TaskState state = TaskState::kWaiting;
  std::uint32_t attempt = 0;     // last one used
  MonoTime wait_until = kNever;  // while queued: then it is unreachable
  MonoTime retry_at{0};          // while queued after a late refusal
  MonoTime deadline = kNever;    // while sent or running: then it is lost
};

struct OpenRun {
  Run run;
  std::shared_ptr<const Targets> targets;
  std::vector<Slot> slots;                                 // by ordinal
  std::unordered_map<std::uint32_t, TaskRecord> attempts;  // sent or running, by ordinal
  TaskCounts counts;
  std::uint32_t cursor = 0;  // ordinals before it have had their turn
  std::uint32_t batch = 0;   // index of the current one
  std::uint32_t batch_begin = 0;
  std::uint32_t batch_end = 0;
  std::uint32_t batch_left = 0;  // hosts of the batch not yet ended
  std::uint32_t batch_failures = 0;
  std::deque<std::uint32_t> ready;  // queued ordinals whose host is there now
  std::uint32_t kill_cursor = 0;    // while stopping: ordinals before it were told
  bool limit_passed = false;
  bool winding_up = false;  // nothing more is dispatched: stopped, or past max_failures
  bool restored = false;    // open in the backup this store came from: nothing of it is sent any
                            // more, and what may have been sent meanwhile is lost unless its host
                            // knows better
  bool working = false;     // in State::work
  bool told = true;         // its latest counts are among the news

  const StageSpec& Spec() const { return run.spec.stages[run.stages.back().index]; }
  Stage& CurrentStage() { return run.stages.back(); }
  const Stage& CurrentStage() const { return run.stages.back(); }
};

struct HostEntry {
  Host host;
  LinkId link;           // none: offline
  LinkId last_link;      // the latest that said Hello in this term
  bool settled = false;  // said Hello in this term
  std::string address;
  std::vector<std::string> features;
  std::set<std::pair<RunId, std::uint32_t>> open;    // attempts sent to it
  std::set<std::pair<RunId, std::uint32_t>> queued;  // tasks that wait for it

  bool Online() const { return static_cast<bool>(link); }
};

enum class TimerKind : std::uint8_t { kWaitOver, kRetry, kTaskDeadline };
struct Timer {
  MonoTime at;
  TimerKind kind = TimerKind::kWaitOver;
  RunId run;
  std::uint32_t ordinal = 0;
  std::uint32_t attempt = 0;

  friend bool operator>(const Timer& a, const Timer& b) { return a.at > b.at; }
};

struct State {
  Options options;
  std::string cluster;
  Term term;
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

  std::map<RunId, OpenRun> runs;
  std::deque<RunId> work;  // runs with something to do now
  std::set<RunId> untold;  // runs whose counts changed since the last news

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

  std::map<std::string, std::string> gates;  // closed ones, with their reasons
  std::set<TaskKey> strangers;  // tasks of runs that a restore lost, of which the audit tells

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
