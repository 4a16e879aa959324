#include "adapters/records/parts.hpp"
#include "adapters/records/records.hpp"

namespace muster::records {
namespace {

void PutSpec(const TriggerSpec& spec, wire::TriggerSpec* out) {
  out->set_name(spec.name);
  out->set_cron(spec.cron);
  out->set_every_ms(spec.every.count());
  out->set_once_ms(spec.once.ms);
  out->set_tz(spec.tz);
  out->set_both_days(spec.both_days);
  out->set_gap(static_cast<std::uint32_t>(spec.gap));
  out->set_fold(static_cast<std::uint32_t>(spec.fold));
  out->set_job(spec.job);
  PutPairs(spec.params, out->mutable_params());
  out->set_targets(spec.targets);
  out->set_exclude(spec.exclude);
  out->set_start_ms(spec.start.ms);
  out->set_end_ms(spec.end.ms);
  out->set_missed(static_cast<std::uint32_t>(spec.missed));
  out->set_missed_window_ms(spec.missed_window.count());
  out->set_missed_most(spec.missed_most);
  out->set_overlap(static_cast<std::uint32_t>(spec.overlap));
  out->set_overlap_allowed(spec.overlap_allowed);
  out->set_queue_most(spec.queue_most);
  out->set_jitter_ms(spec.jitter.count());
  out->set_deadline_ms(spec.deadline.count());
  for (const auto& blackout : spec.blackouts) {
    auto* item = out->add_blackouts();
    item->set_cron(blackout.cron);
    item->set_lasts_ms(blackout.lasts.count());
    item->set_tz(blackout.tz);
  }
  out->set_channel(spec.channel);
  PutPairs(spec.constraints, out->mutable_constraints());
  for (const auto& name : spec.carry) out->add_carry(name);
}

Result<> TakeRules(const wire::TriggerSpec& in, TriggerSpec* spec) {
  auto gap = TakeEnum(in.gap(), cron::GapRule::kSkip);
  if (!gap) return Fail(gap.error());
  auto fold = TakeEnum(in.fold(), cron::FoldRule::kBoth);
  if (!fold) return Fail(fold.error());
  auto missed = TakeEnum(in.missed(), MissedRule::kAll);
  if (!missed) return Fail(missed.error());
  auto overlap = TakeEnum(in.overlap(), OverlapRule::kAllow);
  if (!overlap) return Fail(overlap.error());
  spec->gap = *gap;
  spec->fold = *fold;
  spec->missed = *missed;
  spec->overlap = *overlap;
  return {};
}

Result<> TakeSpec(const wire::TriggerSpec& in, TriggerSpec* spec) {
  if (auto taken = TakeRules(in, spec); !taken) return taken;
  spec->name = in.name();
  spec->cron = in.cron();
  spec->every = Duration(in.every_ms());
  spec->once = {in.once_ms()};
  spec->tz = in.tz();
  spec->both_days = in.both_days();
  spec->job = in.job();
  spec->params = TakePairs(in.params());
  spec->targets = in.targets();
  spec->exclude = in.exclude();
  spec->start = {in.start_ms()};
  spec->end = {in.end_ms()};
  spec->missed_window = Duration(in.missed_window_ms());
  spec->missed_most = in.missed_most();
  spec->overlap_allowed = in.overlap_allowed();
  spec->queue_most = in.queue_most();
  spec->jitter = Duration(in.jitter_ms());
  spec->deadline = Duration(in.deadline_ms());
  for (const auto& item : in.blackouts())
    spec->blackouts.push_back(
        {.cron = item.cron(), .lasts = Duration(item.lasts_ms()), .tz = item.tz()});
  spec->channel = in.channel();
  spec->constraints = TakePairs(in.constraints());
  spec->carry.insert(in.carry().begin(), in.carry().end());
  return {};
}

void PutSlotRecord(const SlotRecord& slot, wire::SlotRecord* out) {
  out->set_trigger(slot.trigger);
  out->set_first_ms(slot.first.ms);
  out->set_last_ms(slot.last.ms);
  out->set_act(slot.act);
  out->set_count(slot.count);
  out->set_fate(static_cast<std::uint32_t>(slot.fate));
  out->set_why(slot.why);
  out->set_detail(slot.detail);
  out->set_run(slot.run.value);
  out->set_at_ms(slot.at.ms);
  out->set_commit(slot.commit.value);
  out->set_version(slot.version);
  out->set_asked(slot.asked);
}

Result<SlotRecord> TakeSlotRecord(const wire::SlotRecord& in) {
  auto fate = TakeEnum(in.fate(), SlotFate::kSchedule);
  if (!fate) return Fail(fate.error());
  return SlotRecord{.trigger = in.trigger(),
                    .first = {in.first_ms()},
                    .last = {in.last_ms()},
                    .act = in.act(),
                    .count = in.count(),
                    .fate = *fate,
                    .why = in.why(),
                    .detail = in.detail(),
                    .run = RunId(in.run()),
                    .at = {in.at_ms()},
                    .version = in.version(),
                    .asked = in.asked(),
                    .commit = CommitNumber(in.commit())};
}

void PutWork(const Trigger& trigger, wire::Trigger* out) {
  if (trigger.settling) {
    out->mutable_settling()->set_until_ms(trigger.settling->until.ms);
    out->mutable_settling()->set_why(trigger.settling->why);
    out->mutable_settling()->set_detail(trigger.settling->detail);
  }
  for (const auto& skip : trigger.skips) {
    auto* item = out->add_skips();
    item->set_slot_ms(skip.slot.ms);
    item->set_by(skip.by);
    item->set_reason(skip.reason);
  }
  if (trigger.backfill) {
    out->mutable_backfill()->set_next_ms(trigger.backfill->next.ms);
    out->mutable_backfill()->set_to_ms(trigger.backfill->to.ms);
    out->mutable_backfill()->set_act(trigger.backfill->act);
    out->mutable_backfill()->set_by(trigger.backfill->by);
    out->mutable_backfill()->set_during_freeze(trigger.backfill->during_freeze);
  }
  if (trigger.fold) PutSlotRecord(*trigger.fold, out->mutable_fold());
}

Result<> TakeWork(const wire::Trigger& in, Trigger* trigger) {
  if (in.has_settling())
    trigger->settling = Settling{.until = {in.settling().until_ms()},
                                 .why = in.settling().why(),
                                 .detail = in.settling().detail()};
  for (const auto& item : in.skips())
    trigger->skips.push_back({.slot = {item.slot_ms()}, .by = item.by(), .reason = item.reason()});
  if (in.has_backfill())
    trigger->backfill = Backfill{.next = {in.backfill().next_ms()},
                                 .to = {in.backfill().to_ms()},
                                 .act = in.backfill().act(),
                                 .by = in.backfill().by(),
                                 .during_freeze = in.backfill().during_freeze()};
  if (!in.has_fold()) return {};
  auto fold = TakeSlotRecord(in.fold());
  if (!fold) return Fail(fold.error());
  trigger->fold = std::move(*fold);
  return {};
}

}  // namespace

std::string EncodeSlot(const SlotRecord& slot) {
  wire::SlotRecord out;
  PutSlotRecord(slot, &out);
  return out.SerializeAsString();
}

Result<SlotRecord> DecodeSlot(std::string_view blob) {
  wire::SlotRecord in;
  if (auto parsed = Parse(blob, &in); !parsed) return Fail(parsed.error());
  return TakeSlotRecord(in);
}

std::string EncodeTrigger(const Trigger& trigger) {
  wire::Trigger out;
  PutSpec(trigger.spec, out.mutable_spec());
  out.set_version(trigger.version);
  out.set_hash(trigger.hash);
  out.set_by(trigger.by);
  out.set_applied_ms(trigger.applied.ms);
  out.set_mark_ms(trigger.mark.ms);
  out.set_next_ms(trigger.next.ms);
  out.set_seen_ms(trigger.seen.ms);
  PutWork(trigger, &out);
  out.set_paused(trigger.paused);
  out.set_paused_by(trigger.paused_by);
  out.set_reason(trigger.reason);
  out.set_complete(trigger.complete);
  out.set_asked_ms(trigger.asked.ms);
  PutPairs(trigger.data, out.mutable_data());
  out.set_status(trigger.status);
  out.set_failed(trigger.failed);
  out.set_error(trigger.error);
  out.set_errors_in_a_row(trigger.errors_in_a_row);
  out.set_retry_at_ms(trigger.retry_at.ms);
  out.set_started(trigger.started);
  out.set_skipped(trigger.skipped);
  out.set_last_run(trigger.last_run.value);
  out.set_last_slot_ms(trigger.last_slot.ms);
  return out.SerializeAsString();
}

Result<Trigger> DecodeTrigger(std::string_view blob) {
  wire::Trigger in;
  if (auto parsed = Parse(blob, &in); !parsed) return Fail(parsed.error());
  Trigger trigger;
  if (auto taken = TakeSpec(in.spec(), &trigger.spec); !taken) return Fail(taken.error());
  if (auto taken = TakeWork(in, &trigger); !taken) return Fail(taken.error());
  trigger.version = in.version();
  trigger.hash = in.hash();
  trigger.by = in.by();
  trigger.applied = {in.applied_ms()};
  trigger.mark = {in.mark_ms()};
  trigger.next = {in.next_ms()};
  trigger.seen = {in.seen_ms()};
  trigger.paused = in.paused();
  trigger.paused_by = in.paused_by();
  trigger.reason = in.reason();
  trigger.complete = in.complete();
  trigger.asked = {in.asked_ms()};
  trigger.data = TakePairs(in.data());
  trigger.status = in.status();
  trigger.failed = in.failed();
  trigger.error = in.error();
  trigger.errors_in_a_row = in.errors_in_a_row();
  trigger.retry_at = {in.retry_at_ms()};
  trigger.started = in.started();
  trigger.skipped = in.skipped();
  trigger.last_run = RunId(in.last_run());
  trigger.last_slot = {in.last_slot_ms()};
  return trigger;
}

}  // namespace muster::records
