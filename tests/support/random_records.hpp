#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "domain/records.hpp"
#include "domain/run_row.hpp"
#include "support/random_values.hpp"

namespace muster {

// Draws records with any content a store may meet.
class RandomRecords : public RandomValues {
 public:
  using RandomValues::RandomValues;

  TaskRecord Task() {
    TaskRecord task;
    task.key = Key();
    task.state = static_cast<TaskState>(Number(kTaskStates));
    task.sent = Time();
    task.ended = Time();
    if (Coin()) task.end = End();
    task.reason = Text();
    task.store = Text();
    task.boot = Text();
    task.log = {.state = static_cast<LogState>(Number(5)),
                .bytes = Number(1 << 30),
                .stdout_sha256 = Coin() ? "" : Hash(),
                .stderr_sha256 = Coin() ? "" : Hash(),
                .masked_sha256 = Coin() ? "" : Hash()};
    task.stop_wished = Coin();
    if (Coin()) task.surely_over = Span();
    task.doubted = Coin();
    if (Coin()) task.late = End();
    task.sent_commit = CommitNumber(Number(1ULL << 40));
    task.sent_term = Term(Number(1ULL << 40));
    task.ended_commit = CommitNumber(Number(1ULL << 40));
    task.ended_term = Term(Number(1ULL << 40));
    return task;
  }
  StopWish Wish() { return {.by = Text(), .at = Time(), .reason = Text(), .grace = Span()}; }
  HostShare Share() {
    return {.number = static_cast<std::uint32_t>(Number(100)), .percent = Coin()};
  }
  std::uint32_t Small(std::uint32_t below = 20) {
    return static_cast<std::uint32_t>(Number(below));
  }
  std::map<std::string, std::string> Pairs() {
    std::map<std::string, std::string> pairs;
    for (const auto& key : Texts()) pairs.emplace(key, Text());
    return pairs;
  }
  ApproveAction Approve() {
    return {.message = Text(), .by = Texts(), .not_starter = Coin(), .timeout = Span()};
  }
  HttpAction Http() {
    HttpAction http{.method = Text(),
                    .url = Text(),
                    .headers = {},
                    .body = Bytes(50),
                    .expect = {},
                    .outputs = Pairs(),
                    .timeout = Span()};
    for (const auto& name : Texts()) http.headers.emplace_back(name, Text());
    for (std::size_t left = Number(3); left > 0; --left)
      http.expect.push_back(static_cast<std::uint16_t>(Number(1 << 16)));
    return http;
  }
  Action SomeAction() {
    switch (Number(std::variant_size_v<Action>)) {
      case 1:
        return SequenceAction();
      case 2:
        return Approve();
      case 3:
        return WaitAction{.time = Span(), .until = Text()};
      case 4:
        return Http();
      case 5:
        return NotifyAction{.channel = Text(), .message = Text()};
      case 7:
        return ConditionAction{.request = Http(),
                               .value = Text(),
                               .comparison = static_cast<Comparison>(Number(6)),
                               .bound = Text(),
                               .hold = Span(),
                               .missing = static_cast<MissingValue>(Number(3))};
      case 6:
        return JobAction{.job = Text(), .params = Pairs(), .wait = Coin()};
      default:
        return std::make_shared<const Command>(SomeCommand());
    }
  }
  std::vector<KeyLimit> Limits() {
    std::vector<KeyLimit> limits(Number(3));
    for (auto& limit : limits) limit = {.key = Text(), .max = Small()};
    return limits;
  }
  StageSpec Spec() {
    StageSpec spec;
    spec.name = Text();
    spec.section = static_cast<Section>(Number(4));
    if (Coin()) spec.parent = Small();
    spec.action = SomeAction();
    spec.hosts = static_cast<HostChoice>(Number(4));
    spec.when = Text();
    if (Coin()) spec.needs.emplace(Number(3), Small());
    for (const auto& on : Texts()) spec.next[on] = Coin() ? StageSpec::kEnd : Small();
    spec.max_visits = Small();
    spec.recovers = Coin();
    spec.retries = {.max = Small(), .backoff = Span()};
    spec.repeat = static_cast<Repeat>(Number(2));
    spec.concurrency = Small(100);
    for (std::size_t left = Number(4); left > 0; --left) spec.batches.sizes.push_back(Share());
    spec.batches.add = Share();
    spec.batches.factor = Small(4);
    spec.between_wait = Span();
    if (Coin()) spec.between_approve = Approve();
    spec.max_failures = Share();
    if (Coin()) spec.max_unreachable = Share();
    spec.on_limit = static_cast<OnLimit>(Number(2));
    spec.spread = Span();
    spec.wait_offline = Span();
    spec.limits = Limits();
    return spec;
  }
  // With jobs that start jobs; two of them may start the same.
  RunSpec SomePlan(int levels = 2) {
    RunSpec plan;
    plan.title = Text(60);
    plan.targets = Text(60);
    for (std::size_t left = Number(3); left > 0; --left) plan.stages.push_back(Spec());
    plan.job = Text();
    plan.version = Small();
    plan.left_out = Text();
    plan.data = Pairs();
    for (const auto& name : Texts())
      plan.params.push_back({.name = name, .value = Text(), .secret = Coin()});
    for (const auto& name : Texts())
      plan.accepts.push_back({.name = name,
                              .type = static_cast<ParamType>(Number(6)),
                              .pattern = Text(),
                              .choices = Texts()});
    plan.max_hosts = Small();
    plan.max_percent = Small();
    plan.timeout = Span();
    plan.priority = static_cast<Priority>(Number(3));
    plan.limits = Limits();
    for (const auto& channel : Texts()) plan.notices.push_back({.on = Texts(), .channel = channel});
    std::shared_ptr<const RunSpec> job;
    for (std::size_t left = levels > 0 ? Number(3) : 0; left > 0; --left) {
      if (!job || Coin()) job = std::make_shared<const RunSpec>(SomePlan(levels - 1));
      plan.jobs[Text()] = job;
    }
    return plan;
  }
  Ordinals SomeOrdinals() {
    if (Coin()) return Ordinals::All(Small(1000));
    Ordinals set;
    for (std::size_t left = Number(30); left > 0; --left) set.Insert(Small(Coin() ? 40 : 20'000));
    return set;
  }
  TaskCounts Counts() {
    TaskCounts counts;
    if (Coin()) return counts;
    for (auto& count : counts.by_state) count = Small(20'000);
    return counts;
  }
  StageVisit SomeVisit() {
    StageVisit visit;
    visit.visit = Visit(1 + Small());
    visit.stage = Small();
    visit.name = Text();
    visit.pass = Small();
    visit.parent = Visit(Small());
    visit.from = Visit(Small());
    visit.state = static_cast<StageState>(Number(9));
    visit.recovers = Coin();
    visit.onward = static_cast<Onward>(Number(3));
    visit.in_finally = Coin();
    if (Coin()) {
      visit.needs.emplace();
      for (std::size_t left = Number(3); left > 0; --left) visit.needs->emplace_back(1 + Small());
    }
    visit.started = Time();
    visit.ended = Time();
    visit.hosts = SomeOrdinals();
    for (std::size_t left = Number(3); left > 0; --left)
      visit.results.emplace_back(static_cast<TaskState>(Number(kTaskStates)), SomeOrdinals());
    visit.dropped = SomeOrdinals();
    visit.touched = SomeOrdinals();
    visit.counts = Counts();
    visit.status = Text();
    visit.reason = Text();
    visit.phase = static_cast<VisitPhase>(Number(4));
    visit.batch = Small();
    visit.batch_begin = Small(20'000);
    visit.batch_end = Small(20'000);
    visit.inner = Small();
    visit.batch_dropped = SomeOrdinals();
    visit.batch_failures = Small();
    visit.batch_unreachable = Small();
    visit.batch_accepted = Coin();
    for (std::size_t left = Number(3); left > 0; --left) visit.begins.push_back(SomeOrdinals());
    visit.until = Time();
    visit.message = Text();
    if (Coin())
      visit.decision = {.approved = Coin(), .by = Text(), .at = Time(), .comment = Text()};
    visit.child = RunId(Number(1000));
    return visit;
  }
  KeyHold Hold() { return {.key = Text(3), .task = Key()}; }
  StageProgress Progress() {
    return {.name = Text(),
            .state = static_cast<StageState>(Number(9)),
            .visit = Visit(Small()),
            .visits = Small(),
            .started = Time(),
            .ended = Time(),
            .hosts = Small(20'000),
            .counts = Counts(),
            .batch = Small(),
            .batches = Small(),
            .reason = Text()};
  }
  Override SomeOverride() {
    Override change;
    if (Coin()) change.stage = Small();
    if (Coin()) change.concurrency = Small();
    if (Coin()) change.max_failures = Share();
    if (Coin()) change.max_unreachable = Share();
    return change;
  }
  // Its spec is a whole plan, of which a row keeps a part.
  muster::Run SomeRun() {
    muster::Run run;
    run.id = RunId(1 + Number(1000));
    run.state = static_cast<RunState>(Number(8));
    run.pass = Small(5);
    run.by = Text();
    run.spec = SomePlan();
    run.hosts = Small(20'000);
    run.created = Time();
    run.ended = Time();
    if (Coin()) run.stop = Wish();
    run.reason = Text();
    for (std::size_t left = Number(3); left > 0; --left) run.stages.push_back(Progress());
    run.counts = Counts();
    run.next_visit = Small();
    if (Coin()) run.pause = {.by = Text(), .at = Time(), .reason = Text(), .release = Coin()};
    run.outcome = static_cast<StageState>(Number(9));
    run.closing = Coin();
    run.used = Span();
    run.ticking = Time();
    for (std::size_t left = Number(3); left > 0; --left) run.overrides.push_back(SomeOverride());
    for (std::size_t left = Number(3); left > 0; --left) run.skips.push_back(Small());
    run.parent = RunId(Number(1000));
    run.parent_visit = Visit(Small());
    if (run.parent)
      for (std::size_t left = 1 + Number(3); left > 0; --left)
        run.above.emplace_back(1 + Number(1000));
    for (std::size_t left = Number(3); left > 0; --left)
      run.keys_above.push_back({.key = Text(), .max = 1 + Small()});
    run.trigger = Text();
    run.slot = Time();
    run.trace_parent = Text();
    run.starters = Texts();
    run.plan_pass = 1 + Small(5);
    run.guarded = Coin();
    return run;
  }
  TriggerSpec SomeTriggerSpec() {
    TriggerSpec spec;
    spec.name = Text();
    spec.cron = Text();
    spec.every = Span();
    spec.once = Time();
    spec.tz = Text();
    spec.both_days = Coin();
    spec.gap = static_cast<cron::GapRule>(Number(2));
    spec.fold = static_cast<cron::FoldRule>(Number(2));
    spec.job = Text();
    spec.params = SomePairs();
    spec.targets = Text();
    spec.exclude = Text();
    spec.start = Time();
    spec.end = Time();
    spec.missed = static_cast<MissedRule>(Number(3));
    spec.missed_window = Span();
    spec.missed_most = Small();
    spec.overlap = static_cast<OverlapRule>(Number(4));
    spec.overlap_allowed = Small();
    spec.queue_most = Small();
    spec.jitter = Span();
    spec.deadline = Span();
    for (std::size_t left = Number(3); left > 0; --left)
      spec.blackouts.push_back({.cron = Text(), .lasts = Span(), .tz = Text()});
    spec.channel = Text();
    spec.constraints = SomePairs();
    for (std::size_t left = Number(3); left > 0; --left) spec.carry.insert(Text());
    return spec;
  }
  SlotRecord SomeSlot() {
    return {.trigger = Text(),
            .first = Time(),
            .last = Time(),
            .act = Number(1000),
            .count = Small(),
            .fate = static_cast<SlotFate>(Number(3)),
            .why = Text(),
            .detail = Text(),
            .run = RunId(Number(1000)),
            .at = Time(),
            .version = Small(),
            .asked = Coin(),
            .commit = CommitNumber(Number(1000))};
  }
  Trigger SomeTrigger() {
    Trigger trigger;
    trigger.spec = SomeTriggerSpec();
    trigger.version = Small();
    trigger.hash = Text();
    trigger.by = Text();
    trigger.applied = Time();
    trigger.mark = Time();
    trigger.next = Time();
    trigger.seen = Time();
    if (Coin()) trigger.settling = Settling{.until = Time(), .why = Text(), .detail = Text()};
    for (std::size_t left = Number(3); left > 0; --left)
      trigger.skips.push_back({.slot = Time(), .by = Text(), .reason = Text()});
    if (Coin())
      trigger.backfill = Backfill{
          .next = Time(), .to = Time(), .act = Number(1000), .by = Text(), .during_freeze = Coin()};
    trigger.paused = Coin();
    trigger.paused_by = Text();
    trigger.reason = Text();
    trigger.complete = Coin();
    trigger.asked = Time();
    trigger.data = SomePairs();
    trigger.status = Text();
    trigger.failed = Coin();
    trigger.error = Text();
    trigger.errors_in_a_row = Small();
    trigger.retry_at = Time();
    trigger.started = Number(1000);
    trigger.skipped = Number(1000);
    trigger.last_run = RunId(Number(1000));
    trigger.last_slot = Time();
    if (Coin()) trigger.fold = SomeSlot();
    return trigger;
  }
  std::map<std::string, std::string> SomePairs() {
    std::map<std::string, std::string> pairs;
    for (std::size_t left = Number(4); left > 0; --left) pairs[Text()] = Text();
    return pairs;
  }
  Targets SomeTargets() {
    Targets targets(Number(300));
    for (auto& target : targets) target = {.host = HostId(1 + Number(20'000)), .name = Text()};
    return targets;
  }
  Host SomeHost() {
    return {.id = HostId(1 + Number(1000)),
            .name = Text(),
            .key = Text(),
            .state = static_cast<HostState>(Number(3)),
            .note = Text(),
            .labels = SomeLabels(),
            .facts = SomeLabels(),
            .store = Text(),
            .boot = Text(),
            .session = Number(1ULL << 60),
            .joined = Time(),
            .last_hello = Time(),
            .maintenance = Coin()
                               ? std::optional(Maintenance{
                                     .until = Time(), .reason = Text(), .by = Text(), .at = Time()})
                               : std::nullopt,
            .own_labels = Texts(),
            .invite = Text(),
            .certified = Time(),
            .certificates = Small()};
  }
  Freeze SomeFreeze() {
    return {.id = 1 + Number(1000),
            .scope = static_cast<FreezeScope>(Number(3)),
            .targets = Text(),
            .job = Text(),
            .reason = Text(),
            .by = Text(),
            .at = Time(),
            .until = Time()};
  }
  Invite SomeInvite() {
    return {.id = Text(),
            .uses_left = static_cast<std::uint32_t>(Number(3)),
            .expires = Time(),
            .replace = Coin(),
            .labels = SomeLabels(),
            .created_by = Text(),
            .created = Time(),
            .names = Text(),
            .server = Coin(),
            .no_own_labels = Coin(),
            .server_name = Text(),
            .server_key = Coin() ? Text() : "",
            .answers = static_cast<std::uint32_t>(Number(3)),
            .answered = Time(),
            .given = Text()};
  }
  PendingJoin SomePending() {
    return {.name = Text(),
            .key = Text(),
            .invite = Text(),
            .labels = SomeLabels(),
            .invited = SomeLabels(),
            .address = Text(),
            .since = Time(),
            .rejected = Text()};
  }
  AuditEntry Audit() {
    return {.number = 1 + Number(1000),
            .at = Time(),
            .actor = Text(),
            .address = Text(),
            .client = Text(),
            .act = Text(),
            .object = Text(),
            .detail = Text(),
            .reason = Text(),
            .run = RunId(Number(1000)),
            .hosts = static_cast<std::uint32_t>(Number(20'000)),
            .names = Text(),
            .command = Text(60),
            .command_sha256 = Text(),
            .previous = Text(),
            .hash = Text()};
  }
};

// Plans have no comparison of their own, as they hold their jobs by pointer.
inline bool SamePlan(const RunSpec& a, const RunSpec& b) {
  const auto same_job = [](const auto& x, const auto& y) {
    return x.first == y.first && SamePlan(*x.second, *y.second);
  };
  return a.title == b.title && a.targets == b.targets && a.stages == b.stages && a.job == b.job &&
         a.version == b.version && a.params == b.params && a.accepts == b.accepts &&
         a.max_hosts == b.max_hosts && a.max_percent == b.max_percent && a.timeout == b.timeout &&
         a.priority == b.priority && a.limits == b.limits && a.notices == b.notices &&
         a.data == b.data &&
         std::equal(a.jobs.begin(), a.jobs.end(), b.jobs.begin(), b.jobs.end(), same_job);
}

// But for their plans.
inline bool SameRow(const Run& a, const Run& b) {
  return a.id == b.id && a.state == b.state && a.pass == b.pass && a.by == b.by &&
         SamePlan(RowSpecOf(a.spec), RowSpecOf(b.spec)) && a.hosts == b.hosts &&
         a.created == b.created && a.ended == b.ended && a.stop == b.stop && a.reason == b.reason &&
         a.stages == b.stages && a.counts == b.counts && a.next_visit == b.next_visit &&
         a.pause == b.pause && a.outcome == b.outcome && a.closing == b.closing &&
         a.used == b.used && a.ticking == b.ticking && a.overrides == b.overrides &&
         a.skips == b.skips && a.parent == b.parent && a.parent_visit == b.parent_visit &&
         a.trigger == b.trigger && a.slot == b.slot && a.trace_parent == b.trace_parent &&
         a.starters == b.starters && a.plan_pass == b.plan_pass && a.guarded == b.guarded &&
         a.above == b.above && a.keys_above == b.keys_above;
}

inline bool SameRun(const Run& a, const Run& b) {
  return SameRow(a, b) && SamePlan(a.spec, b.spec);
}

}  // namespace muster
