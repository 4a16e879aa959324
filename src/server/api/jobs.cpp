#include "server/api/job_start.hpp"
#include "server/api/routes.hpp"
#include "server/planning/job_book.hpp"

// Starts of jobs.
namespace muster::server::api {
namespace {

void StartJob(Services& services, const CallPtr& call) {
  auto request = ReadStartRequest(*call, Versions::kNone);
  if (!request) return call->Fail(request.error());
  auto key = ReadKey(services, *call, request->dry_run);
  if (!key) return call->Fail(key.error());
  JobBook book(services.store);
  Planned planned{.spec = book.PlanOf(call->Part("name"), request->params)};
  if (auto& spec = planned.spec; spec) {
    if (!request->targets.empty()) spec->targets = request->targets;
    if (spec->targets.empty())
      return call->Fail(
          400, "invalid",
          fmt::format("job '{}' does not say its targets; say them, with -t", call->Part("name")));
    planned.envelopes.push_back(&(*book.Find(spec->job))->document);
  }
  StartPlanned(services, call, std::move(*request), std::move(*key), std::move(planned));
}

}  // namespace

std::vector<Route> JobRoutes(Services& services) {
  return {
      {"POST", "/api/v1/jobs/{name}/start", Privilege::kOperate,
       [&services](const CallPtr& call) { StartJob(services, call); }},
      {"POST", "/api/v1/runs/{id}/rerun", Privilege::kOperate,
       [&services](const CallPtr& call) { RerunRun(services, call); }},
  };
}

}  // namespace muster::server::api
