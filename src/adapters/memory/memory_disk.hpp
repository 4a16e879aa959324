#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "base/mutex.hpp"
#include "ports/store.hpp"

namespace muster {

// The rows behind memory stores. Whoever reads or writes holds `mutex`.
class MemoryDisk {
 public:
  // A task row's key: no two hosts share an ordinal, so the host is not part of it.
  using TaskPlace = std::tuple<RunId, Visit, std::uint32_t, Attempt>;
  static TaskPlace PlaceOf(const TaskKey& key) {
    return {key.run, key.visit, key.ordinal, key.attempt};
  }

  explicit MemoryDisk(std::uint64_t space) : id_space(space) {}

  // Applies a batch whole, or nothing of it: kInternal when a task has no run, or its row
  // another host.
  Result<> Apply(const Batch& batch) REQUIRES(mutex);
  // As last put; counted, when nobody ever did.
  TriggerCounts CountTriggers() const REQUIRES(mutex);

  base::Mutex mutex;
  Fence fence GUARDED_BY(mutex);
  const std::string cluster = "memory";
  const std::uint64_t id_space;
  std::uint64_t next_run GUARDED_BY(mutex) = 1;
  std::uint64_t next_host GUARDED_BY(mutex) = 1;
  AuditHead audit_head GUARDED_BY(mutex);
  std::optional<Snapshot::Restored> restored GUARDED_BY(mutex);
  std::map<HostId, Host> hosts GUARDED_BY(mutex);
  std::map<std::string, Invite> invites GUARDED_BY(mutex);
  std::map<RunId, Run> runs GUARDED_BY(mutex);  // without their plans
  std::map<RunId, std::shared_ptr<const RunSpec>> plans GUARDED_BY(mutex);
  std::map<std::pair<RunId, Visit>, StageVisit> visits GUARDED_BY(mutex);
  std::map<RunId, std::shared_ptr<const Targets>> targets GUARDED_BY(mutex);
  std::map<TaskPlace, TaskRecord> tasks GUARDED_BY(mutex);
  std::map<std::pair<std::string, std::string>, IdempotencyKey> keys GUARDED_BY(mutex);
  std::map<TaskKey, OpenWish> wishes GUARDED_BY(mutex);
  std::map<std::uint64_t, AuditEntry> audit GUARDED_BY(mutex);
  std::set<std::pair<HostId, std::uint64_t>> audit_hosts GUARDED_BY(mutex);
  std::map<std::string, Token> tokens GUARDED_BY(mutex);
  std::map<std::string, PendingJoin> pending GUARDED_BY(mutex);
  std::set<std::pair<TaskKey, std::string>> holds GUARDED_BY(mutex);  // who holds which key
  std::map<std::tuple<std::string, std::string, std::uint32_t>, std::shared_ptr<const Document>>
      documents GUARDED_BY(mutex);  // every version
  std::map<std::pair<std::string, std::string>, DocumentHead> heads GUARDED_BY(mutex);
  std::map<std::string, Secret, std::less<>> secrets GUARDED_BY(mutex);
  std::map<std::uint64_t, Freeze> freezes GUARDED_BY(mutex);
  std::map<std::pair<RunId, Visit>, OpenNotice> notices GUARDED_BY(mutex);
  std::map<std::string, Trigger, std::less<>> triggers GUARDED_BY(mutex);
  std::optional<TriggerCounts> trigger_counts GUARDED_BY(mutex);
  using SlotPlace = std::tuple<std::string, WallTime, std::uint64_t>;
  std::map<SlotPlace, SlotRecord> slots GUARDED_BY(mutex);

 private:
  void Put(const PutHost& put) REQUIRES(mutex);
  void Put(const PutInvite& put) REQUIRES(mutex);
  void Put(const PutRun& put) REQUIRES(mutex);
  void Put(const PutPlan& put) REQUIRES(mutex);
  void Put(const PutVisit& put) REQUIRES(mutex);
  void Put(const PutTargets& put) REQUIRES(mutex);
  void Put(const PutTask& put) REQUIRES(mutex);
  void Put(const PutKey& put) REQUIRES(mutex);
  void Put(const PutWish& put) REQUIRES(mutex);
  void Put(const DropWish& drop) REQUIRES(mutex);
  void Put(const AddAudit& add) REQUIRES(mutex);
  void Put(const PutToken& put) REQUIRES(mutex);
  void Put(const DropToken& drop) REQUIRES(mutex);
  void Put(const DropHost& drop) REQUIRES(mutex);
  void Put(const PutPending& put) REQUIRES(mutex);
  void Put(const DropPending& drop) REQUIRES(mutex);
  void Put(const DropRun& drop) REQUIRES(mutex);
  void Put(const DropInvite& drop) REQUIRES(mutex);
  void Put(const DropAudit& drop) REQUIRES(mutex);
  void Put(const PutHold& put) REQUIRES(mutex);
  void Put(const DropHold& drop) REQUIRES(mutex);
  void Put(const PutDocument& put) REQUIRES(mutex);
  void Put(const DropDocument& drop) REQUIRES(mutex);
  void Put(const PutSecret& put) REQUIRES(mutex);
  void Put(const DropSecret& drop) REQUIRES(mutex);
  void Put(const PutFreeze& put) REQUIRES(mutex);
  void Put(const DropFreeze& drop) REQUIRES(mutex);
  void Put(const PutNotice& put) REQUIRES(mutex);
  void Put(const DropNotice& drop) REQUIRES(mutex);
  void Put(const PutTrigger& put) REQUIRES(mutex);
  void Put(const PutSlot& put) REQUIRES(mutex);
  void Put(const DropSlot& drop) REQUIRES(mutex);
  void Put(const PutTriggerCounts& put) REQUIRES(mutex);
};

}  // namespace muster
