#include <algorithm>

#include "adapters/records/compress.hpp"
#include "adapters/records/parts.hpp"
#include "adapters/records/records.hpp"
#include "domain/run_row.hpp"

namespace muster::records {
namespace {

void PutStage(const StageProgress& stage, wire::Stage* out) {
  out->set_visit(stage.visit.value);
  out->set_state(static_cast<std::uint32_t>(stage.state));
  out->set_started_ms(stage.started.ms);
  out->set_ended_ms(stage.ended.ms);
  PutCounts(stage.counts, out->mutable_counts());
  out->set_name(stage.name);
  out->set_visits(stage.visits);
  out->set_hosts(stage.hosts);
  out->set_batch(stage.batch);
  out->set_batches(stage.batches);
  out->set_reason(stage.reason);
}

Result<StageProgress> TakeStage(const wire::Stage& in) {
  auto state = TakeEnum(in.state(), StageState::kAwaitingApproval);
  if (!state) return Fail(state.error());
  return StageProgress{.name = in.name(),
                       .state = *state,
                       .visit = Visit(in.visit()),
                       .visits = in.visits(),
                       .started = {in.started_ms()},
                       .ended = {in.ended_ms()},
                       .hosts = in.hosts(),
                       .counts = TakeCounts(in.counts()),
                       .batch = in.batch(),
                       .batches = in.batches(),
                       .reason = in.reason()};
}

void PutOverride(const Override& change, wire::Override* out) {
  if (change.stage) out->set_stage(*change.stage);
  if (change.concurrency) out->set_concurrency(*change.concurrency);
  if (change.max_failures) PutShare(*change.max_failures, out->mutable_max_failures());
  if (change.max_unreachable) PutShare(*change.max_unreachable, out->mutable_max_unreachable());
}

Override TakeOverride(const wire::Override& in) {
  Override change;
  if (in.has_stage()) change.stage = in.stage();
  if (in.has_concurrency()) change.concurrency = in.concurrency();
  if (in.has_max_failures()) change.max_failures = TakeShare(in.max_failures());
  if (in.has_max_unreachable()) change.max_unreachable = TakeShare(in.max_unreachable());
  return change;
}

void PutFlow(const Run& run, wire::Run* out) {
  PutCounts(run.counts, out->mutable_counts());
  out->set_next_visit(run.next_visit);
  if (run.pause) {
    out->mutable_pause()->set_by(run.pause->by);
    out->mutable_pause()->set_at_ms(run.pause->at.ms);
    out->mutable_pause()->set_reason(run.pause->reason);
    out->mutable_pause()->set_release(run.pause->release);
  }
  out->set_outcome(static_cast<std::uint32_t>(run.outcome));
  out->set_closing(run.closing);
  out->set_used_ms(run.used.count());
  out->set_ticking_ms(run.ticking.ms);
  for (const auto& change : run.overrides) PutOverride(change, out->add_overrides());
  for (const auto stage : run.skips) out->add_skips(stage);
  out->set_parent(run.parent.value);
  out->set_parent_visit(run.parent_visit.value);
  for (const RunId above : run.above) out->add_above(above.value);
  PutLimits(run.keys_above, out->mutable_keys_above());
  out->set_trigger(run.trigger);
  out->set_slot_ms(run.slot.ms);
  out->set_trace_parent(run.trace_parent);
  for (const auto& name : run.starters) out->add_starters(name);
  out->set_plan_pass(run.plan_pass);
  out->set_guarded(run.guarded);
}

Result<> TakeFlow(const wire::Run& in, Run* run) {
  auto outcome = TakeEnum(in.outcome(), StageState::kAwaitingApproval);
  if (!outcome) return Fail(outcome.error());
  run->outcome = *outcome;
  run->counts = TakeCounts(in.counts());
  run->next_visit = in.next_visit();
  if (in.has_pause())
    run->pause = Pause{.by = in.pause().by(),
                       .at = {in.pause().at_ms()},
                       .reason = in.pause().reason(),
                       .release = in.pause().release()};
  run->closing = in.closing();
  run->used = Duration(in.used_ms());
  run->ticking = {in.ticking_ms()};
  for (const auto& item : in.overrides()) run->overrides.push_back(TakeOverride(item));
  run->skips.assign(in.skips().begin(), in.skips().end());
  run->parent = RunId(in.parent());
  run->parent_visit = Visit(in.parent_visit());
  for (const std::uint64_t above : in.above()) run->above.emplace_back(above);
  if (run->above.empty() && run->parent) run->above.push_back(run->parent);  // of an older version
  run->keys_above = TakeLimits(in.keys_above());
  run->trigger = in.trigger();
  run->slot = {in.slot_ms()};
  run->trace_parent = in.trace_parent();
  run->starters.assign(in.starters().begin(), in.starters().end());
  run->plan_pass = std::max(1U, in.plan_pass());
  run->guarded = in.guarded();
  return {};
}

// A row made before runs were split: one stage, entered once.
Result<> TakeOldPlan(const wire::Run& in, Run* run) {
  for (const auto& item : in.specs()) {
    auto spec = TakeStageSpec(item);
    if (!spec) return Fail(spec.error());
    run->spec.stages.push_back(std::move(*spec));
  }
  for (std::size_t i = 0; i < run->stages.size(); ++i) {
    StageProgress& stage = run->stages[i];
    if (i < run->spec.stages.size()) stage.name = run->spec.stages[i].name;
    stage.visits = stage.visit ? 1 : 0;
    stage.hosts = run->hosts;
    run->next_visit = std::max(run->next_visit, stage.visit.value + 1);
    if (IsFinal(run->state)) {
      run->counts = stage.counts;
      run->outcome = stage.state;
    }
  }
  return {};
}

}  // namespace

Result<std::string> EncodeRun(const Run& run) {
  wire::Run out;
  out.set_split(true);
  out.set_id(run.id.value);
  out.set_state(static_cast<std::uint32_t>(run.state));
  out.set_pass(run.pass);
  out.set_by(run.by);
  out.set_title(run.spec.title);
  out.set_targets(run.spec.targets);
  out.set_job(run.spec.job);
  out.set_version(run.spec.version);
  out.set_priority(static_cast<std::uint32_t>(run.spec.priority));
  for (const auto& param : RowParamsOf(run.spec.params)) {
    auto* item = out.add_params();
    item->set_name(param.name);
    item->set_value(param.value);
    item->set_secret(param.secret);
  }
  out.set_hosts(run.hosts);
  out.set_created_ms(run.created.ms);
  out.set_ended_ms(run.ended.ms);
  out.set_ended_commit(run.ended_commit.value);
  if (run.stop) PutWish(*run.stop, out.mutable_stop());
  out.set_stop_commit(run.stop_commit.value);
  out.set_reason(run.reason);
  for (const auto& stage : run.stages) PutStage(stage, out.add_stages());
  PutFlow(run, &out);
  return PackMessage(out);
}

Result<Run> DecodeRun(std::string_view blob) {
  auto raw = Unpack(blob);
  if (!raw) return Fail(raw.error());
  wire::Run in;
  if (auto parsed = Parse(*raw, &in); !parsed) return Fail(parsed.error());
  auto state = TakeEnum(in.state(), RunState::kCancelled);
  auto priority = TakeEnum(in.priority(), Priority::kLow);
  if (!state || !priority) return Fail(state ? priority.error() : state.error());
  Run run;
  run.id = RunId(in.id());
  run.state = *state;
  run.pass = in.pass();
  run.by = in.by();
  run.spec.title = in.title();
  run.spec.targets = in.targets();
  run.spec.job = in.job();
  run.spec.version = in.version();
  if (in.has_priority()) run.spec.priority = *priority;
  for (const auto& item : in.params())
    run.spec.params.push_back(
        {.name = item.name(), .value = item.value(), .secret = item.secret()});
  run.hosts = in.hosts();
  run.created = {in.created_ms()};
  run.ended = {in.ended_ms()};
  run.ended_commit = CommitNumber(in.ended_commit());
  if (in.has_stop()) run.stop = TakeWish(in.stop());
  run.stop_commit = CommitNumber(in.stop_commit());
  run.reason = in.reason();
  for (const auto& item : in.stages()) {
    auto stage = TakeStage(item);
    if (!stage) return Fail(stage.error());
    run.stages.push_back(std::move(*stage));
  }
  auto taken = in.split() ? TakeFlow(in, &run) : TakeOldPlan(in, &run);
  if (!taken) return Fail(taken.error());
  return run;
}

}  // namespace muster::records
