#include "server/traces/trace.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "adapters/crypto/digest.hpp"
#include "base/text.hpp"
#include "domain/no_such_run.hpp"

namespace muster::server {
namespace {

constexpr std::size_t kTraceDigits = 32;
constexpr std::size_t kSpanDigits = 16;
constexpr int kMostParents = 64;  // far more than jobs may be nested
constexpr std::size_t kPage = 2000;

// The creation keeps runs of two clusters apart that have the same number.
std::string SeedOf(const Run& run) {
  return fmt::format("{}@{}", FormatRunId(run.id), run.created.ms);
}
std::string Digits(const std::string& of, std::size_t count) {
  return ToHex(crypto::Sha256(of)).substr(0, count);
}
std::string PassSpan(const std::string& seed, std::uint32_t pass) {
  return Digits(fmt::format("{}/pass/{}", seed, pass), kSpanDigits);
}
std::string VisitSpan(const std::string& seed, Visit visit) {
  return Digits(fmt::format("{}/visit/{}", seed, visit.value), kSpanDigits);
}
std::string TaskSpan(const std::string& seed, const TaskKey& key) {
  return Digits(
      fmt::format("{}/task/{}/{}/{}", seed, key.visit.value, key.ordinal, key.attempt.value),
      kSpanDigits);
}

// Under what a run stands: its caller's span, or the visit that started it, or nothing.
struct Place {
  std::string trace;
  std::string parent = {};
  bool sampled = true;
};

Result<Place> PlaceOfRun(Store& store, const Run& run) {
  Place place;
  Run at = run;
  for (int up = 0; up < kMostParents; ++up) {
    place.trace = Digits(SeedOf(at), kTraceDigits);
    if (const auto parent = ParseTraceParent(at.trace_parent)) {
      place.trace = parent->trace;
      place.sampled = parent->sampled;
      if (place.parent.empty()) place.parent = parent->span;
      return place;
    }
    if (!at.parent) return place;
    auto parent = store.FindRun(at.parent);
    if (!parent) return Fail(parent.error());
    if (!parent->value) return place;  // dropped before its child
    if (place.parent.empty()) place.parent = VisitSpan(SeedOf(*parent->value), at.parent_visit);
    at = std::move(*parent->value);
  }
  return place;
}

Result<std::vector<StageVisit>> VisitsOf(Store& store, RunId run,
                                         std::optional<std::uint32_t> pass) {
  std::vector<StageVisit> visits;
  for (Visit after;;) {
    auto page = store.ListVisits(run, after, kPage);
    if (!page) return Fail(page.error());
    for (auto& visit : *page) {
      after = visit.visit;
      if (!pass || visit.pass == *pass) visits.push_back(std::move(visit));
    }
    if (page->size() < kPage) return visits;
  }
}

// Larger is kept rather.
std::pair<bool, Duration> WeightOf(const TaskRecord& task) {
  const bool sent = task.sent && task.ended > task.sent;
  return {task.state != TaskState::kSucceeded, sent ? task.ended - task.sent : Duration(0)};
}

// The `most` weightiest of what is offered.
class Choice {
 public:
  explicit Choice(std::size_t most) : most_(most) {}

  void Offer(TaskRecord task) {
    ++offered_;
    if (most_ == 0) return;
    if (heap_.size() == most_) {
      if (WeightOf(task) <= WeightOf(heap_.front())) return;
      std::ranges::pop_heap(heap_, std::greater(), WeightOf);
      heap_.pop_back();
    }
    heap_.push_back(std::move(task));
    std::ranges::push_heap(heap_, std::greater(), WeightOf);
  }

  std::vector<TaskRecord> InOrder() && {
    std::ranges::sort(heap_, {}, &TaskRecord::key);
    return std::move(heap_);
  }
  std::size_t LeftOut() const { return offered_ - heap_.size(); }

 private:
  std::size_t most_;
  std::size_t offered_ = 0;
  std::vector<TaskRecord> heap_;  // the lightest in front
};

Result<Choice> ChooseTasks(Store& store, RunId run, const std::set<Visit>& visits,
                           std::size_t most) {
  Choice choice(most);
  TaskFilter filter;
  filter.last_attempt_only = false;
  for (std::optional<TaskKey> after;;) {
    auto page = store.ListTasks(run, filter, after, kPage);
    if (!page) return Fail(page.error());
    const bool last = page->size() < kPage;
    if (!last) after = page->back().key;
    for (auto& task : *page)
      if (visits.contains(task.key.visit)) choice.Offer(std::move(task));
    if (last) return choice;
  }
}

// Puts attributes of a span together; what has no value is left out.
class Attributes {
 public:
  explicit Attributes(Span& span) : span_(span) {}
  Attributes& Add(const char* key, const std::string& text) {
    if (!text.empty()) span_.attributes.emplace_back(key, text);
    return *this;
  }
  Attributes& Add(const char* key, std::string_view text) { return Add(key, std::string(text)); }
  Attributes& Add(const char* key, std::int64_t number) {
    span_.attributes.emplace_back(key, number);
    return *this;
  }

 private:
  Span& span_;
};

bool IsBad(StageState state) {
  return state == StageState::kFailed || state == StageState::kTimedOut ||
         state == StageState::kCancelled;
}
bool IsBad(RunState state) { return IsFinal(state) && state != RunState::kSucceeded; }
bool IsBad(TaskState state) { return IsFinal(state) && state != TaskState::kSucceeded; }

Span SpanOf(const Run& run, std::uint32_t pass, const std::vector<StageVisit>& visits) {
  const bool last = pass == run.pass;
  Span span{.id = PassSpan(SeedOf(run), pass),
            .parent = {},
            .name = run.spec.job.empty() ? run.spec.title : run.spec.job,
            .start = run.created,
            .end = last ? run.ended : WallTime()};
  StageState worst = StageState::kSucceeded;
  bool first = true;
  for (const auto& visit : visits) {
    if (visit.pass != pass) continue;
    if (pass > 1 && first) span.start = visit.started;
    first = false;
    if (last) continue;
    span.end = std::max(span.end, visit.ended);
    if (IsBad(visit.state)) worst = visit.state;
  }
  span.failed = last ? IsBad(run.state) : IsBad(worst);
  span.message = last ? run.reason : "";
  Attributes about(span);
  about.Add("muster.run", FormatRunId(run.id)).Add("muster.title", run.spec.title);
  about.Add("muster.state", last ? Name(run.state) : Name(worst));
  about.Add("muster.pass", std::int64_t{pass}).Add("muster.hosts", std::int64_t{run.hosts});
  about.Add("muster.targets", run.spec.targets).Add("muster.by", run.by);
  about.Add("muster.job", run.spec.job);
  if (run.spec.version != 0) about.Add("muster.job.version", std::int64_t{run.spec.version});
  about.Add("muster.trigger", run.trigger);
  if (run.slot) about.Add("muster.slot", FormatTime(run.slot));
  return span;
}

Span SpanOf(const Run& run, const StageVisit& visit) {
  const std::string seed = SeedOf(run);
  Span span{.id = VisitSpan(seed, visit.visit),
            .parent = visit.parent ? VisitSpan(seed, visit.parent) : PassSpan(seed, visit.pass),
            .name = visit.name.empty() ? "run" : visit.name,
            .start = visit.started,
            .end = visit.ended,
            .failed = IsBad(visit.state),
            .message = visit.reason};
  Attributes about(span);
  about.Add("muster.visit", std::int64_t{visit.visit.value}).Add("muster.state", Name(visit.state));
  about.Add("muster.status", visit.status);
  if (visit.child) about.Add("muster.child", FormatRunId(visit.child));
  for (std::size_t i = 0; i < kTaskStates; ++i)
    if (visit.counts.by_state[i] != 0)
      about.Add(fmt::format("muster.tasks.{}", Name(static_cast<TaskState>(i))).c_str(),
                std::int64_t{visit.counts.by_state[i]});
  return span;
}

Span SpanOf(const Run& run, const TaskRecord& task, const Targets& targets) {
  const std::string seed = SeedOf(run);
  const bool on_host = static_cast<bool>(task.key.host);
  Span span{.id = TaskSpan(seed, task.key),
            .parent = VisitSpan(seed, task.key.visit),
            .name = "server",
            .start = task.sent ? task.sent : task.ended,
            .end = task.ended,
            .failed = IsBad(task.state),
            .message = task.end && !task.end->reason.empty() ? task.end->reason : task.reason};
  if (on_host && task.key.ordinal < targets.size()) span.name = targets[task.key.ordinal].name;
  Attributes about(span);
  if (on_host) about.Add("host.name", span.name);
  about.Add("muster.state", Name(task.state))
      .Add("muster.attempt", std::int64_t{task.key.attempt.value});
  if (!task.end || !on_host) return span;
  about.Add("process.exit.code", std::int64_t{task.end->exit_code});
  if (task.end->signal != 0) about.Add("muster.signal", std::int64_t{task.end->signal});
  // By the host's clock, which need not be the server's; the length is the same on both.
  if (task.end->started && task.end->ended >= task.end->started)
    about.Add("muster.process.ms", (task.end->ended - task.end->started).count());
  return span;
}

}  // namespace

Result<Trace> ReadTrace(Store& store, RunId id, const TraceScope& scope) {
  auto found = store.FindRun(id);
  if (!found) return Fail(found.error());
  if (!found->value) return Fail(NoSuchRun(id));
  const Run& run = *found->value;
  const auto place = PlaceOfRun(store, run);
  if (!place) return Fail(place.error());
  const auto visits = VisitsOf(store, id, scope.pass);
  if (!visits) return Fail(visits.error());
  std::set<Visit> wanted;
  for (const auto& visit : *visits) wanted.insert(visit.visit);
  auto chosen = ChooseTasks(store, id, wanted, scope.tasks);
  if (!chosen) return Fail(chosen.error());
  const auto targets = store.FindTargets(id);
  if (!targets) return Fail(targets.error());

  Trace trace{
      .id = place->trace, .sampled = place->sampled, .failed = IsBad(run.state), .spans = {}};
  for (std::uint32_t pass = scope.pass.value_or(1); pass <= scope.pass.value_or(run.pass); ++pass) {
    Span span = SpanOf(run, pass, *visits);
    span.parent = place->parent;
    if (chosen->LeftOut() > 0)
      Attributes(span).Add("muster.tasks_without_span",
                           static_cast<std::int64_t>(chosen->LeftOut()));
    trace.spans.push_back(std::move(span));
  }
  for (const auto& visit : *visits) trace.spans.push_back(SpanOf(run, visit));
  for (const auto& task : std::move(*chosen).InOrder())
    trace.spans.push_back(SpanOf(run, task, **targets));
  return trace;
}

Result<TraceParent> PlaceOf(Store& store, const TaskKey& task) {
  const auto run = store.FindRun(task.run);
  if (!run) return Fail(run.error());
  if (!run->value) return Fail(NoSuchRun(task.run));
  const auto place = PlaceOfRun(store, *run->value);
  if (!place) return Fail(place.error());
  return TraceParent{.trace = place->trace,
                     .span = TaskSpan(SeedOf(*run->value), task),
                     .sampled = place->sampled};
}

}  // namespace muster::server
