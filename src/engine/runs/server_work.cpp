#include "engine/runs/server_work.hpp"

#include <algorithm>
#include <unordered_map>

#include "base/text.hpp"
#include "domain/approvals.hpp"
#include "domain/channel.hpp"
#include "domain/nesting.hpp"
#include "domain/plan_bytes.hpp"
#include "domain/template.hpp"
#include "engine/notices/notices.hpp"
#include "engine/runs/approvals.hpp"
#include "engine/runs/conditions.hpp"
#include "engine/runs/flow.hpp"
#include "engine/runs/render.hpp"
#include "engine/runs/stage_entry.hpp"
#include "engine/runs/start.hpp"

namespace muster::engine {
namespace {

void FailNow(OpenVisit& visit, StageState state, std::string reason) {
  visit.record.reason = std::move(reason);
  visit.ends_as = state;
}

Result<HttpAction> Rendered(const OpenRun& run, HttpAction http) {
  for (std::string* text : {&http.url, &http.body}) {
    auto rendered = RenderText(run, *text);
    if (!rendered) return Fail(rendered.error());
    *text = std::move(*rendered);
  }
  if (http.url.size() > HttpAction::kMostUrl)
    return Fail(ErrorCode::kInvalid, "the url has {}, and may have {}", FormatSize(http.url.size()),
                FormatSize(HttpAction::kMostUrl));
  for (auto& [name, value] : http.headers) {
    if (!HasExpressions(value)) continue;
    auto rendered = RenderText(run, value);
    if (!rendered) return Fail(rendered.error());
    // Only the job's author names secrets: a value from a parameter or an output does not.
    if (NamesSecret(*rendered))
      return Fail(ErrorCode::kDenied, "header {}: an expression may not make up a secret's name",
                  name);
    value = std::move(*rendered);
  }
  return http;
}

Result<NotifyAction> Rendered(const OpenRun& run, NotifyAction notify) {
  auto rendered = RenderText(run, notify.message);
  if (!rendered) return Fail(rendered.error());
  notify.message = std::move(*rendered);
  return notify;
}

Result<ConditionAction> Rendered(const OpenRun& run, ConditionAction condition) {
  if (const auto bound = BoundOf(run, condition); !bound) return Fail(bound.error());
  auto request = Rendered(run, std::move(condition.request));
  if (!request) return Fail(request.error());
  condition.request = std::move(*request);
  return condition;
}

template <typename What>
void Order(Turn& turn, OpenRun& run, OpenVisit& visit, const What& action) {
  auto what = Rendered(run, action);
  if (!what) return FailNow(visit, StageState::kFailed, what.error().message);
  TaskRecord record;
  record.key = {run.run.id, visit.record.visit, 0, HostId(), Attempt(++visit.server_attempts)};
  record.state = TaskState::kSent;
  record.sent = turn.now.wall;
  record.sent_commit = turn.commit;
  record.sent_term = turn.state.term;
  turn.Put(PutTask{record});
  turn.AskServer(ServerOrder{.task = record.key,
                             .what = std::move(*what),
                             .job = run.run.spec.job,
                             .state = std::string(Name(run.run.state))});
  visit.attempts[0] = std::move(record);
}

std::size_t DepthOf(const State& state, const OpenRun& run) {
  std::size_t depth = 0;
  for (const OpenRun* at = &run; at->run.parent; ++depth) {
    const auto parent = state.runs.open.find(at->run.parent);
    if (parent == state.runs.open.end()) break;
    at = &parent->second;
  }
  return depth;
}

// The secret that "${{ params.NAME }}" alone hands on; nullptr for every other text.
const Param* HandedOn(const OpenRun& run, std::string_view text) {
  if (!text.starts_with("${{") || !text.ends_with("}}") || text.size() < 5) return nullptr;
  const std::string_view path = Trim(text.substr(3, text.size() - 5));
  constexpr std::string_view kParams = "params.";
  if (!path.starts_with(kParams)) return nullptr;
  const auto found =
      std::ranges::find(run.run.spec.params, path.substr(kParams.size()), &Param::name);
  return found != run.run.spec.params.end() && found->secret ? &*found : nullptr;
}

// A value may come from a host or a remote answer, so the job's own rules hold for it as for a
// person's.
Result<> Accept(const RunSpec& job, const Param& param) {
  const auto rule = std::ranges::find(job.accepts, param.name, &ParamSpec::name);
  if (rule == job.accepts.end()) return {};
  const bool wants_secret = rule->type == ParamType::kSecret;
  if (param.secret && !wants_secret)
    return Fail(ErrorCode::kInvalid,
                "job '{}': parameter '{}' is not of type secret, so no secret is handed on to it",
                job.job, param.name);
  if (!param.secret && wants_secret)
    return Fail(ErrorCode::kInvalid,
                "job '{}': parameter '{}' is a secret; hand on a parameter of type secret", job.job,
                param.name);
  return param.secret ? Result<>() : CheckParam(*rule, param.value);
}

Result<> SetParam(RunSpec& spec, Param param) {
  if (auto accepted = Accept(spec, param); !accepted) return accepted;
  const auto found = std::ranges::find(spec.params, param.name, &Param::name);
  if (found == spec.params.end())
    spec.params.push_back(std::move(param));
  else if (!found->secret || param.secret)
    *found = std::move(param);
  return {};
}

Result<RunSpec> ChildSpec(const OpenRun& run, const JobAction& job) {
  const auto found = run.run.spec.jobs.find(job.job);
  if (found == run.run.spec.jobs.end() || !found->second)
    return Fail(ErrorCode::kNotFound, "there was no job '{}' when the run started", job.job);
  RunSpec spec = *found->second;
  spec.targets = fmt::format("stage of {}", FormatRunId(run.run.id));
  for (const auto& [name, text] : job.params) {
    Param param{.name = name};
    if (const Param* secret = HandedOn(run, text)) {
      param.value = secret->value;
      param.secret = true;
    } else {
      auto value = RenderText(run, text);
      if (!value) return Fail(value.error());
      param.value = std::move(*value);
    }
    if (auto set = SetParam(spec, std::move(param)); !set) return Fail(set.error());
  }
  std::size_t bytes = 0;
  for (const auto& param : spec.params) bytes += param.value.size();
  if (bytes > kMaxParamsBytes)
    return Fail(ErrorCode::kInvalid, "the parameters of job '{}' have {} in all, and may have {}",
                job.job, FormatSize(bytes), FormatSize(kMaxParamsBytes));
  return spec;
}

// As a start by a person, a child is held to what its job may be started on.
Result<> CheckHosts(const State& state, const RunSpec& job, std::size_t hosts) {
  if (job.max_hosts > 0 && hosts > job.max_hosts)
    return Fail(ErrorCode::kInvalid,
                "job '{}' is for at most {} hosts, and this stage has {}; give the stage batches, "
                "or raise max_hosts of the job",
                job.job, job.max_hosts, hosts);
  if (job.max_percent == 0) return {};
  const auto all =
      static_cast<std::size_t>(std::ranges::count_if(state.hosts.entries, [](const auto& item) {
        return item.second.host.state == HostState::kActive;
      }));
  if (hosts * 100 <= all * job.max_percent) return {};
  return Fail(ErrorCode::kInvalid,
              "job '{}' is for at most {}% of all hosts, and this stage has {} of {}; give the "
              "stage batches, or raise max_hosts of the job",
              job.job, job.max_percent, hosts, all);
}

void StartChild(Turn& turn, OpenRun& run, OpenVisit& visit, const JobAction& job) {
  if (DepthOf(turn.state, run) >= kDeepestJobs)
    return FailNow(visit, StageState::kFailed, "jobs that start jobs are nested too deeply");
  auto spec = ChildSpec(run, job);
  if (!spec) return FailNow(visit, StageState::kFailed, spec.error().message);
  if (const auto fits = CheckPlanBytes(*spec); !fits)
    return FailNow(visit, StageState::kFailed, fits.error().message);
  if (const auto fits = CheckHosts(turn.state, *spec, visit.hosts.size()); !fits)
    return FailNow(visit, StageState::kFailed, fits.error().message);
  auto targets = std::make_shared<Targets>();
  for (const std::uint32_t ordinal : visit.hosts) targets->push_back((*run.targets)[ordinal]);
  const OpenRun& child =
      CreateRun(turn, {.caller = {.request = {}, .name = run.run.by, .address = {}},
                       .spec = std::move(*spec),
                       .targets = std::move(targets),
                       .parent = run.run.id,
                       .parent_visit = visit.record.visit,
                       .guarded = run.run.guarded || HoldsApproval(run.run.spec),
                       .starters = StartersOf(turn.state, run)});
  visit.record.child = child.run.id;
  visit.record.touched = visit.record.hosts;
  if (!job.wait) visit.ends_as = StageState::kSucceeded;
  KeepVisit(turn, run, visit);
}

StageState StateFrom(RunState state) {
  switch (state) {
    case RunState::kSucceeded:
      return StageState::kSucceeded;
    case RunState::kTimedOut:
      return StageState::kTimedOut;
    case RunState::kCancelled:
      return StageState::kCancelled;
    default:
      return StageState::kFailed;
  }
}

// Notifications and looks may be repeated; a request only when its stage says so.
bool MayRepeat(const StageSpec& spec, TaskState ended) {
  if (ended != TaskState::kLost) return true;
  if (const auto* condition = std::get_if<ConditionAction>(&spec.action);
      condition != nullptr &&
      (condition->request.method == "GET" || condition->request.method == "HEAD"))
    return true;
  return spec.repeat == Repeat::kSafe || std::holds_alternative<NotifyAction>(spec.action);
}

void EndServerAttempt(Turn& turn, OpenRun& run, OpenVisit& visit, TaskEnd end) {
  const StageSpec& spec = run.SpecOf(visit);
  if (const auto* condition = std::get_if<ConditionAction>(&spec.action);
      condition != nullptr && end.state == TaskState::kSucceeded)
    end = Judged(run, visit, *condition, std::move(end), turn.now.wall);
  TaskRecord record = std::move(visit.attempts.at(0));
  visit.attempts.clear();
  record.state = end.state;
  record.end = end;
  record.end->log.reset();
  record.ended = turn.now.wall;
  record.ended_commit = turn.commit;
  record.ended_term = turn.state.term;
  record.log.state = LogState::kComplete;
  record.log.stdout_sha256 = record.log.stderr_sha256 = kEmptySha256;
  turn.Put(PutTask{record});
  turn.Wake(run);
  turn.TellRun(run);
  if (end.state == TaskState::kSucceeded) {
    if (!end.outputs.empty()) run.reported[visit.record.name].stage = end.outputs;
    visit.ends_as = StageState::kSucceeded;
    return;
  }
  if (run.Stopping()) return FailNow(visit, StageState::kCancelled, end.reason);
  const bool lost_once = end.state == TaskState::kLost && visit.server_attempts == 1;
  const bool again = MayRepeat(spec, end.state) && !run.restored &&
                     (visit.server_attempts <= spec.retries.max || lost_once);
  if (again) return ArmVisit(turn, run, visit, turn.now.mono + spec.retries.backoff);
  FailNow(visit, end.state == TaskState::kTimedOut ? StageState::kTimedOut : StageState::kFailed,
          end.reason);
}

// Of a run that did not succeed, a host came through if it came through the last stage: one that
// is only still ok has later stages before it.
bool CameThrough(const OpenRun& run, std::uint32_t ordinal) {
  if (!run.hosts[ordinal].Ok()) return false;
  if (run.run.state == RunState::kSucceeded) return true;
  std::uint32_t last = 0;
  for (std::uint32_t i = 0; i < run.run.spec.stages.size(); ++i)
    if (InMainList(run.run.spec.stages[i])) last = i;
  const auto passed = run.passed.find(last);
  return passed != run.passed.end() && passed->second.hosts.Contains(ordinal);
}

// How the parent finds the host: as the child's own result of it. A host that dropped out and has
// succeeded nevertheless was recovered. One that did not come through, and that nothing failed on,
// was left out of something.
TaskState ResultOf(const OpenRun& child, std::uint32_t ordinal) {
  const HostFlow& host = child.hosts[ordinal];
  const TaskState result = host.Result();
  if (IsFinal(result) && result != TaskState::kSucceeded) return result;
  const bool recovered = result == TaskState::kSucceeded && !host.Ok();
  return recovered || CameThrough(child, ordinal) ? TaskState::kSucceeded : TaskState::kSkipped;
}

}  // namespace

bool HasServerWork(const OpenVisit& visit) {
  return !visit.attempts.empty() || (visit.record.child && !visit.ends_as);
}

void StartServerWork(Turn& turn, OpenRun& run, OpenVisit& visit) {
  if (visit.ends_as || visit.due) return;
  if (HasServerWork(visit)) return;
  const Action& action = run.SpecOf(visit).action;
  if (const auto* http = std::get_if<HttpAction>(&action)) return Order(turn, run, visit, *http);
  if (const auto* notify = std::get_if<NotifyAction>(&action))
    return Order(turn, run, visit, *notify);
  if (const auto* condition = std::get_if<ConditionAction>(&action))
    return Order(turn, run, visit, *condition);
  if (const auto* job = std::get_if<JobAction>(&action)) StartChild(turn, run, visit, *job);
}

void StopServerWork(Turn& turn, const OpenVisit& visit) {
  for (const auto& [ordinal, attempt] : visit.attempts)
    if (!attempt.key.host) turn.AskServer(StopServerOrder{attempt.key});
}

void LoseServerWork(Turn& turn, OpenRun& run, OpenVisit& visit) {
  visit.server_lost = false;
  TaskEnd end;
  end.state = TaskState::kLost;
  end.reason = "the server was restarted while it did this";
  EndServerAttempt(turn, run, visit, end);
}

void Decide(Turn& turn, const ServerReport& command) {
  if (TakeNoticeReport(turn, command)) return;
  const auto run = turn.state.runs.open.find(command.task.run);
  if (run == turn.state.runs.open.end()) return;
  const auto visit = run->second.visits.find(command.task.visit);
  if (visit == run->second.visits.end()) return;
  const auto attempt = visit->second.attempts.find(0);
  if (attempt == visit->second.attempts.end() || attempt->second.key != command.task) return;
  EndServerAttempt(turn, run->second, visit->second, command.end);
}

void OnRunEnd(Turn& turn, OpenRun& child) {
  if (!child.run.parent) return;
  const auto parent = turn.state.runs.open.find(child.run.parent);
  if (parent == turn.state.runs.open.end()) return;
  const auto found = parent->second.visits.find(child.run.parent_visit);
  if (found == parent->second.visits.end() || found->second.record.child != child.run.id) return;
  OpenVisit& visit = found->second;
  if (visit.ends_as) return;  // it was skipped, and its child stopped for that
  StageVisit& record = visit.record;
  // The child's hosts are the visit's, in the same order.
  std::map<TaskState, Ordinals> results;
  for (std::uint32_t i = 0; i < visit.hosts.size() && i < child.hosts.size(); ++i) {
    const TaskState result = ResultOf(child, i);
    if (result != TaskState::kSucceeded) record.dropped.Insert(visit.hosts[i]);
    results[result].Insert(visit.hosts[i]);
  }
  record.results.assign(results.begin(), results.end());
  for (const auto& [state, hosts] : record.results) record.counts[state] += hosts.Count();
  visit.ends_as = StateFrom(child.run.state);
  if (*visit.ends_as != StageState::kSucceeded)
    record.reason =
        fmt::format("run {} ended as {}", FormatRunId(child.run.id), Name(child.run.state));
  turn.Wake(parent->second);
}

}  // namespace muster::engine
