#include <algorithm>
#include <array>

#include "adapters/postgres/batch_fold.hpp"
#include "adapters/postgres/trigger_rows.hpp"
#include "adapters/records/records.hpp"

// The part of BatchFold that turns each kind of change into a row.
namespace muster::postgres {
namespace {

Cells KeyCells(const TaskKey& task) {
  return {Number(task.run.value), Number(task.visit.value), Number(task.ordinal),
          Number(task.host.value), Number(task.attempt.value)};
}

}  // namespace

Result<> BatchFold::Put(const PutHost& put) {
  seen_.host = std::max(seen_.host, put.host.id.value);
  Of(TableId::kHost).Put({Number(put.host.id.value), records::EncodeHost(put.host)});
  return {};
}

Result<> BatchFold::Put(const DropHost& drop) {
  Of(TableId::kHost).Drop({Number(drop.host.value)});
  return {};
}

Result<> BatchFold::Put(const PutInvite& put) {
  const Invite& invite = put.invite;
  Of(TableId::kInvite)
      .Put({invite.id, Number(invite.UsesOnRecord()), records::EncodeInvite(invite)});
  return {};
}

Result<> BatchFold::Put(const DropInvite& drop) {
  Of(TableId::kInvite).Drop({drop.id});
  return {};
}

Result<> BatchFold::Put(const PutToken& put) {
  const Token& token = put.token;
  Of(TableId::kToken)
      .Put({token.name, token.hash, static_cast<std::int64_t>(token.role), token.created_by,
            token.created.ms, token.expires.ms, token.revoked_by, token.revoked.ms});
  return {};
}

Result<> BatchFold::Put(const DropToken& drop) {
  Of(TableId::kToken).Drop({drop.name});
  return {};
}

Result<> BatchFold::Put(const PutPending& put) {
  Of(TableId::kPending).Put({put.pending.name, records::EncodePending(put.pending)});
  return {};
}

Result<> BatchFold::Put(const DropPending& drop) {
  Of(TableId::kPending).Drop({drop.name});
  return {};
}

Result<> BatchFold::Put(const PutRun& put) {
  const Run& run = put.run;
  std::uint64_t& highest = seen_.runs[SpaceOf(run.id)];
  highest = std::max<std::uint64_t>(highest, run.id.value & ((1ULL << kRunNumberBits) - 1));
  auto record = records::EncodeRun(run);
  if (!record) return Fail(record.error());
  Of(TableId::kRun)
      .Put({Number(run.id.value), static_cast<std::int64_t>(run.state), run.by, run.created.ms,
            std::move(*record)});
  return {};
}

Result<> BatchFold::Put(const PutPlan& put) {
  auto record = records::EncodePlan(*put.plan);
  if (!record) return Fail(record.error());
  Of(TableId::kPlan).Put({Number(put.run.value), std::move(*record)});
  return {};
}

Result<> BatchFold::Put(const PutVisit& put) {
  auto record = records::EncodeVisit(put.visit);
  if (!record) return Fail(record.error());
  Of(TableId::kVisit)
      .Put({Number(put.run.value), Number(put.visit.visit.value), std::move(*record)});
  return {};
}

Result<> BatchFold::Put(const PutTargets& put) {
  auto record = records::EncodeTargets(*put.targets);
  if (!record) return Fail(record.error());
  Of(TableId::kTargets).Put({Number(put.run.value), std::move(*record)});
  return {};
}

void BatchFold::NeedNode(const std::string& store, const std::string& boot) {
  if (store.empty() && boot.empty()) return;
  std::string name = store;
  name.push_back('\0');
  name += boot;
  if (nodes_.contains(name)) return;
  Of(TableId::kNode).Put({store, boot});
  new_nodes_.push_back(std::move(name));
}

Result<> BatchFold::Put(const PutTask& put) {
  const TaskRecord& task = put.task;
  const Cells key{Number(task.key.run.value), Number(task.key.visit.value),
                  Number(task.key.ordinal), Number(task.key.attempt.value)};
  const Cell host = Number(task.key.host.value);
  if (const Cells* before = Of(TableId::kTask).Find(key); before != nullptr && (*before)[4] != host)
    return Fail(ErrorCode::kInternal, "the row of task {} belongs to another host",
                FormatTaskKey(task.key));
  NeedNode(task.store, task.boot);
  // An attempt that has not ended has no row there.
  if (IsFinal(task.state)) {
    if (task.log.state == LogState::kOpen)
      Of(TableId::kOpenLog).Put(key);
    else
      Of(TableId::kOpenLog).Drop(key);
  }
  std::string rest = records::EncodeTaskRest(task);
  Cells row = key;
  row.insert(row.end(),
             {host, static_cast<std::int64_t>(task.state), task.sent.ms,
              Number(task.sent_commit.value), Number(task.sent_term.value), task.ended.ms,
              Number(task.ended_commit.value), Number(task.ended_term.value), task.store, task.boot,
              static_cast<std::int64_t>(task.log.state), Number(task.log.bytes)});
  row.push_back(rest.empty() ? Cell() : Cell(std::move(rest)));
  Of(TableId::kTask).Put(std::move(row));
  return {};
}

Result<> BatchFold::Put(const PutKey& put) {
  const IdempotencyKey& key = put.key;
  seen_.key_created = std::max(seen_.key_created, key.created);
  Of(TableId::kKey)
      .Put({key.caller, key.key, key.body_sha256, Number(key.run.value), key.created.ms});
  return {};
}

Result<> BatchFold::Put(const PutWish& put) {
  Cells row = KeyCells(put.wish.task);
  row.emplace_back(records::EncodeWish(put.wish.wish));
  Of(TableId::kWish).Put(std::move(row));
  return {};
}

Result<> BatchFold::Put(const DropWish& drop) {
  Of(TableId::kWish).Drop(KeyCells(drop.task));
  return {};
}

Result<> BatchFold::Put(const PutHold& put) {
  Cells row = KeyCells(put.hold.task);
  row.emplace_back(put.hold.key);
  Of(TableId::kHold).Put(std::move(row));
  return {};
}

Result<> BatchFold::Put(const DropHold& drop) {
  Cells row = KeyCells(drop.hold.task);
  row.emplace_back(drop.hold.key);
  Of(TableId::kHold).Drop(std::move(row));
  return {};
}

Result<> BatchFold::Put(const AddAudit& add) {
  const AuditEntry& entry = add.entry;
  if (entry.number > seen_.audit.number) seen_.audit = {entry.number, entry.hash};
  Of(TableId::kAudit)
      .Put({Number(entry.number), entry.at.ms, entry.actor, entry.address, entry.client, entry.act,
            entry.object, entry.detail, entry.reason, Number(entry.run.value), Number(entry.hosts),
            entry.names, entry.command, entry.command_sha256, entry.previous, entry.hash});
  for (const auto host : add.about)
    Of(TableId::kAuditHost).Put({Number(host.value), Number(entry.number)});
  return {};
}

Result<> BatchFold::Put(const PutDocument& put) {
  const Document& document = *put.document;
  auto record = records::EncodeDocument(document);
  if (!record) return Fail(record.error());
  Of(TableId::kDocument)
      .Put({document.kind, document.name, Number(document.version), std::move(*record)});
  Of(TableId::kDocumentHead)
      .Put({document.kind, document.name, Number(document.version), Number(0),
            records::EncodeDocumentHead(HeadOf(document))});
  return {};
}

Result<> BatchFold::Put(const DropDocument& drop) {
  constexpr std::size_t kDropped = 3;
  const Cells key{drop.kind, drop.name};
  if (Cells* head = Of(TableId::kDocumentHead).Find(key))
    (*head)[kDropped] = Number(1);
  else
    Of(TableId::kDocumentHead).Drop(key);
  return {};
}

Result<> BatchFold::Put(const PutSecret& put) {
  Of(TableId::kSecret).Put({put.secret.name, records::EncodeSecret(put.secret)});
  return {};
}

Result<> BatchFold::Put(const DropSecret& drop) {
  Of(TableId::kSecret).Drop({drop.name});
  return {};
}

Result<> BatchFold::Put(const PutFreeze& put) {
  Of(TableId::kFreeze).Put({Number(put.freeze.id), records::EncodeFreeze(put.freeze)});
  return {};
}

Result<> BatchFold::Put(const DropFreeze& drop) {
  Of(TableId::kFreeze).Drop({Number(drop.id)});
  return {};
}

Result<> BatchFold::Put(const PutNotice& put) {
  Of(TableId::kNotice)
      .Put({Number(put.notice.run.value), Number(put.notice.visit.value),
            records::EncodeNotice(put.notice)});
  return {};
}

Result<> BatchFold::Put(const DropNotice& drop) {
  Of(TableId::kNotice).Drop({Number(drop.run.value), Number(drop.visit.value)});
  return {};
}

Result<> BatchFold::Put(const PutTrigger& put) {
  const Trigger& trigger = put.trigger;
  Of(TableId::kTrigger)
      .Put({trigger.spec.name, DueHour(trigger), Number(trigger.dropped ? 1 : 0),
            records::EncodeTrigger(trigger)});
  return {};
}

Result<> BatchFold::Put(const PutTriggerCounts& put) {
  TriggerCounts counts = put.counts;
  for (const auto state : kCountedStates)
    Of(TableId::kMeta).Put({CounterOf(state), Number(counts.Of(state)), std::string()});
  return {};
}

Result<> BatchFold::Put(const PutSlot& put) {
  constexpr std::size_t kFate = 4;
  constexpr std::size_t kMade = 5;
  const SlotRecord& slot = put.slot;
  Cells row{slot.trigger,
            slot.first.ms,
            Number(slot.act),
            slot.last.ms,
            static_cast<std::int64_t>(slot.fate),
            slot.at.ms,
            records::EncodeSlot(slot)};
  // As the database does with a row that is there: one that grows stays what it was made as.
  if (const Cells* before = Of(TableId::kSlot).Find(row)) {
    row[kFate] = (*before)[kFate];
    row[kMade] = (*before)[kMade];
  }
  Of(TableId::kSlot).Put(std::move(row));
  return {};
}

Result<> BatchFold::Put(const DropSlot& drop) {
  Of(TableId::kSlot).Drop({drop.trigger, drop.first.ms, Number(drop.act)});
  return {};
}

}  // namespace muster::postgres
