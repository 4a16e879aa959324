#include "adapters/records/rows.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "adapters/records/records.hpp"

namespace muster::records {
namespace {

template <typename T>
Result<> PutRecord(RowSink& to, TableId table, Cells columns, const T& record) {
  auto blob = Encode(record);
  if (!blob) return Fail(blob.error());
  columns.emplace_back(std::move(*blob));
  return to.Put(table, std::move(columns));
}

Cells KeyOf(const TaskKey& task) {
  return {Number(task.run.value), Number(task.visit.value), Number(task.ordinal),
          Number(task.host.value), Number(task.attempt.value)};
}

Cells HoldOf(const KeyHold& hold) {
  Cells row = KeyOf(hold.task);
  row.emplace_back(hold.key);
  return row;
}

Result<> Write(const PutHost& put, RowSink& to) {
  return PutRecord(to, TableId::kHost, {Number(put.host.id.value)}, put.host);
}
Result<> Write(const DropHost& drop, RowSink& to) {
  return to.Drop(TableId::kHost, {Number(drop.host.value)});
}

Result<> Write(const PutInvite& put, RowSink& to) {
  return PutRecord(to, TableId::kInvite, {put.invite.id, Number(put.invite.UsesOnRecord())},
                   put.invite);
}
Result<> Write(const DropInvite& drop, RowSink& to) { return to.Drop(TableId::kInvite, {drop.id}); }

Result<> Write(const PutPending& put, RowSink& to) {
  return PutRecord(to, TableId::kPending, {put.pending.name}, put.pending);
}
Result<> Write(const DropPending& drop, RowSink& to) {
  return to.Drop(TableId::kPending, {drop.name});
}

Result<> Write(const PutToken& put, RowSink& to) {
  const Token& token = put.token;
  return to.Put(TableId::kToken,
                {token.name, token.hash, static_cast<std::int64_t>(token.role), token.created_by,
                 token.created.ms, token.expires.ms, token.revoked_by, token.revoked.ms});
}
Result<> Write(const DropToken& drop, RowSink& to) { return to.Drop(TableId::kToken, {drop.name}); }

Result<> Write(const PutRun& put, RowSink& to) {
  const Run& run = put.run;
  return PutRecord(
      to, TableId::kRun,
      {Number(run.id.value), static_cast<std::int64_t>(run.state), run.by, run.created.ms}, run);
}
Result<> Write(const PutPlan& put, RowSink& to) {
  return PutRecord(to, TableId::kPlan, {Number(put.run.value)}, *put.plan);
}
Result<> Write(const PutTargets& put, RowSink& to) {
  return PutRecord(to, TableId::kTargets, {Number(put.run.value)}, *put.targets);
}
Result<> Write(const PutVisit& put, RowSink& to) {
  return PutRecord(to, TableId::kVisit, {Number(put.run.value), Number(put.visit.visit.value)},
                   put.visit);
}
Result<> Write(const PutTask& put, RowSink& to) { return to.PutTask(put.task); }
Result<> Write(const DropRun& drop, RowSink& to) { return to.DropRun(drop); }

Result<> Write(const PutKey& put, RowSink& to) {
  const IdempotencyKey& key = put.key;
  return to.Put(TableId::kKey,
                {key.caller, key.key, key.body_sha256, Number(key.run.value), key.created.ms});
}

Result<> Write(const PutWish& put, RowSink& to) {
  return PutRecord(to, TableId::kWish, KeyOf(put.wish.task), put.wish.wish);
}
Result<> Write(const DropWish& drop, RowSink& to) {
  return to.Drop(TableId::kWish, KeyOf(drop.task));
}

Result<> Write(const PutHold& put, RowSink& to) { return to.Put(TableId::kHold, HoldOf(put.hold)); }
Result<> Write(const DropHold& drop, RowSink& to) {
  return to.Drop(TableId::kHold, HoldOf(drop.hold));
}

Result<> Write(const AddAudit& add, RowSink& to) {
  const AuditEntry& entry = add.entry;
  auto put =
      to.Put(TableId::kAudit, {Number(entry.number), entry.at.ms, entry.actor, entry.address,
                               entry.client, entry.act, entry.object, entry.detail, entry.reason,
                               Number(entry.run.value), Number(entry.hosts), entry.names,
                               entry.command, entry.command_sha256, entry.previous, entry.hash});
  for (const HostId host : add.about)
    if (put) put = to.Put(TableId::kAuditHost, {Number(host.value), Number(entry.number)});
  return put;
}
Result<> Write(const DropAudit& drop, RowSink& to) { return to.DropAudit(drop.below); }

Result<> Write(const PutDocument& put, RowSink& to) {
  const Document& document = *put.document;
  auto written = PutRecord(to, TableId::kDocument,
                           {document.kind, document.name, Number(document.version)}, document);
  if (!written) return written;
  return PutRecord(to, TableId::kDocumentHead,
                   {document.kind, document.name, Number(document.version), Number(0)},
                   HeadOf(document));
}
Result<> Write(const DropDocument& drop, RowSink& to) {
  return to.Drop(TableId::kDocumentHead, {drop.kind, drop.name});
}

Result<> Write(const PutSecret& put, RowSink& to) {
  return PutRecord(to, TableId::kSecret, {put.secret.name}, put.secret);
}
Result<> Write(const DropSecret& drop, RowSink& to) {
  return to.Drop(TableId::kSecret, {drop.name});
}

Result<> Write(const PutFreeze& put, RowSink& to) {
  return PutRecord(to, TableId::kFreeze, {Number(put.freeze.id)}, put.freeze);
}
Result<> Write(const DropFreeze& drop, RowSink& to) {
  return to.Drop(TableId::kFreeze, {Number(drop.id)});
}

Result<> Write(const PutNotice& put, RowSink& to) {
  return PutRecord(to, TableId::kNotice,
                   {Number(put.notice.run.value), Number(put.notice.visit.value)}, put.notice);
}
Result<> Write(const DropNotice& drop, RowSink& to) {
  return to.Drop(TableId::kNotice, {Number(drop.run.value), Number(drop.visit.value)});
}

Result<> Write(const PutTrigger& put, RowSink& to) {
  const Trigger& trigger = put.trigger;
  return PutRecord(to, TableId::kTrigger,
                   {trigger.spec.name, DueHour(trigger), Number(trigger.dropped ? 1 : 0)}, trigger);
}
Result<> Write(const PutTriggerCounts& put, RowSink& to) {
  TriggerCounts counts = put.counts;
  Result<> written;
  for (const auto state : kCountedStates)
    if (written)
      written =
          to.Put(TableId::kMeta, {TriggerCounter(state), Number(counts.Of(state)), std::string()});
  return written;
}

Result<> Write(const PutSlot& put, RowSink& to) {
  const SlotRecord& slot = put.slot;
  return PutRecord(to, TableId::kSlot,
                   {slot.trigger, slot.first.ms, Number(slot.act), slot.last.ms,
                    static_cast<std::int64_t>(slot.fate), slot.at.ms},
                   slot);
}
Result<> Write(const DropSlot& drop, RowSink& to) {
  return to.Drop(TableId::kSlot, {drop.trigger, drop.first.ms, Number(drop.act)});
}

}  // namespace

Result<> WriteRows(const Change& change, RowSink& to) {
  return std::visit([&](const auto& one) { return Write(one, to); }, change);
}

void Used::Add(const Change& change) {
  if (const auto* put = std::get_if<PutRun>(&change)) {
    const std::uint64_t id = put->run.id.value;
    std::uint64_t& highest = runs[id >> kRunNumberBits];
    highest = std::max<std::uint64_t>(highest, id & ((1ULL << kRunNumberBits) - 1));
  } else if (const auto* joined = std::get_if<PutHost>(&change)) {
    host = std::max(host, joined->host.id.value);
  } else if (const auto* key = std::get_if<PutKey>(&change)) {
    key_created = std::max(key_created, key->key.created);
  } else if (const auto* add = std::get_if<AddAudit>(&change)) {
    if (add->entry.number > audit.number) audit = {add->entry.number, add->entry.hash};
  }
}

std::string TriggerCounter(TriggerState state) { return fmt::format("triggers_{}", Name(state)); }

}  // namespace muster::records
