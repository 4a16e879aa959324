#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "domain/audit.hpp"
#include "domain/document.hpp"
#include "domain/freeze.hpp"
#include "domain/host.hpp"
#include "domain/ids.hpp"
#include "domain/notice.hpp"
#include "domain/run.hpp"
#include "domain/secret.hpp"
#include "domain/task.hpp"
#include "domain/token.hpp"
#include "domain/trigger.hpp"

namespace muster {

// A task attempt as it is kept. Key: (run, visit, ordinal, attempt). Dispatch inserts it as kSent;
// its end updates it once, its log's final mark once more when that comes later.
struct TaskRecord {
  TaskKey key;
  TaskState state = TaskState::kSent;
  WallTime sent;  // zero when it was never sent
  WallTime ended;
  std::optional<TaskEnd> end;  // the node's word, when there is one (log totals left out)
  std::string reason;          // why it ended so, when the node said nothing
  std::string store;           // the agent's data folder and boot it was sent to
  std::string boot;
  LogMark log;
  bool stop_wished = false;  // a stop reached this task
  // Of one that was lost: by its own timeout, it has surely ended so long after that. 0: never, or
  // the row is older than this.
  Duration surely_over = {};
  // It was lost when two agents had its host's key: no Hello of one of them says that it is over.
  bool doubted = false;
  std::optional<TaskEnd> late;  // what a lost attempt's node said afterwards; revives nothing
  // Which batch and term made the row, and ended it.
  CommitNumber sent_commit;
  Term sent_term;
  CommitNumber ended_commit;
  Term ended_term;

  friend bool operator==(const TaskRecord&, const TaskRecord&) = default;
};

// Something that holds a place under a limit (KeyLimit) until it is given back: a task's attempt,
// or with visit 0 a whole run.
struct KeyHold {
  std::string key;
  TaskKey task;

  friend bool operator==(const KeyHold&, const KeyHold&) = default;
};

// An answered Idempotency-Key. Keys belong to a caller and are kept seven days. `key` also names
// the call, by method and path: the same key at another place is another key. Rows from before this
// hold the caller's key alone.
struct IdempotencyKey {
  std::string caller;
  std::string key;
  // Another body under the same key is refused. Where the call made a secret, ":" and the salt of
  // it follow (KeySalt).
  std::string body_sha256;
  RunId run;
  WallTime created;

  friend bool operator==(const IdempotencyKey&, const IdempotencyKey&) = default;
};

// The two parts of IdempotencyKey::body_sha256. No salt: "".
inline std::string_view KeyBody(std::string_view kept) { return kept.substr(0, kept.find(':')); }
inline std::string_view KeySalt(std::string_view kept) {
  const auto colon = kept.find(':');
  return colon == std::string_view::npos ? std::string_view{} : kept.substr(colon + 1);
}

// A stop that its host has not heard of yet: the task's record ended as lost, the process may live.
// Kept until the host got it in a Welcome.
struct OpenWish {
  TaskKey task;
  StopWish wish;

  friend bool operator==(const OpenWish&, const OpenWish&) = default;
};

// Changes: each says the new whole of one record (or its end). Applying one twice is harmless.
struct PutHost {
  Host host;
};
struct PutInvite {
  Invite invite;
};
struct PutRun {
  Run run;
};  // without its targets and plan; of `spec` only title, targets, job, version and priority
struct PutPlan {
  RunId run;
  std::shared_ptr<const RunSpec> plan;
};  // with the run, and again when a retry brings another
struct PutVisit {
  RunId run;
  StageVisit visit;
};
struct PutTargets {
  RunId run;
  std::shared_ptr<const Targets> targets;
};  // once, with the run
struct PutTask {
  TaskRecord task;
};
struct PutKey {
  IdempotencyKey key;
};
struct PutWish {
  OpenWish wish;
};
struct DropWish {
  TaskKey task;
};
struct AddAudit {
  AuditEntry entry;
  // Hosts that the entry is found by. The start of a run is found by its task rows instead, so it
  // names none here.
  std::vector<HostId> about = {};
};
struct PutToken {
  Token token;
};
struct DropToken {
  std::string name;
};
struct DropHost {
  HostId host;
};  // its id is never given again
struct PutPending {
  PendingJoin pending;
};
struct DropPending {
  std::string name;
};
struct PutHold {
  KeyHold hold;
};
struct DropHold {
  KeyHold hold;
};
struct PutSecret {
  Secret secret;
};
struct DropSecret {
  std::string name;
};
struct PutFreeze {
  Freeze freeze;
};
struct DropFreeze {
  std::uint64_t id = 0;
};
struct PutNotice {
  OpenNotice notice;
};
struct DropNotice {
  RunId run;
  Visit visit;
};

// The next version of a document; the ones before it stay.
struct PutDocument {
  std::shared_ptr<const Document> document;
};
// It is no longer there; its versions are.
struct DropDocument {
  std::string kind;
  std::string name;
};

// Also when it is dropped: its row stays for its mark.
struct PutTrigger {
  Trigger trigger;
};
// How many there are now, all of them.
struct PutTriggerCounts {
  TriggerCounts counts;
};
// A slot, or neighbours that were skipped for one reason: the whole row, also when it only grew.
struct PutSlot {
  SlotRecord slot;
};
struct DropSlot {
  std::string trigger;
  WallTime first;
  std::uint64_t act = 0;
};

// Retention. Each is one slice, small enough not to hold up the commits behind it.
struct DropRun {
  RunId run;  // with its plan, targets, visits, tasks, holds and wishes
  std::uint32_t most = 2000;
};  // takes at most so many task rows; the run's own row goes with the last of them
struct DropInvite {
  std::string id;
};
struct DropAudit {
  std::uint64_t below = 0;  // entries with lower numbers
};

using Change =
    std::variant<PutHost, PutInvite, PutRun, PutPlan, PutVisit, PutTargets, PutTask, PutKey,
                 PutWish, DropWish, AddAudit, PutToken, DropToken, DropHost, PutPending,
                 DropPending, DropRun, DropInvite, DropAudit, PutHold, DropHold, PutDocument,
                 DropDocument, PutSecret, DropSecret, PutNotice, DropNotice, PutFreeze, DropFreeze,
                 PutTrigger, PutSlot, DropSlot, PutTriggerCounts>;

// What is committed as one transaction.
struct Batch {
  std::vector<Change> changes;
};

}  // namespace muster
