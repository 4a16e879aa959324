#pragma once

#include <cstdint>
#include <string>

#include "domain/audit.hpp"
#include "engine/auth/memory.hpp"
#include "engine/documents/memory.hpp"
#include "engine/hosts/memory.hpp"
#include "engine/keeping/memory.hpp"
#include "engine/limiter/memory.hpp"
#include "engine/notices/memory.hpp"
#include "engine/options.hpp"
#include "engine/remembered_keys.hpp"
#include "engine/runs/memory.hpp"
#include "engine/secrets/memory.hpp"
#include "engine/timers.hpp"
#include "engine/triggers/memory.hpp"

namespace muster::engine {

// The engine's memory: what can act soon. Everything here is either loaded from the store or
// follows from messages of this term. Only the rooms of the engine touch it.
struct State {
  Options options;
  std::string cluster;
  Term term;
  MonoTime lead_until = kNever;  // no order may be begun later
  CommitNumber loaded_at;
  MonoTime loaded;
  std::uint64_t id_space = 0;
  AuditHead audit;  // the last entry, committed or not
  Timers timers;
  KeyMemory keys;

  AuthMemory auth;
  DocumentMemory documents;
  HostMemory hosts;
  KeepingMemory keeping;
  LimiterMemory limiter;
  NoticeMemory notices;
  RunMemory runs;
  SecretMemory secrets;
  TaskMemory tasks;
  TriggerMemory triggers;

  // Whether a run began before the restore that opened this id space.
  bool FromBackup(RunId run) const { return SpaceOf(run) < id_space; }
};

}  // namespace muster::engine
