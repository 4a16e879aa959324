#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "domain/audit_filter.hpp"
#include "domain/records.hpp"

namespace muster {

// Where the fence row stands.
struct Fence {
  Term term;
  CommitNumber number;

  friend bool operator==(const Fence&, const Fence&) = default;
};

// What a new leader needs to go on: everything that can act soon, from one moment.
struct Snapshot {
  Fence fence;
  std::string cluster;  // id made with the store
  std::uint64_t id_space = 0;
  std::uint64_t next_run = 1;  // numbers never used before
  std::uint64_t next_host = 1;
  AuditHead audit;            // the last entry made
  std::vector<Token> tokens;  // all that are kept, by name
  std::vector<Host> hosts;
  std::vector<Invite> invites;  // that count (Invite::Counts)
  struct OpenRun {
    Run run;  // with its plan
    std::shared_ptr<const Targets> targets;
    std::vector<TaskRecord> tasks;   // every attempt of the run
    std::vector<StageVisit> visits;  // every one, in order
  };
  std::vector<OpenRun> runs;          // not ended
  std::vector<TaskRecord> open_logs;  // ended attempts of ended runs whose log is still kOpen
  std::vector<OpenWish> wishes;
  std::vector<PendingJoin> pending;
  std::vector<KeyHold> holds;
  // Filled in by who loads: the lost attempts of ended runs that are among the holders.
  std::vector<TaskRecord> lost;
  // By kind and name, also of deleted ones; without those of triggers.
  std::vector<DocumentHead> documents;
  std::vector<OpenNotice> notices;
  std::vector<Freeze> freezes;  // by id
  // Those that have a run among `runs`. What is due soon is asked for by DueTriggers: only the
  // reader knows the hour.
  std::vector<Trigger> triggers;
  TriggerCounts trigger_counts;  // as last put; counted, when nobody ever did
  // When the store came from a backup: what happened between the two moments is not in it.
  struct Restored {
    WallTime taken;     // the backup
    WallTime at;        // its restore
    bool logs = false;  // output of tasks came with it
    // Where the restore left the fence: nothing was committed since while it still stands there. 0
    // when the restore did not say.
    CommitNumber number{};
  };
  std::optional<Restored> restored;
};

// What retention may drop: things older than these moments; a zero keeps everything.
struct Cutoffs {
  WallTime runs;        // ended runs, made and ended before
  WallTime audit;       // entries of the trail's front
  WallTime invites;     // that do not count any more (Invite::Counts), and expired before
  WallTime slots = {};  // decided before, and of times before
};
struct Expired {
  struct OldRun {
    RunId run;
    std::uint32_t hosts = 0;
  };
  std::vector<OldRun> runs;          // oldest first
  std::vector<std::string> invites;  // ids
  std::uint64_t audit_below = 0;     // entries with lower numbers are old; 0 is none
  struct OldSlot {
    std::string trigger;
    WallTime first;
    std::uint64_t act = 0;
  };
  std::vector<OldSlot> slots = {};
};

// Where a walk over triggers by their due hour stands.
struct DueCursor {
  std::int64_t hour = 0;
  std::string name;
};

// Where a walk over a trigger's slots stands.
struct SlotCursor {
  WallTime first;
  std::uint64_t act = 0;
};

// Which slots of a trigger to list: rows with a time at or after `since` and before `until`; zero
// is no bound.
struct SlotFilter {
  WallTime since;
  WallTime until;
  std::optional<SlotFate> fate = {};
};

struct RunFilter {
  std::optional<RunState> state;
  std::string by;              // "" is anyone
  std::optional<HostId> host;  // runs that have a task row on this host
  WallTime since;              // created at or after; zero is no bound
  WallTime until;              // created before; zero is no bound
};
// Whether a run fits; its host is not looked at.
inline bool Matches(const Run& run, const RunFilter& filter) {
  return (!filter.state || run.state == *filter.state) &&
         (filter.by.empty() || run.by == filter.by) &&
         (!filter.since || run.created >= filter.since) &&
         (!filter.until || run.created < filter.until);
}

// A page may be shorter than its limit and still have a `next`: a reader looks at a bounded number
// of entries.
struct AuditPage {
  std::vector<AuditEntry> entries;
  std::uint64_t next = 0;  // `before` of the next page; 0 when there is none
};

struct TaskFilter {
  std::optional<TaskState> state;
  std::optional<HostId> host;
  bool last_attempt_only = true;
};

// How far the tables of a store are. A release changes them in numbered steps of two parts: the
// first only adds, and is run by the first leader that knows the step; the second takes away what
// servers from before the step still use, and waits for Finalize.
struct SchemaState {
  std::uint64_t version = 0;                   // steps that were run; 0: it does not tell
  std::uint64_t needed = 0;                    // a server must know so many
  std::uint64_t known = 0;                     // so many this program knows
  std::vector<std::uint64_t> unfinished = {};  // of those it knows, whose second part waits

  friend bool operator==(const SchemaState&, const SchemaState&) = default;
};

// An answer and the batch it was true at.
template <typename T>
struct ReadAt {
  T value;
  CommitNumber commit;
};

// Keeps Muster's records. One writer (the leader's engine), many readers; safe from any thread.
class Store {
 public:
  using CommitDone = std::function<void(Result<>)>;
  virtual ~Store() = default;

  // Makes the caller the only writer: moves the fence to (term + 1, same number) in one durable
  // transaction. From then on every Commit of an older term is kFenced.
  virtual Result<Fence> TakeTerm() = 0;

  // Makes batch `number` of `term` durable as one transaction, then calls `done` (from any thread,
  // possibly before Commit returns). Batches come in order, each after the one before it succeeded;
  // the transaction moves the fence from (term, number - 1) to (term, number). kFenced: another
  // term holds the store; nothing of the batch was written, now or later. kUnavailable: nothing was
  // written. kTimeout, also after a lost connection: it may have been written. After either, send
  // the same batch under the same number again, which writes it once. kInternal: a constraint
  // refused, or a record is larger than Load could read back; nothing was written.
  virtual void Commit(std::shared_ptr<const Batch> batch, Term term, CommitNumber number,
                      CommitDone done) = 0;

  // Everything a leader of `term` needs, from one moment. kFenced when the term is gone.
  virtual Result<Snapshot> Load(Term term) = 0;

  virtual Result<SchemaState> ReadSchema() { return SchemaState(); }

  // Runs the second parts that wait, all or none, and says of which steps; none when there is
  // nothing to do. From then on servers that lack one of these steps cannot lead, and nothing they
  // read is sure. For the leader of `term`, when no server from before is left; may be repeated
  // after any error. kFenced: another term holds the store. kConflict: a newer musterd ran steps
  // that this one does not know. kUnavailable: nothing was done; kTimeout: it may have been.
  virtual Result<std::vector<std::uint64_t>> Finalize(Term /*term*/) {
    return std::vector<std::uint64_t>();
  }

  // The clock of the machine that keeps the store; nothing when that is this one.
  virtual Result<std::optional<WallTime>> ReadClock() { return std::optional<WallTime>(); }

  // The id made with the store, as Snapshot::cluster; it never changes.
  virtual Result<std::string> ReadCluster() = 0;

  // Readers. Each reads one consistent moment; none costs more with more history.
  virtual Result<Fence> ReadFence() = 0;
  virtual Result<ReadAt<std::optional<Run>>> FindRun(RunId id) = 0;  // with its plan
  // All of an ended run that a retry needs; nothing when it is not there.
  virtual Result<ReadAt<std::optional<Snapshot::OpenRun>>> ReadWholeRun(RunId id) = 0;
  // A run's visits in order, after `after` (none: from the first), at most `limit`.
  virtual Result<std::vector<StageVisit>> ListVisits(RunId run, Visit after, std::size_t limit) = 0;
  virtual Result<std::shared_ptr<const Targets>> FindTargets(RunId id) = 0;  // kNotFound
  // Newest first, at most `limit`, older than `before` when that is set; without their plans.
  virtual Result<std::vector<Run>> ListRuns(const RunFilter& filter, RunId before,
                                            std::size_t limit) = 0;
  // In (visit, ordinal, attempt) order after `after` (nullopt: from the first), at most `limit`.
  virtual Result<std::vector<TaskRecord>> ListTasks(RunId run, const TaskFilter& filter,
                                                    std::optional<TaskKey> after,
                                                    std::size_t limit) = 0;
  // One row per key, nullopt where there is none; all from one moment.
  virtual Result<ReadAt<std::vector<std::optional<TaskRecord>>>> FindTasks(
      const std::vector<TaskKey>& keys) = 0;
  virtual Result<ReadAt<std::optional<IdempotencyKey>>> FindKey(std::string_view caller,
                                                                std::string_view key) = 0;
  virtual Result<ReadAt<std::optional<Secret>>> FindSecret(std::string_view name) = 0;
  virtual Result<std::vector<Secret>> ListSecrets() = 0;  // by name
  virtual Result<std::vector<Token>> ListTokens() = 0;    // by name
  // Newest first, numbers below `before` (0: from the newest).
  virtual Result<AuditPage> ListAudit(const AuditFilter& filter, std::uint64_t before,
                                      std::size_t limit) = 0;
  // Hosts that were removed under this name, the last removed first, at most `limit`: those whose
  // removal is still on the trail.
  virtual Result<std::vector<HostId>> ListRemovedHosts(std::string_view name,
                                                       std::size_t limit) = 0;
  // Oldest first, numbers from `from` on: the chain as it is kept.
  virtual Result<std::vector<AuditEntry>> ReadAudit(std::uint64_t from, std::size_t limit) = 0;
  virtual Result<AuditHead> ReadAuditHead() = 0;
  // One version of a document, also of a deleted one; version 0 is the latest of one that is there.
  virtual Result<std::optional<Document>> FindDocument(std::string_view kind, std::string_view name,
                                                       std::uint32_t version) = 0;
  // The heads of the documents of a kind that are there, without `files`, by name, after the name
  // `after` ("": from the first), at most `limit`. Documents are large and are read one at a time,
  // so the memory that this takes depends on `limit` alone.
  virtual Result<std::vector<DocumentHead>> ListDocumentHeads(std::string_view kind,
                                                              std::string_view after,
                                                              std::size_t limit) = 0;
  // Also of a dropped one.
  virtual Result<ReadAt<std::optional<Trigger>>> FindTrigger(std::string_view name) = 0;
  // Those that are there, by name, after the name `after` ("": from the first), at most `limit`.
  virtual Result<std::vector<Trigger>> ListTriggers(std::string_view after, std::size_t limit) = 0;
  // Those with a DueHour up to `until`, in the order (hour, name) after `after`, at most `limit`.
  virtual Result<ReadAt<std::vector<Trigger>>> DueTriggers(const DueCursor& after,
                                                           std::int64_t until,
                                                           std::size_t limit) = 0;
  // A trigger's slots, the latest (first, act) first, below `before` when that is set, at most
  // `limit`.
  virtual Result<std::vector<SlotRecord>> ListSlots(std::string_view trigger,
                                                    const SlotFilter& filter,
                                                    std::optional<SlotCursor> before,
                                                    std::size_t limit) = 0;
  // The oldest that may go, at most `most` of each kind; costs about what it finds.
  virtual Result<Expired> FindExpired(const Cutoffs& cutoffs, std::size_t most) = 0;
};

}  // namespace muster
