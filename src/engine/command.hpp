#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/result.hpp"
#include "domain/channel.hpp"
#include "domain/records.hpp"
#include "link/messages.hpp"
#include "ports/store.hpp"

// Whatever can change state reaches the engine as one of these.
namespace muster::engine {

// Who asks, and where to send the answer.
struct Caller {
  RequestId request;
  std::string name;  // of the token
  std::string address;
  std::string client = {};  // what the caller said of its program
};

// How many of a run's hosts each freeze that is about hosts means, as looked up just before.
using FrozenHosts = std::map<std::uint64_t, std::uint32_t>;

struct StartRun {
  Caller caller;
  std::string key;  // Idempotency-Key, "" without one
  std::string body_sha256;
  ReadAt<std::optional<IdempotencyKey>> known;  // looked up just before
  RunSpec spec;
  std::shared_ptr<const Targets> targets;  // resolved, not empty
  std::string names = {};                  // the same, folded for the audit trail
  std::string reason = {};
  Origin origin = Origin::kPerson;
  bool during_freeze = false;        // the person knows of the freeze, and means it
  bool include_maintenance = false;  // also hosts that somebody works on
  bool require_all = false;          // nothing is started when a host is left out
  std::string never_joined = {};     // hosts that were meant and take no work, for people
  FrozenHosts frozen = {};
  std::string trace_parent = {};  // as in Run
};

struct StopRun {
  Caller caller;
  RunId run;
  std::optional<HostId> host;  // only this one
  Duration grace = std::chrono::seconds(10);
  std::string reason;
  ReadAt<std::optional<Run>> known;  // looked up just before
};

struct CreateInvite {
  Caller caller;
  Invite invite;
  std::string key = {};  // Idempotency-Key, as for StartRun
  std::string body_sha256 = {};
  ReadAt<std::optional<IdempotencyKey>> known = {};
};

// The invites that can still be used, for hosts and servers.
struct ListInvites {
  Caller caller;
};
// Takes one back. Hosts that joined with it stay.
struct RevokeInvite {
  Caller caller;
  std::string id;  // or the beginning of it, kLeastInviteDigits at least
  std::string reason;
};
inline constexpr std::size_t kLeastInviteDigits = 8;

// Whether this invite lets a host of this name ask to join; changes nothing. Asked before anything
// that costs more is done for the newcomer. kDenied says why not.
struct CheckInvite {
  Caller caller;
  std::string invite;  // id
  std::string name;
};

struct JoinHost {
  Caller caller;
  std::string invite;  // id
  std::string name;
  std::string key;  // id of the public key
  Labels labels;
};

// A server takes its place in the cluster, with an invite made for servers. Whoever answers it
// hands over the cluster's keys, sealed for `key`. The same server with the same key may ask again
// while the invite is valid.
struct JoinServer {
  Caller caller;
  std::string invite;  // id
  std::string name;
  std::string key;   // id of the public key
  std::string keys;  // digest of the cluster's keys, which it is given
};

// A server is to give up its nodes and not to lead, or to take part again. Whoever asks carries it
// out once it is on the audit trail.
struct DrainServer {
  Caller caller;
  std::string name;
  bool wanted = true;
  std::string reason = {};
};

// The second parts of these schema steps are to be run (ports/store.hpp). Whoever asks carries it
// out once it is on the audit trail.
struct FinalizeStore {
  Caller caller;
  std::vector<std::uint64_t> steps;
  std::string reason = {};
};

// Keys in the data folder of a server are not those that it had, as it found at its start.
struct NoteKeys {
  Caller caller;
  std::string server;
  std::vector<std::string> news;  // a sentence each
};

// Somebody sends a test message through a channel.
struct NoteTest {
  Caller caller;
  std::string channel;
  std::string reason;
};

struct CreateToken {
  Caller caller;
  Token token;           // named, hashed, with role and expiry
  std::string key = {};  // Idempotency-Key, as for StartRun
  std::string body_sha256 = {};
  ReadAt<std::optional<IdempotencyKey>> known = {};
};

struct RevokeToken {
  Caller caller;
  std::string name;
  std::string reason;
};

// What an operator decides about hosts. A name that does not fit the wish is kNotFound or
// kConflict.
struct AcceptJoin {  // the newcomer that waits under this name takes the host over
  Caller caller;
  std::string name;
  std::string key;  // of the newcomer; "" is whoever waits
};
struct RejectJoin {
  Caller caller;
  std::string name;
  std::string reason;
};
struct ListPending {
  Caller caller;
};
struct RevokeHost {
  Caller caller;
  std::string name;
  std::string reason;
};
struct RemoveHost {  // one that is revoked, away, or only declared by a document
  Caller caller;
  std::string name;
  std::string reason = {};
};
struct LabelHosts {
  Caller caller;
  std::string targets;  // as it was written, for the audit
  std::vector<HostId> hosts;
  Labels set;
  std::vector<std::string> remove;
};

// Somebody begins to work on hosts, or has done so.
struct MaintainHosts {
  Caller caller;
  std::string targets;  // as it was written, for the audit
  std::vector<HostId> hosts;
  std::optional<Maintenance> maintenance;  // nothing ends it; who and when are filled in
};

// No run of some kind is started from now on; id, who and when are filled in.
struct FreezeRuns {
  Caller caller;
  Freeze freeze;
};
struct ThawRuns {
  Caller caller;
  std::uint64_t id = 0;  // 0 is every one
  std::string reason;
};

// A trigger's document among those that are applied or dropped.
struct AppliedTrigger {
  std::shared_ptr<const TriggerSpec> spec;  // as read from it; nothing with a drop
  ReadAt<std::optional<Trigger>> known;     // looked up just before
  bool paused = false;                      // how a new one begins; nothing to one that is there
};

// Puts new versions of documents in the place of the old, and takes others away; all of it in one
// batch. What says the same as before is left as it is.
struct ApplyDocuments {
  Caller caller;
  std::vector<std::shared_ptr<const Document>> puts;       // without version, by and at
  std::vector<std::pair<std::string, std::string>> drops;  // kind and name
  std::string reason;
  std::map<std::string, AppliedTrigger> triggers = {};  // one for each of `kind: trigger`, by name
  std::map<std::string, Channel> channels = {};         // one for each put of `kind: channel`
};

// What a slot's run will be, as planned outside: as for StartRun.
struct SlotPlan {
  RunSpec spec;
  std::shared_ptr<const Targets> targets;
  std::string names = {};
  FrozenHosts frozen = {};
  std::string never_joined = {};          // as in StartRun
  std::vector<std::string> authors = {};  // who applied the job, those it starts, and the trigger
  std::string note = {};                  // for the slot's row: what was left out of the plan
};
// The answer to PrepareSlot. Of errors, kInvalid, kNotFound and kDenied are for good: the trigger
// starts nothing more until somebody mends it. kConflict is about this slot alone. All others pass:
// the slot is tried again.
struct FireSlot {
  std::string trigger;
  std::uint32_t version = 0;
  WallTime slot;
  std::uint64_t act = 0;
  Result<SlotPlan> plan;
};
// The answer to FetchTriggers.
struct TakeTriggers {
  DueCursor after;
  std::int64_t until = 0;
  ReadAt<std::vector<Trigger>> found;
  bool more = false;  // there are others behind these
};

// A run of the trigger's job now, whether it is paused or not. What its schedule does stays as it
// is.
struct FireTrigger {
  Caller caller;
  std::string name;
  ReadAt<std::optional<Trigger>> known;  // looked up just before
  SlotPlan plan;
  std::string reason;
  bool despite_overlap = false;  // also while its overlap rule would hold it back
  bool during_freeze = false;
  std::string key = {};  // Idempotency-Key, as for StartRun
  std::string body_sha256 = {};
  ReadAt<std::optional<IdempotencyKey>> known_key = {};
};
struct PauseTrigger {
  Caller caller;
  std::string name;
  ReadAt<std::optional<Trigger>> known;
  std::string reason;
};
struct ResumeTrigger {  // after a pause, or an error that was for good
  Caller caller;
  std::string name;
  ReadAt<std::optional<Trigger>> known;
  std::string reason;
};
struct SkipSlot {  // one that is to come
  Caller caller;
  std::string name;
  ReadAt<std::optional<Trigger>> known;
  WallTime slot;
  std::string reason;
};
// Starts the slots of the past from `from` up to `to`, whatever became of them, one after the
// other.
struct BackfillTrigger {
  Caller caller;
  std::string name;
  ReadAt<std::optional<Trigger>> known;
  WallTime from;
  WallTime to;
  std::string reason;
  bool dry_run = false;  // answer BackfillPlanned, and change nothing
  SlotPlan plan = {};    // of a slot now: whether a freeze refuses it
  bool during_freeze = false;
};

struct AskWhy {
  Caller caller;
  RunId run;
  std::optional<HostId> host;
};

// May a host have to do with a file now: read it, as an open task of its brings it there, or send
// some, as one takes them from there? Without a key: does any open run name it?
struct AskFile {
  Caller caller;
  std::string key;     // of the host's certificate
  std::string sha256;  // 32 bytes
  bool sends = false;
  // With `sends`: it is about to be sent and has so many bytes, which count for the task that takes
  // it. Without: could a file be sent at all?
  std::optional<std::uint64_t> size = {};
  // With `sends`: a file came whole and is kept, or what came is not kept and counts no longer.
  // What was kept once counts until the task ends.
  bool kept = false;
  bool discarded = false;
};

// Steering. Each is durable, and on the audit trail.
struct PauseRun {
  Caller caller;
  RunId run;
  bool release = false;  // its keys go back meanwhile
  std::string reason;
};
struct ResumeRun {
  Caller caller;
  RunId run;
};
// Opens the next pass of a run that has ended or is paused. By default the hosts that failed, each
// from the stage that it failed in.
struct RetryRun {
  Caller caller;
  RunId run;
  std::string from;                          // a stage to begin again with
  bool from_start = false;                   // with the first
  bool all_hosts = false;                    // also those that came through, or dropped out earlier
  bool dry_run = false;                      // answer PassPlanned, and change nothing
  std::shared_ptr<const RunSpec> plan = {};  // the corrected one
  std::vector<std::string> authors = {};     // who applied it, and the jobs it starts
  ReadAt<std::optional<Snapshot::OpenRun>> known;  // looked up just before, when it is not open
  std::string reason = {};
  bool during_freeze = false;
  FrozenHosts frozen = {};
};
struct SkipStage {
  Caller caller;
  RunId run;
  std::string stage;
  std::string reason;
};
struct AnswerApproval {
  Caller caller;
  RunId run;
  std::string stage;  // "" is the one that waits
  bool approved = false;
  std::string comment;
  std::string approval = {};  // ApprovalId of what the person was shown; "" is what waits now
};
struct SetRun {
  Caller caller;
  RunId run;
  std::string stage;  // "" is every stage
  std::optional<std::uint32_t> concurrency;
  std::optional<HostShare> max_failures;
  std::optional<HostShare> max_unreachable = {};
};

// A secret's new value, sealed; version, who and when are filled in. One that is there is replaced.
struct SetSecret {
  Caller caller;
  std::string name;
  std::string sealed;
  ReadAt<std::optional<Secret>> known;  // looked up just before
};
struct RemoveSecret {
  Caller caller;
  std::string name;
  ReadAt<std::optional<Secret>> known;
};

// How a task that the server carried out itself ended.
struct ServerReport {
  TaskKey task;
  TaskEnd end;
};

// Closes a gate that every new run passes, or opens it again. Not kept: whoever watches what the
// gate stands for says it again.
struct SetGate {
  std::string gate;    // "disk_low": the API's error code
  std::string reason;  // for people, what to do included; "" opens it
};

// Retention: drops one slice of what was looked up as old just before.
struct DropOld {
  Caller caller;
  Expired old;
};

// A node said Hello. What the engine cannot know of ended attempts was looked up just before.
struct NodeHello {
  LinkId link;
  std::string key;  // id of the certificate's public key
  std::string address;
  link::Hello hello;
  // How the run of a task stands that is not on record itself.
  struct LookedRun {
    bool over = false;
    std::optional<StopWish> stop;
    CommitNumber stop_commit{};
  };
  struct Looked {
    std::optional<TaskRecord> record;
    std::uint64_t durable_log = 0;
    std::optional<LookedRun> run = {};
  };
  std::vector<Looked> looked;  // one for each of hello.tasks
  CommitNumber looked_at;
};

struct NodeReports {
  LinkId link;
  std::uint64_t session = 0;
  struct Marked {
    link::Report report;
    std::optional<LogMark> mark;  // when the output is durable and proven
  };
  std::vector<Marked> reports;
};

struct LinkClosed {
  LinkId link;
  Duration silent{};  // how long the node had said nothing by then
};

using Command =
    std::variant<StartRun, StopRun, CreateInvite, JoinHost, AskWhy, NodeHello, NodeReports,
                 LinkClosed, CreateToken, RevokeToken, AcceptJoin, RejectJoin, ListPending,
                 RevokeHost, RemoveHost, LabelHosts, SetGate, DropOld, PauseRun, ResumeRun,
                 RetryRun, SkipStage, AnswerApproval, SetRun, ServerReport, AskFile, ApplyDocuments,
                 SetSecret, RemoveSecret, MaintainHosts, FreezeRuns, ThawRuns, FireSlot,
                 TakeTriggers, FireTrigger, PauseTrigger, ResumeTrigger, SkipSlot, BackfillTrigger,
                 JoinServer, DrainServer, FinalizeStore, CheckInvite, ListInvites, RevokeInvite,
                 NoteKeys, NoteTest>;

// --- answers ---

struct RunStarted {
  RunId run;
  RunState state = RunState::kRunning;
  std::uint32_t hosts = 0;
  CommitNumber commit;
  bool repeated = false;      // the key was known: this is the run it started
  std::string left_out = {};  // as in its RunSpec
};
struct RunStopping {
  RunId run;
  RunState state = RunState::kRunning;
};
struct RunSteered {
  RunId run;
  RunState state = RunState::kRunning;
  std::uint32_t pass = 1;
};
struct PassPlanned {  // the hosts that a retry goes on with
  std::shared_ptr<const Targets> targets;
  Ordinals hosts;  // of them
};
struct BackfillPlanned {
  std::uint32_t slots = 0;  // it would start
};
struct InviteCreated {
  Invite invite;
};
struct OpenInvites {
  std::vector<Invite> invites;  // the newest first
};
struct InviteRevoked {
  Invite invite;
};
struct InviteChecked {};
struct HostJoined {
  Host host;
  std::string cluster;
};
struct ServerJoined {
  std::string cluster;
};
struct ServerDrained {};
struct KeysNoted {};
struct TestNoted {};
struct StoreFinalizing {};
struct TokenAnswer {
  Token token;
};
struct KeyRefused {  // an Idempotency-Key that stands for something else, or for what is no more
  std::string why;
};
struct JoinWaits {
  PendingJoin pending;
};
struct HostChanged {  // as it is now; for a removed one, as it was last
  Host host;
};
struct JoinRejected {
  PendingJoin pending;
};
struct PendingJoins {
  std::vector<PendingJoin> joins;  // that wait, by name
};
struct HostsLabelled {
  std::uint32_t hosts = 0;    // asked for and known
  std::uint32_t changed = 0;  // of them
};
struct FreezeAnswer {  // those that were made or thawed, as they are or were
  std::vector<Freeze> freezes;
};
struct WhyAnswer {
  struct Line {
    std::string host;
    TaskState state = TaskState::kWaiting;
    std::string because;
  };
  std::vector<std::string> summary;
  std::vector<Line> waiting;  // at most 100
};
// No run was started, as a gate is closed.
struct GateClosed {
  std::string gate;
  std::string reason;
};
struct OldDropped {
  std::uint32_t things = 0;
};
struct FileAnswer {
  bool may = false;
  std::string why = {};  // it may not
};
// What became of each document, in the order of the command: puts, then drops.
enum class DocumentFate : std::uint8_t { kCreated, kChanged, kUnchanged, kDeleted, kMissing };
struct DocumentsApplied {
  struct One {
    std::string kind;
    std::string name;
    std::uint32_t version = 0;  // the latest now; of a deleted one the last
    DocumentFate fate = DocumentFate::kUnchanged;
  };
  std::vector<One> documents;
};
struct SecretAnswer {  // as it is now, or was last; without its value
  Secret secret;
};

struct TriggerAnswer {  // as it is now
  Trigger trigger;
  TriggerState state = TriggerState::kRunnable;
};

using Answer =
    std::variant<RunStarted, RunStopping, InviteCreated, HostJoined, WhyAnswer, TokenAnswer,
                 KeyRefused, JoinWaits, HostChanged, JoinRejected, PendingJoins, HostsLabelled,
                 GateClosed, OldDropped, RunSteered, FileAnswer, DocumentsApplied, SecretAnswer,
                 FreezeAnswer, TriggerAnswer, ServerJoined, ServerDrained, StoreFinalizing,
                 PassPlanned, BackfillPlanned, InviteChecked, OpenInvites, InviteRevoked, KeysNoted,
                 TestNoted>;

}  // namespace muster::engine
