#include "checks/history.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace muster::checks {
namespace {

using Kind = Finding::Kind;

// A restore raises the term by 2^32: rows of a higher one were written after it, and what lies
// between them and their neighbours may be gone with the records of then.
std::uint64_t LifeOf(Term term) { return term.value >> 32; }

// A row of a visit from before a restore that was written after it: its host said that it was sent,
// and by which batch is not known.
bool IsAdopted(const TaskRecord& row) {
  constexpr std::uint32_t kFirstOfARestore = 1U << 20;
  return SpaceOf(row.key.run) < LifeOf(row.sent_term) && row.key.visit.value < kFirstOfARestore;
}

bool SameTask(const TaskKey& a, const TaskKey& b) {
  return a.visit == b.visit && a.ordinal == b.ordinal && a.host == b.host;
}

}  // namespace

bool MayBeRepeated(TaskState ended) noexcept {
  return ended == TaskState::kFailed || ended == TaskState::kTimedOut ||
         (IsFinal(ended) && VerdictOf(ended) == Verdict::kDidNotRun);
}

HistoryChecker::HistoryChecker(Options options)
    : options_(std::move(options)), findings_(options_.most_findings) {}

void HistoryChecker::Extent::Join(const Extent& other) {
  if (other.first_sent && (!first_sent || other.first_sent < first_sent)) {
    first_sent = other.first_sent;
    first = other.first;
  }
  if (other.last_ended > last_ended) {
    last_ended = other.last_ended;
    last = other.last;
  }
  if (!open) open = other.open;
}

void HistoryChecker::Begin(const Run& run, const std::vector<StageVisit>& visits) {
  run_ = run;
  visits_.clear();
  for (const auto& visit : visits)
    if (visit.pass <= run.pass) visits_[visit.visit].visit = visit;
  of_host_.assign(run.hosts, HostTasks<>{});
  next_visit_ = visits_.begin();
  last_.reset();
  ++counts_.runs;
}

bool HistoryChecker::Ended() const {
  return IsFinal(run_.state) && run_.ended_commit <= options_.horizon;
}

bool HistoryChecker::Open(const TaskRecord& row) const {
  return !IsFinal(row.state) || row.ended_commit > options_.horizon;
}

void HistoryChecker::Take(const TaskRecord& row) {
  if (row.sent_commit > options_.horizon) return;
  ++counts_.attempts;
  if (Open(row)) ++counts_.open;
  terms_.Take(row.sent_term, row.sent_commit, row.key);
  terms_.Take(row.ended_term, row.ended_commit, row.key);
  CheckRow(row);
  CheckPlace(row);
  CheckAgainstRun(row);
  if (last_ && SameTask(last_->key, row.key)) {
    CheckNext(*last_, row);
  } else {
    CloseTask();
    CheckFirst(row);
  }
  last_ = Row{.key = row.key,
              .state = row.state,
              .open = Open(row),
              .stop_wished = row.stop_wished,
              .ended = row.ended_commit,
              .sent_term = row.sent_term};
  if (const auto visit = visits_.find(row.key.visit); visit != visits_.end())
    visit->second.extent.Join({.first_sent = row.sent_commit,
                               .first = row.key,
                               .last_ended = row.ended_commit,
                               .last = row.key,
                               .open = Open(row) ? std::optional(row.key) : std::nullopt});
}

void HistoryChecker::CheckRow(const TaskRecord& row) {
  if (IsFinal(row.state) && !row.ended_commit)
    Find(Kind::kOrder, row.key,
         fmt::format("{} is {}, and no commit ended it", Describe(row.key), Name(row.state)));
  if (!IsFinal(row.state) && row.ended_commit)
    Find(Kind::kOrder, row.key,
         fmt::format("{} is {}, and commit {} ended it", Describe(row.key), Name(row.state),
                     row.ended_commit.value));
  if (row.ended_commit && row.ended_commit < row.sent_commit)
    Find(Kind::kOrder, row.key,
         fmt::format("{} was ended by commit {}, before commit {} sent it", Describe(row.key),
                     row.ended_commit.value, row.sent_commit.value));
}

void HistoryChecker::CheckPlace(const TaskRecord& row) {
  const auto visit = visits_.find(row.key.visit);
  if (visit == visits_.end())
    return Find(Kind::kStray, row.key,
                fmt::format("{} belongs to a visit that is not on record", Describe(row.key)));
  if (row.key.host && !visit->second.visit.hosts.Contains(row.key.ordinal))
    Find(Kind::kStray, row.key,
         fmt::format("{} is not of the hosts of {}", Describe(row.key), Describe(visit->second)));
}

void HistoryChecker::CheckAgainstRun(const TaskRecord& row) {
  const bool sent = static_cast<bool>(row.sent);  // not only written down as never sent
  if (run_.stop && run_.stop_commit && sent && row.sent_commit > run_.stop_commit &&
      !IsAdopted(row))
    Find(Kind::kStopped, row.key,
         fmt::format("{} was sent by commit {}, and commit {} had stopped the run",
                     Describe(row.key), row.sent_commit.value, run_.stop_commit.value));
  if (!Ended()) return;
  if (Open(row))
    return Find(
        Kind::kOpen, row.key,
        fmt::format("{} is not over, and its run is: {}", Describe(row.key), Name(run_.state)));
  if (run_.ended_commit && row.ended_commit > run_.ended_commit)
    Find(Kind::kOpen, row.key,
         fmt::format("{} was sent by commit {} and ended by commit {}, and commit {} had ended the "
                     "run",
                     Describe(row.key), row.sent_commit.value, row.ended_commit.value,
                     run_.ended_commit.value));
}

// After a restore the host's word may stand for rows that are gone.
void HistoryChecker::CheckFirst(const TaskRecord& row) {
  if (row.key.attempt.value == 1 || LifeOf(row.sent_term) > 0) return;
  Find(Kind::kLost, row.key,
       fmt::format("{} is the first on record; those before it are missing", Describe(row.key)));
}

void HistoryChecker::CheckNext(const Row& before, const TaskRecord& row) {
  const std::uint32_t number = before.key.attempt.value;
  if (row.key.attempt.value != number + 1 && LifeOf(row.sent_term) == LifeOf(before.sent_term))
    Find(
        Kind::kLost, row.key,
        fmt::format("{} follows attempt {}; those between are missing", Describe(row.key), number));
  if (before.open)
    Find(Kind::kDoubled, row.key,
         fmt::format("{} was sent by commit {}, and attempt {} is not over", Describe(row.key),
                     row.sent_commit.value, number));
  else if (row.sent_commit < before.ended)
    Find(Kind::kDoubled, row.key,
         fmt::format("{} was sent by commit {}, before commit {} ended attempt {}",
                     Describe(row.key), row.sent_commit.value, before.ended.value, number));
  else if (!MayBeRepeated(before.state) && before.state != TaskState::kLost)
    Find(Kind::kDoubled, row.key,
         fmt::format("{} was sent, and attempt {} had {}", Describe(row.key), number,
                     before.state == TaskState::kSucceeded ? "succeeded" : "been killed"));
  if (before.stop_wished && row.sent)
    Find(Kind::kStopped, row.key,
         fmt::format("{} was sent, and the task was stopped in attempt {}", Describe(row.key),
                     number));
}

// The last row that was taken is the last attempt of its task.
void HistoryChecker::CloseTask() {
  if (!last_) return;
  ++counts_.tasks;
  const TaskKey& key = last_->key;
  if (!key.host) return;
  TakeResultsBefore(key.visit);
  const auto visit = visits_.find(key.visit);
  if (visit == visits_.end()) return;
  ++visit->second.counts[last_->state];
  TakeResult(visit->second.visit, key.ordinal, last_->state);
}

// Visits to stages that started a run have no tasks, and say themselves how their hosts came out.
void HistoryChecker::TakeResultsBefore(Visit visit) {
  for (; next_visit_ != visits_.end() && next_visit_->first < visit; ++next_visit_)
    for (const auto& [state, hosts] : next_visit_->second.visit.results)
      for (const std::uint32_t ordinal : hosts.List())
        TakeResult(next_visit_->second.visit, ordinal, state);
}

void HistoryChecker::TakeResult(const StageVisit& visit, std::uint32_t ordinal, TaskState state) {
  if (ordinal >= of_host_.size() || !IsFinal(state)) return;
  of_host_[ordinal].Take(HostTasks<>::Of(visit, {}, state));
  of_host_[ordinal].Prune();
}

void HistoryChecker::End() {
  CloseTask();
  TakeResultsBefore(Visit(UINT32_MAX));
  last_.reset();
  CheckCounts();
  CheckOrder();
}

// Visits beside one another follow one another: all work of one is over before the next begins. In
// a graph that holds for those that a visit waited for.
void HistoryChecker::CheckOrder() {
  // A visit has a higher number than the one it lies in.
  for (auto at = visits_.rbegin(); at != visits_.rend(); ++at)
    if (const auto parent = visits_.find(at->second.visit.parent); parent != visits_.end())
      parent->second.extent.Join(at->second.extent);
  std::map<std::pair<std::uint32_t, Visit>, Extent> before;  // by pass and parent
  for (const auto& [number, state] : visits_) {
    const Extent& extent = state.extent;
    Extent& all = before[{state.visit.pass, state.visit.parent}];
    const Extent earlier = state.visit.needs ? ExtentOf(*state.visit.needs) : all;
    if (extent.first_sent && earlier.open)
      Find(Kind::kOrder, extent.first,
           fmt::format("{} was begun by commit {} ({}), and {} of the stage before it is not over",
                       Describe(state), extent.first_sent.value, Describe(extent.first),
                       Describe(*earlier.open)));
    else if (extent.first_sent && extent.first_sent < earlier.last_ended)
      Find(Kind::kOrder, extent.first,
           fmt::format("{} was begun by commit {} ({}), before commit {} ended {} of the stage "
                       "before it",
                       Describe(state), extent.first_sent.value, Describe(extent.first),
                       earlier.last_ended.value, Describe(earlier.last)));
    all.Join(extent);
  }
}

HistoryChecker::Extent HistoryChecker::ExtentOf(const std::vector<Visit>& visits) const {
  Extent extent;
  for (const Visit visit : visits)
    if (const auto found = visits_.find(visit); found != visits_.end())
      extent.Join(found->second.extent);
  return extent;
}

// The levels agree: tasks make up the counts of their visits, visits those of their stages, and the
// results of the hosts those of the run.
void HistoryChecker::CheckCounts() {
  if (!Ended()) return;
  const TaskKey whole_run{.run = run_.id};
  std::map<std::uint32_t, TaskCounts> of_stage;
  for (const auto& [number, state] : visits_) {
    const StageVisit& visit = state.visit;
    const TaskKey key{.run = run_.id, .visit = number};
    if (!IsFinal(visit.state))
      Find(Kind::kOpen, key,
           fmt::format("{} is not over, and its run is: {}", Describe(state), Name(run_.state)));
    // One that was cut short may have hosts without a word.
    const bool whole = state.counts.Total() > 0 && visit.state != StageState::kCancelled &&
                       visit.state != StageState::kSkipped;
    if (whole && state.counts.Total() != visit.hosts.Count())
      Find(Kind::kLost, key,
           fmt::format("{} ended with {} hosts, and {} of them have a task on record",
                       Describe(state), visit.hosts.Count(), state.counts.Total()));
    else if (whole && !(state.counts == visit.counts))
      Find(Kind::kLost, key,
           fmt::format("the counts of {} are not those of its tasks", Describe(state)));
    if (visit.pass != run_.pass || visit.stage >= run_.stages.size()) continue;
    for (std::size_t i = 0; i < kTaskStates; ++i)
      of_stage[visit.stage].by_state[i] += visit.counts.by_state[i];
  }
  for (const auto& [stage, counts] : of_stage)
    if (!(run_.stages[stage].counts == counts))
      Find(Kind::kLost, whole_run,
           fmt::format("the counts of stage '{}' of {} are not those of its visits",
                       run_.stages[stage].name, FormatRunId(run_.id)));
  TaskCounts counts;
  for (const auto& tasks : of_host_) ++counts[HostTasks<>::Standing(tasks.Deciding(), false)];
  // Runs of older versions counted otherwise.
  const bool counted = std::ranges::all_of(
      visits_, [](const auto& item) { return item.second.visit.onward != Onward::kUnknown; });
  if (counted && !(counts == run_.counts))
    Find(Kind::kLost, whole_run,
         fmt::format("the counts of {} are not those of its hosts", FormatRunId(run_.id)));
}

std::string HistoryChecker::Describe(const TaskKey& task) const {
  const std::string host = !task.host           ? "the server"
                           : options_.host_name ? options_.host_name(task)
                                                : fmt::format("host {}", task.host.value);
  return fmt::format("attempt {} of {} on {} (visit {})", task.attempt.value, FormatRunId(task.run),
                     host, task.visit.value);
}

std::string HistoryChecker::Describe(const VisitState& state) const {
  return fmt::format("visit {} ({}) of {}", state.visit.visit.value, state.visit.name,
                     FormatRunId(run_.id));
}

void HistoryChecker::Find(Kind kind, const TaskKey& task, std::string text) {
  findings_.Add({kind, task, std::move(text)});
}

}  // namespace muster::checks
