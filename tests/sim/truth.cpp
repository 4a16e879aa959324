#include "sim/truth.hpp"

#include <algorithm>

#include "checks/history.hpp"
#include "domain/approvals.hpp"
#include "domain/run_row.hpp"

namespace muster::sim {
namespace {

// Whether a pass that begins with stage `first` forgets what `stage` reported.
bool IsDoneAgain(const RunSpec& plan, std::uint32_t stage, std::uint32_t first) {
  const std::uint32_t top = TopLevelOf(plan, stage);
  return top == first || plan.stages[top].section == Section::kFinally ||
         std::ranges::binary_search(StagesAfter(plan, first), top);
}

}  // namespace

void Truth::ProcessStarts(const link::Order& order, std::int64_t start_by_true_time, bool alone) {
  const TaskKey& task = order.task;
  if (processes_.contains(task)) throw Violation("attempt " + FormatTaskKey(task) + " ran twice");
  const auto [first, fresh] = started_.try_emplace({task.run, task.visit, task.ordinal}, task);
  if (!fresh) {
    // Only an attempt that is on record as failed may be followed by another.
    // The records of an order from before a restore are gone with those of then.
    const auto before = tasks_.find(MemoryDisk::PlaceOf(first->second));
    const bool on_record = before != tasks_.end() && checks::MayBeRepeated(before->second.state);
    if (!on_record && order.term >= first_of_life_)
      throw Violation("task ran twice: as " + FormatTaskKey(first->second) + " and as " +
                      FormatTaskKey(task));
    first->second = task;
  }
  if (world_.Now() > start_by_true_time)
    throw Violation(fmt::format("attempt {} started {} ms after its start_by", FormatTaskKey(task),
                                world_.Now() - start_by_true_time));
  processes_[task].task = task;
  if (order.term < first_of_life_) return;
  CheckContext(order);
  courses_.Starts(task);
  if (alone) keys_.Starts(order);
}

void Truth::RequestMade(const TaskKey& task) {
  if (!requests_.insert(task).second)
    throw Violation("request " + FormatTaskKey(task) + " was made twice");
}

void Truth::NoticeLeaves(const TaskKey& task, const std::string& state) const {
  const auto kept = notices_.find({task.run, task.visit});
  if (kept == notices_.end() || kept->second.state != state)
    throw Violation(fmt::format("{} was told that {} is {}, which is not on record",
                                FormatTaskKey(task), FormatRunId(task.run), state));
}

// A batch that brings a run to an end keeps a notice of it exactly when that was asked for.
void Truth::NoticesWritten(const Batch& batch) {
  std::map<RunId, std::vector<std::string>> fresh;
  for (const auto& change : batch.changes) {
    const auto* put = std::get_if<PutNotice>(&change);
    if (put == nullptr) continue;
    const OpenNotice& notice = put->notice;
    const auto [place, added] = notices_.insert_or_assign({notice.run, notice.visit}, notice);
    if (added) fresh[notice.run].push_back(notice.state);
  }
  for (const auto& change : batch.changes) {
    const auto* put = std::get_if<PutRun>(&change);
    if (put == nullptr || !IsFinal(put->run.state)) continue;
    const std::string state(Name(put->run.state));
    const auto& wishes = plans_.at(put->run.id)->notices;
    const bool asked = std::ranges::any_of(wishes, [&](const Notice& wish) {
      return std::ranges::find(wish.on, state) != wish.on.end();
    });
    if (std::ranges::count(fresh[put->run.id], state) != (asked ? 1 : 0))
      throw Violation(fmt::format("{} ended as {}, of which {} notices were kept",
                                  FormatRunId(put->run.id), state,
                                  std::ranges::count(fresh[put->run.id], state)));
  }
}

// Itself, or a newer one that made it out of date.
bool Truth::WasTold(const OpenNotice& notice) const {
  return std::ranges::any_of(notices_, [&](const auto& item) {
    const OpenNotice& other = item.second;
    return other.run == notice.run && other.visit >= notice.visit &&
           other.channel == notice.channel && other.state == notice.state &&
           told_.contains(item.first);
  });
}

void Truth::CheckNotices(Store& store) const {
  for (const auto& [key, notice] : notices_)
    if (!WasTold(notice))
      throw Violation(
          fmt::format("nobody was told that {} is {}", FormatRunId(notice.run), notice.state));
  const auto left = store.Load(store.ReadFence()->term);
  if (!left || !left->notices.empty()) throw Violation("notices were told and not forgotten");
}

// Promise 5: what a stage is told of an earlier one is what that one's last visit has on record.
// Such a stage says so in its first argument: "NAME=VALUE", of the stage NAME on the same host.
void Truth::CheckContext(const link::Order& order) const {
  if (order.command->args.empty()) return;
  const std::string& told = order.command->args.front();
  const auto equals = told.find('=');
  if (equals == std::string::npos) return;
  const std::string stage = told.substr(0, equals);
  std::string value = "none";
  std::uint32_t pass = 1;
  const auto index = std::ranges::find_if(visits_, [&](const auto& item) {
    return item.first.first == order.task.run && item.second.name == stage;
  });
  for (const auto& [key, visit] : visits_) {
    // A pass begins with what was on record before its first stage.
    if (key.first == order.task.run && visit.pass > pass) {
      pass = visit.pass;
      if (index != visits_.end() && visit.hosts.Contains(order.task.ordinal) &&
          IsDoneAgain(runs_.at(key.first).spec, index->second.stage, visit.stage))
        value = "none";
    }
    if (key.first != order.task.run || visit.name != stage || key.second > order.task.visit ||
        !visit.hosts.Contains(order.task.ordinal))
      continue;
    value = "none";  // a new visit begins with nothing
    for (auto at = tasks_.lower_bound(
             MemoryDisk::PlaceOf({key.first, key.second, order.task.ordinal, {}, Attempt(0)}));
         at != tasks_.end() && at->second.key.run == key.first &&
         at->second.key.visit == key.second && at->second.key.ordinal == order.task.ordinal;
         ++at) {
      value = "none";
      if (at->second.end && !at->second.end->outputs.empty())
        value = at->second.end->outputs.front().second;
    }
  }
  if (told.substr(equals + 1) != value)
    throw Violation(fmt::format("{} was told '{}', but stage {} reported '{}'",
                                FormatTaskKey(order.task), told, stage, value));
}

void Truth::StartAnswered(const std::string& key, RunId run, const Store& store) {
  const auto known = answered_.find(key);
  if (known != answered_.end() && known->second != run)
    throw Violation("key " + key + " was answered with " + FormatRunId(known->second) +
                    " and with " + FormatRunId(run));
  answered_[key] = run;
  const auto found = const_cast<Store&>(store).FindRun(run);
  if (!found || !found->value)
    throw Violation("run " + FormatRunId(run) + " was answered but is not on disk");
}

// Legal beginnings of a row.
void Truth::TaskBorn(const TaskRecord& task, Term term) {
  const bool born = task.state == TaskState::kSent ||
                    VerdictOf(task.state) == Verdict::kDidNotRun ||
                    (task.state == TaskState::kLost && open_in_backup_.contains(task.key.run));
  if (!born)
    throw Violation("task " + FormatTaskKey(task.key) + " appeared as " +
                    std::string(Name(task.state)));
  const auto visit = visits_.find({task.key.run, task.key.visit});
  if (visit == visits_.end() || IsFinal(visit->second.state))
    throw Violation("task " + FormatTaskKey(task.key) + " belongs to no open visit");
  if (task.key.host && !visit->second.hosts.Contains(task.key.ordinal))
    throw Violation("task " + FormatTaskKey(task.key) + " is not of its visit's hosts");
  if (task.state != TaskState::kSent) return;
  // A run that was open in the backup dispatches nothing; a row of it is one that the restore took
  // and a host's word brings back, stopped or not.
  if (stop_committed_.contains(task.key.run) && !open_in_backup_.contains(task.key.run))
    throw Violation("task " + FormatTaskKey(task.key) +
                    " was dispatched after the stop of its run was committed");
  if (const auto run = runs_.find(task.key.run);
      run != runs_.end() && run->second.pause && task.key.attempt.value > 0)
    throw Violation("task " + FormatTaskKey(task.key) + " was dispatched while its run is paused");
  if (task.sent_term != term) throw Violation("row of another term");
}

void Truth::VisitWritten(const PutVisit& put) {
  const auto before = visits_.find({put.run, put.visit.visit});
  if (before != visits_.end() && IsFinal(before->second.state))
    throw Violation(fmt::format("visit {} ({}) of {} ended as {} and was written again as {}",
                                put.visit.visit.value, put.visit.name, FormatRunId(put.run),
                                Name(before->second.state), Name(put.visit.state)));
  if (before == visits_.end()) {
    // Stages of a list follow one another: the one before is on record as ended.
    for (const auto& [key, other] : visits_)
      if (key.first == put.run && other.pass == put.visit.pass && !IsFinal(other.state) &&
          other.parent == put.visit.parent && other.visit != put.visit.parent)
        throw Violation(fmt::format("visit {} of {} began before visit {} had ended",
                                    put.visit.visit.value, FormatRunId(put.run),
                                    other.visit.value));
  }
  visits_[{put.run, put.visit.visit}] = put.visit;
}

void Truth::RunWritten(const Run& run) {
  const auto before = runs_.find(run.id);
  const bool next_pass = before != runs_.end() && run.pass == before->second.pass + 1;
  if (before != runs_.end() && IsFinal(before->second.state) && !next_pass)
    throw Violation("run " + FormatRunId(run.id) + " was written after its end");
  if (next_pass) {
    stop_committed_.erase(run.id);
    stopped_.erase(run.id);
  }
  runs_[run.id] = run;
  keys_.RunWritten(run);
  courses_.RunWritten(run);
  if (run.stop) stop_committed_.insert(run.id);
}

// A batch has the row and the plan of a run apart.
Run Truth::WithPlan(Run row) const {
  row.spec = JoinPlan(row.spec, *plans_.at(row.id));
  return row;
}

void Truth::BatchWritten(const Batch& batch, Term term) {
  for (const auto& change : batch.changes)
    if (const auto* put = std::get_if<PutPlan>(&change)) plans_[put->run] = put->plan;
  NoticesWritten(batch);
  for (const auto& change : batch.changes) {
    if (const auto* put = std::get_if<PutTask>(&change)) {
      const TaskRecord& next = put->task;
      const auto place = MemoryDisk::PlaceOf(next.key);
      const auto before = tasks_.find(place);
      if (before == tasks_.end()) {
        TaskBorn(next, term);
      } else {
        const TaskState from = before->second.state;
        if (IsFinal(from) && from != next.state)
          throw Violation(fmt::format("task {} left its end state {} for {}",
                                      FormatTaskKey(next.key), Name(from), Name(next.state)));
        const LogState log = before->second.log.state;
        if (IsFinal(from) && log != LogState::kOpen && log != LogState::kGap &&
            log != next.log.state)
          throw Violation("the final mark of " + FormatTaskKey(next.key) + " changed");
      }
      tasks_[place] = next;
    } else if (const auto* put_hold = std::get_if<PutHold>(&change)) {
      world_.Trace("on record: {} has {}", FormatTaskKey(put_hold->hold.task), put_hold->hold.key);
      keys_.Held(put_hold->hold);
    } else if (const auto* drop_hold = std::get_if<DropHold>(&change)) {
      world_.Trace("on record: {} gives {} back", FormatTaskKey(drop_hold->hold.task),
                   drop_hold->hold.key);
      keys_.Dropped(drop_hold->hold);
    } else if (const auto* visit = std::get_if<PutVisit>(&change)) {
      VisitWritten(*visit);
    } else if (const auto* run = std::get_if<PutRun>(&change)) {
      RunWritten(WithPlan(run->run));
    }
  }
  keys_.CheckDropped();
}

void Truth::Restored(Store& store) {
  ++life_;
  first_of_life_ = store.ReadFence()->term;
  tasks_.clear();
  runs_.clear();
  visits_.clear();
  keys_.Forget();
  courses_.Forget();
  stop_committed_.clear();
  std::erase_if(answered_, [&](const auto& item) { return !store.FindRun(item.second)->value; });
  notices_.clear();
  told_.clear();
  const auto now = store.Load(store.ReadFence()->term);
  for (const auto& notice : now->notices) notices_[{notice.run, notice.visit}] = notice;
  for (const auto& hold : now->holds) keys_.Held(hold);
  const auto runs = *store.ListRuns({}, {}, 1'000'000);
  for (const auto& listed : runs) {
    const Run run = store.ReadWholeRun(listed.id)->value->run;  // with its plan
    runs_[run.id] = run;
    plans_[run.id] = std::make_shared<const RunSpec>(run.spec);
    keys_.RunWritten(run);
    courses_.Load(run);
    for (const auto& visit : *store.ListVisits(run.id, {}, 1'000'000))
      visits_[{run.id, visit.visit}] = visit;
    if (run.stop) stop_committed_.insert(run.id);
    if (!IsFinal(run.state)) {
      open_in_backup_.insert(run.id);
      runs_[run.id].pause.reset();  // it ends by itself, with what its hosts say they were sent
    }
    TaskFilter every;
    every.last_attempt_only = false;
    for (const auto& task : *store.ListTasks(run.id, every, {}, 1'000'000))
      tasks_[MemoryDisk::PlaceOf(task.key)] = task;
  }
  std::erase_if(stopped_, [&](RunId run) { return !stop_committed_.contains(run); });
}

void Truth::CheckLog(const TaskRecord& record, LogStore& logs) {
  if (record.log.state == LogState::kOpen)
    throw Violation("the output of " + FormatTaskKey(record.key) + " never became final");
  if (record.log.state != LogState::kComplete) return;
  const auto process = processes_.find(record.key);
  const std::string said = process == processes_.end() ? "" : process->second.output;
  std::string kept;
  const auto chunks = logs.Read(record.key, 0, said.size() + 1000);
  if (chunks)
    for (const auto& chunk : *chunks) kept += chunk.data;
  if (kept != said)
    throw Violation(
        fmt::format("the output of {} is called complete, but {} bytes were said and {} are kept",
                    FormatTaskKey(record.key), said.size(), kept.size()));
}

void Truth::CheckTask(const TaskRecord& record, LogStore& logs) {
  if (!IsFinal(record.state))
    throw Violation("task " + FormatTaskKey(record.key) +
                    " never ended: " + std::string(Name(record.state)));
  const auto process = processes_.find(record.key);
  const bool ran = process != processes_.end();
  switch (VerdictOf(record.state)) {
    case Verdict::kDidNotRun:
      if (ran)
        throw Violation("task " + FormatTaskKey(record.key) + " is called " +
                        std::string(Name(record.state)) + ", but it ran");
      break;
    case Verdict::kRan:
      if (!ran)
        throw Violation("task " + FormatTaskKey(record.key) + " is called " +
                        std::string(Name(record.state)) + ", but it never ran");
      if (record.state == TaskState::kSucceeded && process->second.exit != 0)
        throw Violation("task " + FormatTaskKey(record.key) +
                        " is called succeeded, but it did not exit with 0");
      if (record.state == TaskState::kKilled && !process->second.killed)
        throw Violation("task " + FormatTaskKey(record.key) +
                        " is called killed, but nobody killed it");
      break;
    case Verdict::kUnknown:
      break;
  }
  CheckLog(record, logs);
}

namespace {

// The operator of a history names hosts before they have joined, and so perhaps wrongly.
using Names = std::map<HostId, std::string>;

Names NamesIn(Store& store) {
  Names names;
  for (const auto& host : store.Load(store.ReadFence()->term)->hosts) names[host.id] = host.name;
  return names;
}

checks::JournalRow JournalRowOf(const TaskRecord& row, const Names& names) {
  checks::JournalRow result{.key = row.key,
                            .host = names.at(row.key.host),
                            .store = row.store,
                            .state = row.state,
                            .sent_term = row.sent_term,
                            .end = {},
                            .started = {}};
  if (row.end) result.end = checks::JournalEnd{row.end->state, row.end->exit_code, row.end->signal};
  return result;
}

void ThrowFirst(const std::vector<checks::Finding>& findings) {
  if (!findings.empty()) throw Violation(findings.front().text);
}

}  // namespace

// What users hold their records against: muster check history.
void Truth::CheckRecords(Store& store) {
  checks::HistoryChecker checker({.horizon = store.ReadFence()->number});
  checks::JournalChecker journals(1);
  const Names names = NamesIn(store);
  for (const auto& [file, entries] : journals_)
    for (const auto& entry : entries) journals.Read(entry, file);
  for (const auto& run : *store.ListRuns({}, {}, 1'000'000)) {
    checker.Begin(run, *store.ListVisits(run.id, {}, 1'000'000));
    TaskFilter filter;
    filter.last_attempt_only = false;
    for (const auto& row : *store.ListTasks(run.id, filter, std::nullopt, 1'000'000)) {
      checker.Take(row);
      if (row.key.host) journals.Take(JournalRowOf(row, names));
    }
    checker.End();
    journals.RunRead(run.id);
  }
  ThrowFirst(checker.findings().list());
  ThrowFirst(checker.terms().Overlaps());
  // After a restore hosts remember what the records do not.
  if (life_ > 0) return;
  for (const RunId run : journals.Unread({}, WallTime{INT64_MAX})) journals.RunRead(run);
  journals.Finish();
  ThrowFirst(journals.findings().list());
}

// Where a run stands, for whoever reads why it never ended.
std::string Truth::OpenVisits(Store& store, RunId run) {
  std::string text;
  for (const auto& visit : *store.ListVisits(run, {}, 1'000'000)) {
    if (IsFinal(visit.state)) continue;
    text +=
        fmt::format("; visit {} of {} is {}, phase {}, batch {} of hosts {} to {}, inner {}",
                    visit.visit.value, visit.name, Name(visit.state), static_cast<int>(visit.phase),
                    visit.batch, visit.batch_begin, visit.batch_end, visit.inner);
    if (visit.child) text += " of " + FormatRunId(visit.child);
  }
  return text + keys_.Describe();
}

void Truth::CheckEnd(Store& store, LogStore& logs) {
  for (const auto& [key, id] : answered_)
    if (!store.FindRun(id)->value)
      throw Violation("run " + FormatRunId(id) + " was answered and is gone");
  for (const auto& run : *store.ListRuns({}, {}, 1'000'000)) {
    const RunId id = run.id;
    if (!IsFinal(run.state))
      throw Violation(fmt::format("run {} never ended; it is {}{}", FormatRunId(id),
                                  Name(run.state), OpenVisits(store, id)));
    if (stopped_.contains(id) && run.state != RunState::kCancelled &&
        run.state != RunState::kTimedOut)
      throw Violation("run " + FormatRunId(id) + " was stopped and ended as " +
                      std::string(Name(run.state)));
    TaskFilter filter;
    filter.last_attempt_only = false;
    const auto rows = *store.ListTasks(id, filter, std::nullopt, 1'000'000);
    for (const auto& row : rows)
      if (row.key.host) CheckTask(row, logs);
  }
  CheckRecords(store);
  CheckNotices(store);
  AuditWalk trail;
  const auto entries = store.ReadAudit(1, 1'000'000);
  for (const auto& entry : *entries) trail.Take(entry);
  if (!trail.Reaches(*store.ReadAuditHead()))
    throw Violation("the audit trail is broken at " + std::to_string(trail.bad()) + ": " +
                    trail.why());
  keys_.CheckEnd();
  for (const auto& [place, record] : tasks_)
    if (record.state == TaskState::kSent)
      throw Violation("task " + FormatTaskKey(record.key) + " is still out");
}

}  // namespace muster::sim
