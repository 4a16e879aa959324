#include "adapters/memory/memory_store.hpp"

#include <iterator>
#include <limits>
#include <map>
#include <set>

#include "adapters/memory/memory_disk.hpp"
#include "domain/no_such_run.hpp"
#include "domain/run_row.hpp"

namespace muster {
namespace {

// The rows of one run, and no row of the next.
auto FirstOf(RunId run) { return MemoryDisk::TaskPlace{run, Visit(), 0, Attempt()}; }

bool HasTaskOn(const MemoryDisk& disk, RunId run, HostId host) REQUIRES(disk.mutex) {
  for (auto at = disk.tasks.lower_bound(FirstOf(run));
       at != disk.tasks.end() && at->second.key.run == run; ++at)
    if (at->second.key.host == host) return true;
  return false;
}

Run WithPlan(const MemoryDisk& disk, const Run& row) REQUIRES(disk.mutex) {
  Run run = row;
  const auto plan = disk.plans.find(row.id);
  if (plan != disk.plans.end()) run.spec = JoinPlan(row.spec, *plan->second);
  return run;
}

std::vector<StageVisit> VisitsOf(const MemoryDisk& disk, RunId run, Visit after, std::size_t limit)
    REQUIRES(disk.mutex) {
  std::vector<StageVisit> list;
  for (auto at = disk.visits.upper_bound({run, after});
       at != disk.visits.end() && at->first.first == run && list.size() < limit; ++at)
    list.push_back(at->second);
  return list;
}

Snapshot::OpenRun WholeRun(const MemoryDisk& disk, const Run& row) REQUIRES(disk.mutex) {
  const auto targets = disk.targets.find(row.id);
  Snapshot::OpenRun whole{
      .run = WithPlan(disk, row),
      .targets =
          targets == disk.targets.end() ? std::make_shared<const Targets>() : targets->second,
      .tasks = {},
      .visits = VisitsOf(disk, row.id, Visit(), std::numeric_limits<std::size_t>::max())};
  for (auto at = disk.tasks.lower_bound(FirstOf(row.id));
       at != disk.tasks.end() && at->second.key.run == row.id; ++at)
    whole.tasks.push_back(at->second);
  return whole;
}

bool Touches(const MemoryDisk& disk, const AuditEntry& entry, HostId host) REQUIRES(disk.mutex) {
  return disk.audit_hosts.contains({host, entry.number}) ||
         (entry.act == kActRunStart && HasTaskOn(disk, entry.run, host));
}

std::vector<Trigger> TriggersOf(const MemoryDisk& disk, const std::vector<Snapshot::OpenRun>& runs)
    REQUIRES(disk.mutex) {
  std::set<std::string> names;
  for (const auto& open : runs) names.insert(open.run.trigger);
  std::vector<Trigger> triggers;
  for (const auto& name : names)
    if (const auto found = disk.triggers.find(name); found != disk.triggers.end())
      triggers.push_back(found->second);
  return triggers;
}

Result<> MoveFence(MemoryDisk& disk, const Batch& batch, Term term, CommitNumber number)
    REQUIRES(disk.mutex) {
  if (disk.fence.term != term)
    return Fail(ErrorCode::kFenced, "memory: commit batch {}: term {} holds the store, not {}",
                number.value, disk.fence.term.value, term.value);
  if (disk.fence.number == number) return {};
  if (disk.fence.number.value + 1 != number.value)
    return Fail(ErrorCode::kInternal, "memory: commit batch {}: the store is at {}", number.value,
                disk.fence.number.value);
  if (auto applied = disk.Apply(batch); !applied) return applied;
  disk.fence.number = number;
  return {};
}

}  // namespace

MemoryStore::MemoryStore() : MemoryStore(MakeMemoryDisk()) {}

MemoryStore::MemoryStore(std::shared_ptr<MemoryDisk> disk) : disk_(std::move(disk)) {}

Result<Fence> MemoryStore::TakeTerm() {
  base::Lock lock(disk_->mutex);
  ++disk_->fence.term.value;
  return disk_->fence;
}

void MemoryStore::Commit(std::shared_ptr<const Batch> batch, Term term, CommitNumber number,
                         CommitDone done) {
  Result<> result;
  {
    base::Lock lock(disk_->mutex);
    result = MoveFence(*disk_, *batch, term, number);
  }
  done(std::move(result));
}

Result<Snapshot> MemoryStore::Load(Term term) {
  base::Lock lock(disk_->mutex);
  if (disk_->fence.term != term)
    return Fail(ErrorCode::kFenced, "memory: load: term {} holds the store, not {}",
                disk_->fence.term.value, term.value);
  Snapshot snapshot;
  snapshot.fence = disk_->fence;
  snapshot.cluster = disk_->cluster;
  snapshot.id_space = disk_->id_space;
  snapshot.next_run = disk_->next_run;
  snapshot.next_host = disk_->next_host;
  snapshot.audit = disk_->audit_head;
  for (const auto& [name, token] : disk_->tokens) snapshot.tokens.push_back(token);
  snapshot.restored = disk_->restored;
  for (const auto& [id, host] : disk_->hosts) snapshot.hosts.push_back(host);
  for (const auto& [id, invite] : disk_->invites)
    if (invite.Counts()) snapshot.invites.push_back(invite);
  for (const auto& [id, run] : disk_->runs)
    if (!IsFinal(run.state)) snapshot.runs.push_back(WholeRun(*disk_, run));
  for (const auto& [place, task] : disk_->tasks) {
    if (!IsFinal(task.state) || task.log.state != LogState::kOpen) continue;
    const auto run = disk_->runs.find(task.key.run);
    if (run == disk_->runs.end() || IsFinal(run->second.state)) snapshot.open_logs.push_back(task);
  }
  for (const auto& [task, wish] : disk_->wishes) snapshot.wishes.push_back(wish);
  for (const auto& [name, pending] : disk_->pending) snapshot.pending.push_back(pending);
  for (const auto& [task, key] : disk_->holds) snapshot.holds.push_back({.key = key, .task = task});
  for (const auto& [key, head] : disk_->heads)
    if (head.kind != kTriggerKind) snapshot.documents.push_back(head);
  for (const auto& [key, notice] : disk_->notices) snapshot.notices.push_back(notice);
  for (const auto& [id, freeze] : disk_->freezes) snapshot.freezes.push_back(freeze);
  snapshot.triggers = TriggersOf(*disk_, snapshot.runs);
  snapshot.trigger_counts = disk_->CountTriggers();
  return snapshot;
}

Result<std::string> MemoryStore::ReadCluster() { return disk_->cluster; }

Result<Fence> MemoryStore::ReadFence() {
  base::Lock lock(disk_->mutex);
  return disk_->fence;
}

Result<ReadAt<std::optional<Run>>> MemoryStore::FindRun(RunId id) {
  base::Lock lock(disk_->mutex);
  ReadAt<std::optional<Run>> answer{.value = {}, .commit = disk_->fence.number};
  const auto found = disk_->runs.find(id);
  if (found != disk_->runs.end()) answer.value = WithPlan(*disk_, found->second);
  return answer;
}

Result<ReadAt<std::optional<Snapshot::OpenRun>>> MemoryStore::ReadWholeRun(RunId id) {
  base::Lock lock(disk_->mutex);
  ReadAt<std::optional<Snapshot::OpenRun>> answer{.value = {}, .commit = disk_->fence.number};
  const auto found = disk_->runs.find(id);
  if (found != disk_->runs.end()) answer.value = WholeRun(*disk_, found->second);
  return answer;
}

Result<std::vector<StageVisit>> MemoryStore::ListVisits(RunId run, Visit after, std::size_t limit) {
  base::Lock lock(disk_->mutex);
  return VisitsOf(*disk_, run, after, limit);
}

Result<std::shared_ptr<const Targets>> MemoryStore::FindTargets(RunId id) {
  base::Lock lock(disk_->mutex);
  const auto found = disk_->targets.find(id);
  if (found == disk_->targets.end()) return Fail(NoSuchRun(id));
  return found->second;
}

Result<std::vector<Run>> MemoryStore::ListRuns(const RunFilter& filter, RunId before,
                                               std::size_t limit) {
  base::Lock lock(disk_->mutex);
  std::vector<Run> list;
  auto at = before ? disk_->runs.lower_bound(before) : disk_->runs.end();
  while (at != disk_->runs.begin() && list.size() < limit) {
    --at;
    if (!Matches(at->second, filter)) continue;
    if (filter.host && !HasTaskOn(*disk_, at->first, *filter.host)) continue;
    list.push_back(at->second);
  }
  return list;
}

Result<std::vector<TaskRecord>> MemoryStore::ListTasks(RunId run, const TaskFilter& filter,
                                                       std::optional<TaskKey> after,
                                                       std::size_t limit) {
  base::Lock lock(disk_->mutex);
  std::vector<TaskRecord> list;
  auto at = disk_->tasks.lower_bound(FirstOf(run));
  if (after) at = disk_->tasks.upper_bound({run, after->visit, after->ordinal, after->attempt});
  for (; at != disk_->tasks.end() && at->second.key.run == run && list.size() < limit; ++at) {
    const TaskRecord& task = at->second;
    if (filter.state && task.state != *filter.state) continue;
    if (filter.host && task.key.host != *filter.host) continue;
    const auto next = std::next(at);
    const bool last = next == disk_->tasks.end() || next->second.key.run != run ||
                      next->second.key.visit != task.key.visit ||
                      next->second.key.ordinal != task.key.ordinal;
    if (filter.last_attempt_only && !last) continue;
    list.push_back(task);
  }
  return list;
}

Result<ReadAt<std::vector<std::optional<TaskRecord>>>> MemoryStore::FindTasks(
    const std::vector<TaskKey>& keys) {
  base::Lock lock(disk_->mutex);
  ReadAt<std::vector<std::optional<TaskRecord>>> answer{.value = {}, .commit = disk_->fence.number};
  for (const auto& key : keys) {
    const auto found = disk_->tasks.find(MemoryDisk::PlaceOf(key));
    const bool same = found != disk_->tasks.end() && found->second.key == key;
    answer.value.push_back(same ? std::optional(found->second) : std::nullopt);
  }
  return answer;
}

Result<ReadAt<std::optional<IdempotencyKey>>> MemoryStore::FindKey(std::string_view caller,
                                                                   std::string_view key) {
  base::Lock lock(disk_->mutex);
  ReadAt<std::optional<IdempotencyKey>> answer{.value = {}, .commit = disk_->fence.number};
  const auto found = disk_->keys.find({std::string(caller), std::string(key)});
  if (found != disk_->keys.end()) answer.value = found->second;
  return answer;
}

Result<ReadAt<std::optional<Secret>>> MemoryStore::FindSecret(std::string_view name) {
  base::Lock lock(disk_->mutex);
  ReadAt<std::optional<Secret>> answer{.value = {}, .commit = disk_->fence.number};
  const auto found = disk_->secrets.find(name);
  if (found != disk_->secrets.end()) answer.value = found->second;
  return answer;
}

Result<std::vector<Secret>> MemoryStore::ListSecrets() {
  base::Lock lock(disk_->mutex);
  std::vector<Secret> list;
  for (const auto& [name, secret] : disk_->secrets) list.push_back(secret);
  return list;
}

Result<std::vector<Token>> MemoryStore::ListTokens() {
  base::Lock lock(disk_->mutex);
  std::vector<Token> list;
  for (const auto& [name, token] : disk_->tokens) list.push_back(token);
  return list;
}

Result<AuditPage> MemoryStore::ListAudit(const AuditFilter& filter, std::uint64_t before,
                                         std::size_t limit) {
  base::Lock lock(disk_->mutex);
  AuditPage page;
  auto at = before == 0 ? disk_->audit.end() : disk_->audit.lower_bound(before);
  while (at != disk_->audit.begin()) {
    const AuditEntry& entry = (--at)->second;
    if (entry.number <= filter.after) break;
    if (!Matches(entry, filter) || (filter.host && !Touches(*disk_, entry, *filter.host))) continue;
    if (page.entries.size() == limit) {
      page.next = page.entries.empty() ? 0 : page.entries.back().number;
      break;
    }
    page.entries.push_back(entry);
  }
  return page;
}

Result<std::vector<HostId>> MemoryStore::ListRemovedHosts(std::string_view name,
                                                          std::size_t limit) {
  base::Lock lock(disk_->mutex);
  std::vector<HostId> hosts;
  for (auto at = disk_->audit.rbegin(); at != disk_->audit.rend(); ++at) {
    const AuditEntry& entry = at->second;
    if (entry.act != kActHostRemove || entry.object != fmt::format("host {}", name)) continue;
    for (const auto& [host, number] : disk_->audit_hosts)
      if (number == entry.number && hosts.size() < limit) hosts.push_back(host);
  }
  return hosts;
}

Result<std::vector<AuditEntry>> MemoryStore::ReadAudit(std::uint64_t from, std::size_t limit) {
  base::Lock lock(disk_->mutex);
  std::vector<AuditEntry> list;
  for (auto at = disk_->audit.lower_bound(from); at != disk_->audit.end() && list.size() < limit;
       ++at)
    list.push_back(at->second);
  return list;
}

Result<AuditHead> MemoryStore::ReadAuditHead() {
  base::Lock lock(disk_->mutex);
  return disk_->audit_head;
}

Result<std::optional<Document>> MemoryStore::FindDocument(std::string_view kind,
                                                          std::string_view name,
                                                          std::uint32_t version) {
  base::Lock lock(disk_->mutex);
  const std::pair key{std::string(kind), std::string(name)};
  if (version == 0) {
    const auto head = disk_->heads.find(key);
    if (head == disk_->heads.end() || head->second.dropped) return std::optional<Document>();
    version = head->second.version;
  }
  const auto found = disk_->documents.find({key.first, key.second, version});
  if (found == disk_->documents.end()) return std::optional<Document>();
  return std::optional<Document>(*found->second);
}

Result<std::vector<DocumentHead>> MemoryStore::ListDocumentHeads(std::string_view kind,
                                                                 std::string_view after,
                                                                 std::size_t limit) {
  base::Lock lock(disk_->mutex);
  std::vector<DocumentHead> list;
  for (auto at = disk_->heads.lower_bound({std::string(kind), std::string(after)});
       at != disk_->heads.end() && at->first.first == kind && list.size() < limit; ++at) {
    const DocumentHead& head = at->second;
    if (head.dropped || head.name <= after) continue;
    list.push_back(head);
    list.back().files.clear();
  }
  return list;
}

Result<Expired> MemoryStore::FindExpired(const Cutoffs& cutoffs, std::size_t most) {
  base::Lock lock(disk_->mutex);
  Expired expired;
  std::multimap<WallTime, Expired::OldRun> runs;
  for (const auto& [id, run] : disk_->runs)
    if (IsFinal(run.state) && run.created < cutoffs.runs && run.ended < cutoffs.runs)
      runs.insert({run.created, {id, run.hosts}});
  for (const auto& [created, run] : runs)
    if (expired.runs.size() < most) expired.runs.push_back(run);
  std::size_t looked = 0;
  for (const auto& [number, entry] : disk_->audit) {
    if (entry.at >= cutoffs.audit || looked++ >= most) break;
    expired.audit_below = number + 1;
  }
  for (const auto& [id, invite] : disk_->invites)
    if (!invite.Counts() && invite.expires < cutoffs.invites && expired.invites.size() < most)
      expired.invites.push_back(id);
  for (const auto& [place, slot] : disk_->slots)
    if (slot.at < cutoffs.slots && slot.last < cutoffs.slots && expired.slots.size() < most)
      expired.slots.push_back({slot.trigger, slot.first, slot.act});
  return expired;
}

}  // namespace muster
