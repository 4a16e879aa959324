// What became of a run, at a cost and size that do not grow with its hosts.

#include <boost/json.hpp>

#include "adapters/crypto/digest.hpp"
#include "base/text.hpp"
#include "domain/no_such_run.hpp"
#include "server/api/routes.hpp"
#include "server/api/run_groups.hpp"
#include "server/api/run_summary.hpp"

namespace muster::server::api {
namespace {

void Summary(Services& services, const CallPtr& call) {
  const auto id = ParseRunId(call->Part("id"));
  if (!id) return call->Fail(id.error());
  // The live view first: a run that ends between the two reads is then found ended in the store.
  auto live = services.live.FindRun(*id);
  if (live && live->run && !IsFinal(live->state))
    return call->Json(200, SummaryView(*live->run, live, live->logs_open, live->commit));
  const auto run = services.store.FindRun(*id);
  if (!run) return call->Fail(run.error());
  if (!run->value) return call->Fail(NoSuchRun(*id));
  if (live && IsFinal(run->value->state)) live = services.live.FindRun(*id);
  call->Json(200, SummaryView(*run->value, live, services.live.LogsOpen(*id), run->commit));
}

Result<RunResults::GroupBy> GroupByOf(const Call& call) {
  const auto& by = call.Query("by");
  const auto masked = call.QueryFlag("masked");
  if (!masked) return Fail(masked.error());
  if (by.empty() || by == "output")
    return *masked ? RunResults::GroupBy::kMaskedOutput : RunResults::GroupBy::kOutput;
  if (by != "outcome") return Fail(ErrorCode::kInvalid, "by: expected output or outcome");
  if (*masked) return Fail(ErrorCode::kInvalid, "masked: outputs do not count with by=outcome");
  return RunResults::GroupBy::kOutcome;
}

void Groups(Services& services, const CallPtr& call) {
  const auto id = ParseRunId(call->Part("id"));
  if (!id) return call->Fail(id.error());
  const auto by = GroupByOf(*call);
  if (!by) return call->Fail(by.error());
  const auto grouped = services.results.GroupsOf({*id, call->Query("stage")}, *by, kMostGroups);
  if (!grouped) return call->Fail(grouped.error());
  call->Json(200, GroupsView(*grouped));
}

void States(Services& services, const CallPtr& call) {
  const auto id = ParseRunId(call->Part("id"));
  if (!id) return call->Fail(id.error());
  auto states = services.results.StatesOf({*id, call->Query("stage")});
  if (!states) return call->Fail(states.error());
  const std::string tag = "\"" + ToHex(crypto::Sha256(*states)).substr(0, 16) + "\"";
  if (net::FindHeader(call->request().headers, "If-None-Match") == tag)
    return call->Text(304, "application/octet-stream", "", {{"ETag", tag}});
  call->Text(200, "application/octet-stream", std::move(*states), {{"ETag", tag}});
}

}  // namespace

std::vector<Route> ResultRoutes(Services& services) {
  return {
      {"GET", "/api/v1/runs/{id}/summary", Privilege::kView,
       [&services](const CallPtr& call) { Summary(services, call); }},
      {"GET", "/api/v1/runs/{id}/groups", Privilege::kView,
       [&services](const CallPtr& call) { Groups(services, call); }},
      {"GET", "/api/v1/runs/{id}/states", Privilege::kView,
       [&services](const CallPtr& call) { States(services, call); }},
  };
}

}  // namespace muster::server::api
