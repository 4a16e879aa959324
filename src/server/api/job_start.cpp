#include "server/api/job_start.hpp"

#include <boost/json.hpp>

#include "adapters/crypto/digest.hpp"
#include "base/text.hpp"
#include "domain/wrap_batched.hpp"
#include "server/api/caller.hpp"
#include "server/api/fields.hpp"
#include "server/api/frozen.hpp"
#include "server/api/shares.hpp"
#include "server/api/starting.hpp"
#include "server/api/warnings_view.hpp"
#include "server/planning/resolve.hpp"
#include "server/planning/secret_warnings.hpp"

namespace muster::server::api {
namespace {

namespace json = boost::json;

void AnswerDryRun(Services& services, Call& call, const StartWishes& wishes, const RunSpec& spec,
                  Resolved& resolved, const std::vector<std::string>& warnings) {
  auto hindrances = HindrancesView(services, spec, *resolved.targets, wishes.during_freeze);
  if (!LeaveOutAsStart(services, call, wishes, resolved)) return;
  json::object answer = HostsView(resolved);
  AddWarnings(answer, warnings);
  const auto hosts = static_cast<std::uint32_t>(resolved.targets->size());
  json::array stages;
  for (const auto& written : StagesAsWritten(spec)) {
    const StageSpec& stage = spec.stages[written.stage];
    json::object view{{"name", stage.name}, {"action", ActionName(spec.stages[written.work])}};
    view["parent"] = stage.parent ? json::value(spec.stages[*stage.parent].name) : json::value();
    view["batches"] = BatchesView(stage.batches, hosts);
    AddLimits(stage, view);
    stages.push_back(std::move(view));
  }
  answer["job"] = spec.job;
  answer["title"] = spec.title;
  answer["version"] = spec.version;
  answer["stages"] = std::move(stages);
  answer["shares"] = SharesView(services, *resolved.targets);
  answer["hindrances"] = std::move(hindrances);
  call.Json(200, answer);
}

// Whether all that the plan needs is there, and the hosts are within the limits of its job.
// Otherwise the call was answered.
bool CanStart(Services& services, Call& call, const Planned& planned,
              const Result<Resolved>& resolved) {
  if (!planned.spec) return call.Fail(planned.spec.error()), false;
  if (!resolved) return FailResolve(call, resolved.error()), false;
  for (const auto* job : planned.envelopes)
    if (const auto fits = CheckHosts(services.live, *job, resolved->targets->size()); !fits)
      return call.Fail(422, "too_many_hosts", fits.error().message), false;
  if (const auto there = CheckSecrets(services.store, *planned.spec, SecretHints::kNearest); !there)
    return call.Fail(there.error()), false;
  return true;
}

}  // namespace

Result<StartRequest> ReadStartRequest(const Call& call, Versions versions) {
  auto body = call.request().body.empty() ? Result<json::object>(json::object{}) : call.Body();
  if (!body) return Fail(body.error());
  StartRequest request;
  if (const json::value* params = body->if_contains("params")) {
    if (!params->is_object()) return Fail(ErrorCode::kInvalid, "params: expected an object");
    for (const auto& [name, value] : params->as_object()) {
      if (!value.is_string())
        return Fail(ErrorCode::kInvalid, "params.{}: expected a string", std::string_view(name));
      request.params.emplace_back(name, value.as_string());
    }
    body->erase("params");
  }
  Fields fields(std::move(*body));
  fields.Text("targets", request.targets)
      .Text("exclude", request.exclude)
      .Reason("reason", request.reason)
      .Bool("dry_run", request.dry_run)
      .Bool("during_freeze", request.during_freeze)
      .Bool("include_maintenance", request.include_maintenance)
      .Bool("require_all", request.require_all);
  if (versions == Versions::kLatest) fields.Text("version", request.version);
  if (auto done = fields.Rest(); !done) return Fail(done.error());
  if (!request.version.empty() && request.version != "latest")
    return Fail(ErrorCode::kInvalid, "version: expected 'latest'");
  return request;
}

void StartPlanned(Services& services, const CallPtr& call, StartRequest request, StartKey key,
                  Planned planned) {
  auto& spec = planned.spec;
  Result<Resolved> resolved = Fail(ErrorCode::kInternal, "");
  const std::string exclude = request.exclude;
  if (spec)
    resolved = ResolveTargets(services.inventory(), spec->targets, exclude, {.declared = true},
                              GoOnFor(*call));
  if (!key.known.value && !CanStart(services, *call, planned, resolved)) return;
  std::vector<std::string> warnings;
  if (spec && resolved)
    warnings = SecretWarnings(services.store, services.live,
                              {.plan = *spec,
                               .targets = spec->targets,
                               .exclude = exclude,
                               .hosts = resolved->targets.get()});
  if (resolved) WarnOfCopies(*resolved, warnings);
  if (request.dry_run)
    return AnswerDryRun(services, *call,
                        {.during_freeze = request.during_freeze,
                         .include_maintenance = request.include_maintenance,
                         .require_all = request.require_all},
                        *spec, *resolved, warnings);
  engine::StartRun command{.caller = CallerOf(*call),
                           .key = key.key,
                           .body_sha256 = ToHex(crypto::Sha256(call->request().body)),
                           .known = std::move(key.known),
                           .spec = {},
                           .targets = std::make_shared<const Targets>(),
                           .reason = std::move(request.reason),
                           .during_freeze = request.during_freeze,
                           .include_maintenance = request.include_maintenance,
                           .require_all = request.require_all};
  if (spec) command.spec = std::move(*spec);
  command.spec.targets = TargetsWithout(command.spec.targets, exclude);
  if (resolved) {
    command.targets = resolved->targets;
    command.names = FoldedNames(*resolved->targets);
    command.never_joined = LeftOutText(*resolved);
    command.frozen =
        CountFrozen(services.inventory(), services.engine.GetStatus().freezes, *resolved->targets);
  }
  AskToStart(services, call, std::move(command), std::move(warnings));
}

}  // namespace muster::server::api
