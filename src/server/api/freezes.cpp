#include <map>
#include <set>

#include <boost/json.hpp>

#include "domain/left_out_text.hpp"
#include "domain/starts_job.hpp"
#include "domain/targets.hpp"
#include "server/api/caller.hpp"
#include "server/api/fields.hpp"
#include "server/api/frozen.hpp"
#include "server/api/routes.hpp"
#include "server/api/views.hpp"
#include "server/planning/known_names.hpp"
#include "server/planning/resolve.hpp"
#include "server/planning/start_hosts.hpp"

// What holds work back on somebody's word: freezes, and hosts in maintenance.
namespace muster::server::api {
namespace {

namespace json = boost::json;

constexpr std::uint32_t kMostFreezeSeconds = 366 * 86'400;

json::object FreezeView(const Freeze& freeze) {
  return {{"id", FormatFreezeId(freeze.id)}, {"scope", Name(freeze.scope)},
          {"targets", freeze.targets},       {"job", freeze.job},
          {"reason", freeze.reason},         {"by", freeze.by},
          {"at", TimeView(freeze.at)},       {"until", TimeView(freeze.until)}};
}

json::object FreezesView(const std::vector<Freeze>& freezes, WallTime now) {
  json::array list;
  for (const auto& freeze : freezes)
    if (!freeze.OverAt(now)) list.push_back(FreezeView(freeze));
  return {{"freezes", std::move(list)}};
}

WallTime After(const Services& services, const std::optional<std::uint32_t>& seconds) {
  return seconds ? services.clock.Read().wall + std::chrono::seconds(*seconds) : WallTime{};
}

void ListFreezes(Services& services, const CallPtr& call) {
  call->Json(200, FreezesView(services.engine.GetStatus().freezes, services.clock.Read().wall));
}

Result<Freeze> ReadFreeze(Services& services, const Call& call) {
  auto fields = Fields::Of(call);
  if (!fields) return Fail(fields.error());
  Freeze freeze;
  std::string scope = "all";
  std::optional<std::uint32_t> seconds;
  auto read = fields->Text("scope", scope)
                  .Text("targets", freeze.targets)
                  .Text("job", freeze.job)
                  .Reason("reason", freeze.reason)
                  .Number("for_seconds", seconds, 1, kMostFreezeSeconds)
                  .Rest();
  if (!read) return Fail(read.error());
  const auto known = ParseFreezeScope(scope);
  if (!known)
    return Fail(ErrorCode::kInvalid, "scope: '{}' is not one of triggers, events, all", scope);
  freeze.scope = *known;
  if (freeze.reason.empty())
    return Fail(ErrorCode::kInvalid, "reason: say why; everyone who is refused reads it");
  // A mistake would freeze nothing, and nobody would see it. That a label, say, is of no host now
  // is none.
  if (!freeze.job.empty()) {
    const auto job = services.store.FindDocument("job", freeze.job, 0);
    if (!job) return Fail(job.error());
    if (!*job)
      return Fail(ErrorCode::kInvalid, "there is no job '{}'{}; see 'muster get jobs'", freeze.job,
                  DidYouMean(services.store, "job", freeze.job));
  }
  if (!freeze.targets.empty()) {
    const auto hosts = ResolveTargets(services.inventory(), freeze.targets, "",
                                      {.allow_none = true}, GoOnFor(call));
    if (!hosts) return Fail(hosts.error());
  }
  freeze.until = After(services, seconds);
  return freeze;
}

void AnswerFreezes(const CallPtr& call, const Result<engine::FreezeAnswer>& answer, int status) {
  if (!answer) return call->Fail(answer.error());
  call->Json(status, FreezesView(answer->freezes, WallTime{}));
}

void MakeFreeze(Services& services, const CallPtr& call) {
  auto freeze = ReadFreeze(services, *call);
  if (!freeze) return call->Fail(freeze.error());
  services.engine.Ask(
      engine::FreezeRuns{.caller = CallerOf(*call), .freeze = std::move(*freeze)},
      [call](const Result<engine::FreezeAnswer>& answer) { AnswerFreezes(call, answer, 201); });
}

void Thaw(Services& services, const CallPtr& call, std::uint64_t id) {
  auto fields = Fields::Of(*call);
  if (!fields) return call->Fail(fields.error());
  engine::ThawRuns command{.caller = CallerOf(*call), .id = id, .reason = {}};
  if (auto read = fields->Reason("reason", command.reason).Rest(); !read)
    return call->Fail(read.error());
  services.engine.Ask(std::move(command), [call](const Result<engine::FreezeAnswer>& answer) {
    AnswerFreezes(call, answer, 200);
  });
}

void ThawOne(Services& services, const CallPtr& call) {
  const auto id = ParseFreezeId(call->Part("freeze"));
  if (!id) return call->Fail(id.error());
  Thaw(services, call, *id);
}

void Maintain(Services& services, const CallPtr& call) {
  auto fields = Fields::Of(*call);
  if (!fields) return call->Fail(fields.error());
  engine::MaintainHosts command{
      .caller = CallerOf(*call), .targets = {}, .hosts = {}, .maintenance = {}};
  Maintenance maintenance;
  bool end = false;
  std::optional<std::uint32_t> seconds;
  auto read = fields->Text("targets", command.targets)
                  .Bool("end", end)
                  .Reason("reason", maintenance.reason)
                  .Number("for_seconds", seconds, 1, kMostFreezeSeconds)
                  .Rest();
  if (!read) return call->Fail(read.error());
  if (!end && maintenance.reason.empty())
    return call->Fail(400, "invalid",
                      "reason: say why; everyone whose run leaves them out reads it");
  const auto resolved =
      ResolveTargets(services.inventory(), command.targets, "", {}, GoOnFor(*call));
  if (!resolved)
    return resolved.error().code == ErrorCode::kNotFound
               ? call->Fail(404, "no_match", resolved.error().message)
               : call->Fail(resolved.error());
  for (const auto& target : *resolved->targets) command.hosts.push_back(target.host);
  maintenance.until = After(services, seconds);
  if (!end) command.maintenance = std::move(maintenance);
  services.engine.Ask(std::move(command), [call](const Result<engine::HostsLabelled>& answer) {
    if (!answer) return call->Fail(answer.error());
    call->Json(200, {{"hosts", answer->hosts}, {"changed", answer->changed}});
  });
}

}  // namespace

json::array HindrancesView(Services& services, const RunSpec& plan, const Targets& targets,
                           bool during_freeze) {
  json::array lines;
  const WallTime now = services.clock.Read().wall;
  const auto status = services.engine.GetStatus();
  const auto frozen = CountFrozen(services.inventory(), status.freezes, targets);
  for (const auto& freeze : status.freezes) {
    if (during_freeze || freeze.OverAt(now) || freeze.scope != FreezeScope::kAll) continue;
    if (!freeze.job.empty() && !StartsJob(plan, freeze.job)) continue;
    const auto hosts = frozen.find(freeze.id);
    if (hosts != frozen.end() && hosts->second == 0) continue;
    lines.emplace_back("frozen by " + Describe(freeze));
  }
  for (const auto& [gate, reason] : status.gates) lines.emplace_back(reason);
  return lines;
}

WithoutMaintained LeaveOutMaintained(Services& services, std::shared_ptr<const Targets> targets) {
  std::map<HostId, Maintenance> maintained;
  const WallTime now = services.clock.Read().wall;
  services.live.WithHosts([&](const std::vector<const Host*>& hosts, const auto&) {
    for (const Host* host : hosts)
      if (host->InMaintenance(now)) maintained.emplace(host->id, *host->maintenance);
  });
  auto left = std::make_shared<Targets>();
  std::vector<std::string> out;
  const Maintenance* why = nullptr;
  for (const auto& target : *targets) {
    const auto found = maintained.find(target.host);
    if (found == maintained.end()) {
      left->push_back(target);
      continue;
    }
    if (why == nullptr) why = &found->second;
    out.push_back(target.name);
  }
  if (why == nullptr) return {.targets = std::move(targets), .left_out = ""};
  return {.targets = std::move(left), .left_out = MaintainedText(out, *why)};
}

std::vector<Route> FreezeRoutes(Services& services) {
  return {
      {"GET", "/api/v1/freezes", Privilege::kView,
       [&services](const CallPtr& call) { ListFreezes(services, call); }},
      {"POST", "/api/v1/freezes", Privilege::kOperate,
       [&services](const CallPtr& call) { MakeFreeze(services, call); }, !kOnRecord, kUrgent},
      {"POST", "/api/v1/freezes/thaw", Privilege::kOperate,
       [&services](const CallPtr& call) { Thaw(services, call, 0); }},
      {"POST", "/api/v1/freezes/{freeze}/thaw", Privilege::kOperate,
       [&services](const CallPtr& call) { ThawOne(services, call); }},
      {"POST", "/api/v1/hosts/maintenance", Privilege::kOperate,
       [&services](const CallPtr& call) { Maintain(services, call); }},
  };
}

}  // namespace muster::server::api
