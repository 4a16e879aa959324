#include <boost/json.hpp>

#include "adapters/crypto/digest.hpp"
#include "base/text.hpp"
#include "domain/host_ranges.hpp"
#include "server/api/caller.hpp"
#include "server/api/fields.hpp"
#include "server/api/frozen.hpp"
#include "server/api/job_book.hpp"
#include "server/api/resolve.hpp"
#include "server/api/routes.hpp"
#include "server/api/secret_warnings.hpp"
#include "server/api/shares.hpp"
#include "server/api/starting.hpp"

// Starts of jobs.
namespace muster::server::api {
namespace {

namespace json = boost::json;

struct StartRequest {
  std::vector<std::pair<std::string, std::string>> params;
  std::string targets;
  std::string exclude;
  std::string reason;
  bool dry_run = false;
  bool during_freeze = false;
  bool include_maintenance = false;
  bool require_all = false;
};

Result<StartRequest> ReadRequest(const Call& call) {
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
  if (auto done = fields.Rest(); !done) return Fail(done.error());
  return request;
}

void AnswerDryRun(Services& services, Call& call, const RunSpec& spec, const Resolved& resolved,
                  const std::vector<std::string>& warnings) {
  json::object answer = HostsView(resolved);
  AddWarnings(answer, warnings);
  const auto hosts = static_cast<std::uint32_t>(resolved.targets->size());
  json::array stages;
  for (const auto& stage : spec.stages) {
    json::object view{{"name", stage.name}, {"action", ActionName(stage)}};
    view["parent"] = stage.parent ? json::value(spec.stages[*stage.parent].name) : json::value();
    view["batches"] = BatchesView(stage.batches, hosts);
    if (!stage.batches.Empty()) {
      view["max_failures"] = FormatHostShare(stage.max_failures);
      view["max_unreachable"] = stage.max_unreachable
                                    ? json::value(FormatHostShare(*stage.max_unreachable))
                                    : json::value();
      view["on_limit"] = stage.on_limit == OnLimit::kPause ? "pause" : "fail";
    }
    stages.push_back(std::move(view));
  }
  answer["job"] = spec.job;
  answer["version"] = spec.version;
  answer["stages"] = std::move(stages);
  answer["shares"] = SharesView(services, *resolved.targets);
  answer["hindrances"] = HindrancesView(services, spec.job, *resolved.targets);
  call.Json(200, answer);
}

void StartJob(Services& services, const CallPtr& call) {
  auto request = ReadRequest(*call);
  if (!request) return call->Fail(request.error());
  const auto key = ReadKey(services, *call, request->dry_run);
  if (!key) return call->Fail(key.error());
  JobBook book(services.store);
  auto spec = book.PlanOf(call->Part("name"), request->params);
  Result<Resolved> resolved = Fail(ErrorCode::kInternal, "");
  if (spec) {
    if (!request->targets.empty()) spec->targets = request->targets;
    if (spec->targets.empty())
      return call->Fail(
          400, "invalid",
          fmt::format("job '{}' does not say its targets; say them, with -t", call->Part("name")));
    resolved =
        ResolveTargets(services, spec->targets, request->exclude, {.declared = true}, call.get());
  }
  // A known key answers with its run, whatever became of the job and the hosts since.
  if (!key->known.value) {
    if (!spec) return call->Fail(spec.error());
    if (!resolved) return FailResolve(*call, resolved.error());
    const auto fits =
        CheckHosts(services, (*book.Find(spec->job))->document, resolved->targets->size());
    if (!fits) return call->Fail(422, "too_many_hosts", fits.error().message);
    if (const auto there = CheckSecrets(services, *spec); !there) return call->Fail(there.error());
  }
  std::vector<std::string> warnings;
  if (spec && resolved)
    warnings = SecretWarnings(services, {.plan = *spec,
                                         .targets = spec->targets,
                                         .exclude = request->exclude,
                                         .hosts = resolved->targets.get()});
  if (resolved) WarnOfCopies(*resolved, warnings);
  if (request->dry_run) return AnswerDryRun(services, *call, *spec, *resolved, warnings);
  engine::StartRun command{.caller = CallerOf(*call),
                           .key = key->key,
                           .body_sha256 = ToHex(crypto::Sha256(call->request().body)),
                           .known = key->known,
                           .spec = {},
                           .targets = std::make_shared<const Targets>(),
                           .reason = std::move(request->reason),
                           .during_freeze = request->during_freeze,
                           .include_maintenance = request->include_maintenance,
                           .require_all = request->require_all};
  if (spec) command.spec = std::move(*spec);
  if (resolved) {
    command.targets = resolved->targets;
    command.names = FoldedNames(*resolved->targets);
    command.never_joined = NeverJoinedText(*resolved);
    command.frozen = CountFrozen(services, *resolved->targets);
  }
  AskToStart(services, call, std::move(command), std::move(warnings));
}

}  // namespace

std::vector<Route> JobRoutes(Services& services) {
  return {
      {"POST", "/api/v1/jobs/{name}/start", Privilege::kOperate,
       [&services](const CallPtr& call) { StartJob(services, call); }},
  };
}

}  // namespace muster::server::api
