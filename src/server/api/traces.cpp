#include <boost/json.hpp>

#include "server/api/routes.hpp"
#include "server/traces/otlp.hpp"
#include "server/traces/trace.hpp"

namespace muster::server::api {
namespace {

void ShowTrace(Services& services, const CallPtr& call) {
  const auto id = ParseRunId(call->Part("id"));
  if (!id) return call->Fail(id.error());
  const auto tasks = call->QueryNumber("tasks", TraceScope().tasks, 0, TraceScope::kMostTasks);
  if (!tasks) return call->Fail(tasks.error());
  auto trace = ReadTrace(services.store, *id, {.tasks = *tasks});
  if (!trace) return call->Fail(trace.error());
  call->Json(200, OtlpView({std::move(*trace)}, services.server));
}

}  // namespace

std::vector<Route> TraceRoutes(Services& services) {
  return {
      {"GET", "/api/v1/runs/{id}/trace", Privilege::kView,
       [&services](const CallPtr& call) { ShowTrace(services, call); }, kOnRecord},
  };
}

}  // namespace muster::server::api
