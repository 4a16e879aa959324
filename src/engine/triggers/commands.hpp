#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "domain/records.hpp"
#include "engine/caller.hpp"
#include "engine/kinds.hpp"
#include "engine/limiter/commands.hpp"
#include "engine/runs/start_commands.hpp"
#include "ports/store.hpp"

// Commands about triggers and their slots, and their answers.
namespace muster::engine {

// What a slot's run will be, as the server planned it: as for StartRun.
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
// starts nothing more until it is mended. kConflict is about this slot alone. All others pass:
// the slot is tried again.
struct FireSlot {
  using Answer = NoAnswer;

  std::string trigger;
  std::uint32_t version = 0;
  WallTime slot;
  std::uint64_t act = 0;
  Result<SlotPlan> plan;
};

// The answer to FetchTriggers.
struct TakeTriggers {
  using Answer = NoAnswer;

  DueCursor after;
  std::int64_t until = 0;
  ReadAt<std::vector<Trigger>> found;
  bool more = false;  // there are others behind these
};

struct TriggerAnswer {  // as it is now
  Trigger trigger;
  TriggerState state = TriggerState::kRunnable;
};

struct BackfillPlanned {
  std::uint32_t slots = 0;  // it would start
};

// A run of the trigger's job now, whether it is paused or not. What its schedule does stays as it
// is.
struct FireTrigger {
  using Answer = std::variant<RunStarted, GateClosed, KeyRefused>;

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
  using Answer = TriggerAnswer;

  Caller caller;
  std::string name;
  ReadAt<std::optional<Trigger>> known;
  std::string reason;
};

struct ResumeTrigger {  // after a pause, or an error that was for good
  using Answer = TriggerAnswer;

  Caller caller;
  std::string name;
  ReadAt<std::optional<Trigger>> known;
  std::string reason;
};

struct SkipSlot {  // one that is to come
  using Answer = TriggerAnswer;

  Caller caller;
  std::string name;
  ReadAt<std::optional<Trigger>> known;
  WallTime slot;
  std::string reason;
};

// Starts the slots of the past from `from` up to `to`, one after the other, also those that were
// started or skipped before.
struct BackfillTrigger {
  using Answer = std::variant<TriggerAnswer, BackfillPlanned, GateClosed>;

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

using TriggerCommands = Kinds<FireSlot, TakeTriggers, FireTrigger, PauseTrigger, ResumeTrigger,
                              SkipSlot, BackfillTrigger>;

}  // namespace muster::engine
