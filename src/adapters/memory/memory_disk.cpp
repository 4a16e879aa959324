#include "adapters/memory/memory_disk.hpp"

#include <algorithm>

#include "adapters/memory/memory_store.hpp"
#include "domain/run_row.hpp"

namespace muster {
namespace {

constexpr Duration kKeysKept = std::chrono::hours(7 * 24);

}  // namespace

std::shared_ptr<MemoryDisk> MakeMemoryDisk(std::uint64_t id_space) {
  return std::make_shared<MemoryDisk>(id_space);
}

std::shared_ptr<MemoryDisk> CopyOf(MemoryDisk& disk, std::optional<Snapshot::Restored> restored,
                                   RestoreLeap leap) {
  auto copy = std::make_shared<MemoryDisk>(disk.id_space + leap.id_space);
  base::Lock lock(disk.mutex);
  base::Lock copy_lock(copy->mutex);
  copy->fence = {.term = Term(disk.fence.term.value + leap.term),
                 .number = CommitNumber(disk.fence.number.value + leap.term)};
  copy->restored = restored;
  if (restored) copy->restored->number = copy->fence.number;
  if (leap.id_space == 0) copy->next_run = disk.next_run;
  copy->next_host = disk.next_host;
  copy->audit_head = disk.audit_head;
  copy->audit_hosts = disk.audit_hosts;
  copy->tokens = disk.tokens;
  copy->pending = disk.pending;
  copy->hosts = disk.hosts;
  copy->invites = disk.invites;
  copy->runs = disk.runs;
  copy->plans = disk.plans;
  copy->visits = disk.visits;
  copy->holds = disk.holds;
  copy->targets = disk.targets;
  copy->tasks = disk.tasks;
  copy->keys = disk.keys;
  copy->wishes = disk.wishes;
  copy->audit = disk.audit;
  copy->documents = disk.documents;
  copy->heads = disk.heads;
  copy->secrets = disk.secrets;
  copy->freezes = disk.freezes;
  copy->notices = disk.notices;
  copy->triggers = disk.triggers;
  copy->slots = disk.slots;
  copy->trigger_counts = disk.trigger_counts;
  return copy;
}

Result<> MemoryDisk::Apply(const Batch& batch) {
  for (const auto& change : batch.changes) {
    const auto* put = std::get_if<PutTask>(&change);
    if (put == nullptr) continue;
    const TaskKey& key = put->task.key;
    const auto found = tasks.find(PlaceOf(key));
    if (!key.run || (found != tasks.end() && found->second.key.host != key.host))
      return Fail(ErrorCode::kInternal, "memory: the row of task {} belongs to another host or run",
                  FormatTaskKey(key));
  }
  for (const auto& change : batch.changes)
    std::visit([this](const auto& one) REQUIRES(mutex) { Put(one); }, change);
  return {};
}

void MemoryDisk::Put(const PutHost& put) {
  hosts[put.host.id] = put.host;
  next_host = std::max(next_host, put.host.id.value + 1);
}

void MemoryDisk::Put(const PutInvite& put) { invites[put.invite.id] = put.invite; }

void MemoryDisk::Put(const PutRun& put) {
  Run& row = runs[put.run.id] = put.run;
  row.spec = RowSpecOf(put.run.spec);
  const std::uint64_t value = put.run.id.value;
  if (value >> kRunNumberBits == id_space)
    next_run = std::max<std::uint64_t>(next_run, (value & ((1ULL << kRunNumberBits) - 1)) + 1);
}

void MemoryDisk::Put(const PutPlan& put) { plans[put.run] = put.plan; }

void MemoryDisk::Put(const PutVisit& put) { visits[{put.run, put.visit.visit}] = put.visit; }

void MemoryDisk::Put(const PutTargets& put) { targets[put.run] = put.targets; }

void MemoryDisk::Put(const PutTask& put) { tasks[PlaceOf(put.task.key)] = put.task; }

void MemoryDisk::Put(const PutKey& put) {
  std::erase_if(
      keys, [&](const auto& item) { return item.second.created + kKeysKept < put.key.created; });
  keys[{put.key.caller, put.key.key}] = put.key;
}

void MemoryDisk::Put(const PutWish& put) { wishes[put.wish.task] = put.wish; }

void MemoryDisk::Put(const DropWish& drop) { wishes.erase(drop.task); }

void MemoryDisk::Put(const AddAudit& add) {
  audit[add.entry.number] = add.entry;
  for (const auto host : add.about) audit_hosts.emplace(host, add.entry.number);
  if (add.entry.number > audit_head.number) audit_head = {add.entry.number, add.entry.hash};
}

void MemoryDisk::Put(const PutToken& put) { tokens[put.token.name] = put.token; }

void MemoryDisk::Put(const DropToken& drop) { tokens.erase(drop.name); }
void MemoryDisk::Put(const DropHost& drop) { hosts.erase(drop.host); }

void MemoryDisk::Put(const PutPending& put) { pending[put.pending.name] = put.pending; }

void MemoryDisk::Put(const DropPending& drop) { pending.erase(drop.name); }

void MemoryDisk::Put(const DropRun& drop) {
  const auto first = tasks.lower_bound({drop.run, Visit(), 0, Attempt()});
  auto end = first;
  std::uint32_t count = 0;
  for (; end != tasks.end() && end->second.key.run == drop.run && count < drop.most; ++end) ++count;
  tasks.erase(first, end);
  if (count >= drop.most) return;  // there may be more
  std::erase_if(wishes, [&](const auto& item) { return item.first.run == drop.run; });
  std::erase_if(visits, [&](const auto& item) { return item.first.first == drop.run; });
  std::erase_if(holds, [&](const auto& item) { return item.first.run == drop.run; });
  plans.erase(drop.run);
  targets.erase(drop.run);
  runs.erase(drop.run);
}

void MemoryDisk::Put(const DropInvite& drop) { invites.erase(drop.id); }

void MemoryDisk::Put(const DropAudit& drop) {
  audit.erase(audit.begin(), audit.lower_bound(drop.below));
  std::erase_if(audit_hosts, [&](const auto& item) { return item.second < drop.below; });
}

void MemoryDisk::Put(const PutHold& put) { holds.emplace(put.hold.task, put.hold.key); }

void MemoryDisk::Put(const DropHold& drop) { holds.erase({drop.hold.task, drop.hold.key}); }

void MemoryDisk::Put(const PutDocument& put) {
  const Document& document = *put.document;
  documents[{document.kind, document.name, document.version}] = put.document;
  heads[{document.kind, document.name}] = HeadOf(document);
}

void MemoryDisk::Put(const DropDocument& drop) {
  const auto head = heads.find({drop.kind, drop.name});
  if (head != heads.end()) head->second.dropped = true;
}

void MemoryDisk::Put(const PutSecret& put) { secrets[put.secret.name] = put.secret; }

void MemoryDisk::Put(const PutFreeze& put) { freezes[put.freeze.id] = put.freeze; }

void MemoryDisk::Put(const DropFreeze& drop) { freezes.erase(drop.id); }

void MemoryDisk::Put(const DropSecret& drop) { secrets.erase(drop.name); }

void MemoryDisk::Put(const PutNotice& put) {
  notices[{put.notice.run, put.notice.visit}] = put.notice;
}

void MemoryDisk::Put(const DropNotice& drop) { notices.erase({drop.run, drop.visit}); }

}  // namespace muster
