#include <algorithm>
#include <optional>

#include "domain/approvals.hpp"
#include "domain/no_such_run.hpp"
#include "server/api/file_request.hpp"
#include "server/api/job_start.hpp"
#include "server/planning/job_book.hpp"
#include "server/planning/plans.hpp"
#include "server/planning/pushed_files.hpp"

namespace muster::server::api {
namespace {

using Given = std::vector<std::pair<std::string, std::string>>;

// The run's parameters under those of the caller.
Given ParamsWith(Given given, const Given& over) {
  for (const auto& [name, value] : over) {
    const auto found = std::ranges::find(given, name, &Given::value_type::first);
    if (found == given.end())
      given.emplace_back(name, value);
    else
      found->second = value;
  }
  return given;
}

// An older version may be started again only if it asks for all that the newest one asks for: a
// rerun must not go around an approval that was added since.
Result<> CheckApprovals(JobBook& newest, const RunSpec& plan) {
  const auto latest = newest.PlanOf(plan.job, {}, JobBook::Missing::kAllowed);
  if (!latest) return Fail(latest.error());
  if (!HoldsApproval(*latest) || AsksAlike(*latest, plan)) return {};
  return Fail(ErrorCode::kDenied,
              "version {} of job '{}' asks for approvals that version {} does not ask for in the "
              "same way; start the newest version: --version latest",
              latest->version, plan.job, plan.version);
}

// The plan of the job that the run was started from. `book` gets the version, `newest` the newest.
Result<RunSpec> JobPlan(JobBook& book, JobBook& newest, const Run& run,
                        const StartRequest& request) {
  const std::string& name = run.spec.job;
  const auto latest = newest.Find(name);
  if (!latest) return Fail(latest.error());
  if (*latest == nullptr) return Fail(ErrorCode::kNotFound, "there is no job '{}' any more", name);
  const bool older = request.version.empty() && run.spec.version != (*latest)->version;
  if (older)
    if (auto pinned = book.Pin(name, run.spec.version); !pinned) return Fail(pinned.error());
  const auto job = book.Find(name);
  if (!job) return Fail(job.error());
  auto plan = book.PlanOf(name, ParamsWith(ParamsOf(run, (*job)->document), request.params));
  if (!plan) return plan;
  if (older)
    if (auto same = CheckApprovals(newest, *plan); !same) return Fail(same.error());
  return plan;
}

// What a command was asked to do, as it was before it was started.
Result<RunSpec> CommandPlan(Services& services, const Run& run, const StartRequest& request) {
  if (!request.params.empty() || !request.version.empty())
    return Fail(ErrorCode::kInvalid,
                "run {} was not started from a job, so it has no parameters and versions",
                FormatRunId(run.id));
  RunSpec spec = run.spec;
  spec.left_out.clear();
  for (auto& stage : spec.stages) {
    const Command* command = CommandOf(stage);
    if (command == nullptr) continue;
    if (command->push)
      if (auto there = CheckArtifacts(*command->push, services.artifacts); !there)
        return Fail(there.error());
    if (command->max_output != OutputShare(run.hosts)) continue;
    Command fresh = *command;
    fresh.max_output = Command::kShareOfRun;
    stage.action = std::make_shared<const Command>(std::move(fresh));
  }
  return spec;
}

}  // namespace

void RerunRun(Services& services, const CallPtr& call) {
  const auto id = ParseRunId(call->Part("id"));
  if (!id) return call->Fail(id.error());
  auto request = ReadStartRequest(*call, Versions::kLatest);
  if (!request) return call->Fail(request.error());
  auto key = ReadKey(services, *call, request->dry_run);
  if (!key) return call->Fail(key.error());
  const auto known = services.store.FindRun(*id);
  if (!known) return call->Fail(known.error());
  if (!known->value) return call->Fail(NoSuchRun(*id));
  const Run& run = *known->value;
  if (run.parent)
    return call->Fail(409, "conflict",
                      fmt::format("run {} was started by a stage of {}; rerun that one, or start "
                                  "the job '{}'",
                                  FormatRunId(run.id), FormatRunId(run.parent), run.spec.job));
  JobBook book(services.store);
  JobBook newest(services.store);
  Planned planned{.spec = run.spec.job.empty() ? CommandPlan(services, run, *request)
                                               : JobPlan(book, newest, run, *request),
                  .envelopes = {}};
  if (planned.spec)
    planned.spec->targets = request->targets.empty() ? run.spec.targets : request->targets;
  // On the audit trail, before the caller's own words.
  request->reason = fmt::format("rerun of {}{}{}", FormatRunId(run.id),
                                request->reason.empty() ? "" : ": ", request->reason);
  for (JobBook* one : {&book, &newest}) {
    if (!planned.spec || run.spec.job.empty()) break;
    const auto job = one->Find(run.spec.job);
    if (!job) return call->Fail(job.error());
    if (*job != nullptr) planned.envelopes.push_back(&(*job)->document);
  }
  StartPlanned(services, call, std::move(*request), std::move(*key), std::move(planned));
}

}  // namespace muster::server::api
