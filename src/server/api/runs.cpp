#include <algorithm>

#include <boost/json.hpp>

#include "adapters/crypto/digest.hpp"
#include "base/text.hpp"
#include "domain/no_such_run.hpp"
#include "server/api/caller.hpp"
#include "server/api/file_request.hpp"
#include "server/api/former_hosts.hpp"
#include "server/api/frozen.hpp"
#include "server/api/known_hosts.hpp"
#include "server/api/notices.hpp"
#include "server/api/routes.hpp"
#include "server/api/run_match.hpp"
#include "server/api/run_prefix.hpp"
#include "server/api/run_request.hpp"
#include "server/api/shares.hpp"
#include "server/api/starting.hpp"
#include "server/api/views.hpp"
#include "server/api/warnings_view.hpp"
#include "server/planning/pushed_files.hpp"
#include "server/planning/resolve.hpp"
#include "server/planning/secret_warnings.hpp"

namespace muster::server::api {
namespace {

namespace json = boost::json;

constexpr std::size_t kListedAtOnce = 25;  // a run may have 1,000 stages
constexpr std::size_t kLookedAtOnce = 100;
constexpr std::size_t kMostListBytes = 4 << 20;  // bytes of a list; then it ends after that run

void AnswerDryRun(Services& services, Call& call, const RunRequest& request, Resolved& resolved,
                  const std::vector<std::string>& warnings) {
  auto hindrances =
      HindrancesView(services, request.spec, *resolved.targets, request.during_freeze);
  if (!LeaveOutAsStart(services, call,
                       {.during_freeze = request.during_freeze,
                        .include_maintenance = request.include_maintenance,
                        .require_all = request.require_all},
                       resolved))
    return;
  json::object answer = HostsView(resolved);
  AddWarnings(answer, warnings);
  const StageSpec& stage = request.spec.stages.front();
  answer["batches"] =
      BatchesView(stage.batches, static_cast<std::uint32_t>(resolved.targets->size()));
  AddLimits(stage, answer);
  answer["shares"] = SharesView(services, *resolved.targets);
  answer["hindrances"] = std::move(hindrances);
  call.Json(200, answer);
}

void StartRun(Services& services, const CallPtr& call) {
  const auto body = call->Body();
  if (!body) return call->Fail(body.error());
  bool too_large = false;
  auto request = ReadRunRequest(*body, too_large);
  if (!request)
    return too_large ? call->Fail(413, "too_large", request.error().message)
                     : call->Fail(request.error());
  const auto flag = call->QueryFlag("dry_run");
  if (!flag) return call->Fail(flag.error());
  const bool dry_run = *flag;
  for (const auto& stage : request->spec.stages)
    if (const Command* command = CommandOf(stage); command != nullptr && command->push && !dry_run)
      if (auto there = CheckArtifacts(*command->push, services.artifacts); !there)
        return call->Fail(there.error());
  auto key = ReadKey(services, *call, dry_run);
  if (!key) return call->Fail(key.error());
  auto resolved =
      ResolveTargets(services.inventory(), request->spec.targets, request->exclude,
                     {.ignore_missing = request->ignore_missing, .declared = true}, GoOnFor(*call));
  // A known key answers with its run, even when the hosts of then are gone now.
  if (!resolved && !key->known.value) return FailResolve(*call, resolved.error());
  if (!key->known.value)
    if (const auto there = CheckSecrets(services.store, request->spec, SecretHints::kNearest);
        !there)
      return call->Fail(there.error());
  std::vector<std::string> warnings;
  if (resolved)
    warnings = SecretWarnings(services.store, services.live,
                              {.plan = request->spec,
                               .targets = request->spec.targets,
                               .exclude = request->exclude,
                               .hosts = resolved->targets.get()});
  if (resolved) WarnOfCopies(*resolved, warnings);
  if (dry_run) return AnswerDryRun(services, *call, *request, *resolved, warnings);
  request->spec.targets = TargetsWithout(request->spec.targets, request->exclude);
  std::string names;
  std::string left_out;
  engine::FrozenHosts frozen;
  if (resolved) {
    left_out = LeftOutText(*resolved);
    names = FoldedNames(*resolved->targets);
    frozen =
        CountFrozen(services.inventory(), services.engine.GetStatus().freezes, *resolved->targets);
  }
  AskToStart(
      services, call,
      engine::StartRun{.caller = CallerOf(*call),
                       .key = key->key,
                       .body_sha256 = ToHex(crypto::Sha256(call->request().body)),
                       .known = std::move(key->known),
                       .spec = std::move(request->spec),
                       .targets = resolved ? resolved->targets : std::make_shared<const Targets>(),
                       .names = std::move(names),
                       .reason = std::move(request->reason),
                       .during_freeze = request->during_freeze,
                       .include_maintenance = request->include_maintenance,
                       .require_all = request->require_all,
                       .never_joined = std::move(left_out),
                       .frozen = std::move(frozen)},
      std::move(warnings));
}

void AddRow(Services& services, const Run& run, CommitNumber commit, std::string& text) {
  if (!text.ends_with('[')) text += ',';
  text += json::serialize(
      RunView(run, services.live.FindRun(run.id), services.live.LogsOpen(run.id), commit, false));
}

std::string PageEnd(RunId next) {
  if (!next) return "],\"next\":null}\n";
  return fmt::format("],\"next\":\"{}\"}}\n", FormatRunId(next));
}

constexpr const char* kPageBegin = R"({"runs":[)";

// The answer as it is sent: as values, many runs of many stages would take ten times as much.
Result<std::string> RunsText(Services& services, const Call& call, const std::vector<HostId>& hosts,
                             const RunsAsked& asked, RunId before, std::size_t limit) {
  const auto fence = services.store.ReadFence();
  const CommitNumber commit = fence ? fence->number : CommitNumber{};
  std::string text = kPageBegin;
  RunMatch match(services.store, asked, [&] { return call.GoesOn(); });
  for (std::size_t listed = 0; listed < limit && !match.Spent();) {
    const std::size_t page =
        asked.Looks() ? kLookedAtOnce : std::min(kListedAtOnce, limit - listed);
    const auto runs = ListRunsOf(services.store, hosts, asked.filter, before, page,
                                 [&] { return call.GoesOn(); });
    if (!runs) return Fail(runs.error());
    for (const auto& run : *runs) {
      before = run.id;
      const auto fits = match.Fits(run);
      if (!fits) return Fail(fits.error());
      if (*fits) AddRow(services, run, commit, text);
      if (*fits && ++listed == limit) break;
      if (text.size() >= kMostListBytes || match.Spent()) break;
    }
    if (text.size() >= kMostListBytes || listed == limit) break;
    if (runs->size() < page) return text + PageEnd(RunId());
    if (const auto on = call.GoesOn(); !on) return Fail(on.error());
  }
  return text + PageEnd(before);
}

// Adds rows of the range below `before` until there are `limit`; how many there are now.
Result<std::size_t> AddRange(Services& services, const std::vector<HostId>& hosts, const Call& call,
                             const RunFilter& filter, const RunIdRange& range, RunId& before,
                             std::size_t listed, std::size_t limit, CommitNumber commit,
                             std::string& text) {
  // Stores count in signed numbers; above them there is no run, so nothing is passed over.
  const bool bounded = range.last.value < static_cast<std::uint64_t>(INT64_MAX);
  RunId from = bounded ? RunId(range.last.value + 1) : RunId();
  if (before && (!from || before < from)) from = before;
  while ((!from || range.first < from) && listed < limit && text.size() < kMostListBytes) {
    const std::size_t page = std::min(kListedAtOnce, limit - listed);
    const auto runs =
        ListRunsOf(services.store, hosts, filter, from, page, [&] { return call.GoesOn(); });
    if (!runs) return Fail(runs.error());
    for (const auto& run : *runs) {
      if (run.id < range.first) return listed;
      AddRow(services, run, commit, text);
      ++listed;
      before = from = run.id;
      if (text.size() >= kMostListBytes) return listed;
    }
    if (runs->size() < page) return listed;
    if (const auto on = call.GoesOn(); !on) return Fail(on.error());
  }
  return listed;
}

// Of runs whose ids begin as asked.
Result<std::string> BeginningText(Services& services, const Call& call,
                                  const std::vector<HostId>& hosts, const RunsAsked& asked,
                                  RunId before, std::size_t limit) {
  const auto fence = services.store.ReadFence();
  const CommitNumber commit = fence ? fence->number : CommitNumber{};
  std::string text = kPageBegin;
  std::size_t listed = 0;
  for (const auto& range : RunIdsBeginning(asked.prefix)) {
    const auto more =
        AddRange(services, hosts, call, asked.filter, range, before, listed, limit, commit, text);
    if (!more) return Fail(more.error());
    listed = *more;
    if (listed == limit || text.size() >= kMostListBytes) return text + PageEnd(before);
  }
  return text + PageEnd(RunId());
}

Result<std::string> AwaitingText(Services& services, const Call& call, const RunsAsked& asked,
                                 RunId before, std::size_t limit) {
  const auto fence = services.store.ReadFence();
  const CommitNumber commit = fence ? fence->number : CommitNumber{};
  const auto runs = RunsAwaiting(services, call, asked, before, limit);
  if (!runs) return Fail(runs.error());
  std::string text = kPageBegin;
  for (const auto& run : *runs) AddRow(services, run, commit, text);
  return text + PageEnd(runs->size() < limit ? RunId() : runs->back().id);
}

void ListRuns(Services& services, const CallPtr& call) {
  const auto asked = ReadRunsAsked(*call);
  if (!asked) return call->Fail(asked.error());
  const auto limit = call->QueryNumber("limit", 50, 1, 500);
  if (!limit) return call->Fail(limit.error());
  RunId before;
  if (const auto& cursor = call->Query("cursor"); !cursor.empty()) {
    const auto id = ParseRunId(cursor);
    if (!id) return call->Fail(400, "invalid", "cursor: use the 'next' of the page before");
    before = *id;
  }
  const auto hosts = HostsAsked(services, *call);
  if (!hosts) return call->Fail(hosts.error());
  auto text = asked->awaiting_me ? AwaitingText(services, *call, *asked, before, *limit)
              : !asked->prefix.empty()
                  ? BeginningText(services, *call, *hosts, *asked, before, *limit)
                  : RunsText(services, *call, *hosts, *asked, before, *limit);
  if (!text) return call->Fail(text.error());
  call->Text(200, "application/json", std::move(*text));
}

void ShowRun(Services& services, const CallPtr& call) {
  const auto id = ParseRunId(call->Part("id"));
  if (!id) return call->Fail(id.error());
  // The live view first: a run that ends between the two reads is then found ended in the store.
  auto live = services.live.FindRun(*id);
  const auto run = services.store.FindRun(*id);
  if (!run) return call->Fail(run.error());
  if (!run->value) return call->Fail(NoSuchRun(*id));
  call->Json(200,
             RunView(*run->value, std::move(live), services.live.LogsOpen(*id), run->commit, true));
}

void StopRun(Services& services, const CallPtr& call) {
  const auto id = ParseRunId(call->Part("id"));
  if (!id) return call->Fail(id.error());
  const auto body =
      call->request().body.empty() ? Result<json::object>(json::object{}) : call->Body();
  if (!body) return call->Fail(body.error());
  engine::StopRun command{.caller = CallerOf(*call),
                          .run = *id,
                          .host = {},
                          .grace = std::chrono::seconds(10),
                          .reason = {},
                          .known = {}};
  for (const auto& field : *body) {
    const std::string name(field.key());
    if (name == "grace_ms" && field.value().is_number()) {
      boost::system::error_code problem;
      const auto ms = field.value().to_number<std::int64_t>(problem);
      if (problem || ms < 0 || ms > 86'400'000)
        return call->Fail(400, "invalid", "grace_ms: expected milliseconds, at most a day");
      command.grace = Duration(ms);
    } else if (name == "reason" && field.value().is_string()) {
      if (const auto fits = CheckReason(field.value().as_string()); !fits)
        return call->Fail(fits.error());
      command.reason = field.value().as_string();
    } else if (name == "host" && field.value().is_string()) {
      const std::string host(field.value().as_string());
      if (host.empty()) continue;
      command.host = services.live.HostIdOf(host);
      if (!command.host) return call->Fail(NoSuchHost(services.live, host));
    } else {
      return call->Fail(400, "invalid",
                        fmt::format("unknown field '{}'; expected host, grace_ms, reason", name));
    }
  }
  // Only for how a run ended. One that is open is stopped also if its record cannot be read.
  auto known = services.store.FindRun(*id);
  if (known)
    command.known = std::move(*known);
  else if (!services.live.FindRun(*id))
    return call->Fail(known.error());
  services.engine.Ask(std::move(command), [call](const Result<engine::RunStopping>& answer) {
    if (!answer) return call->Fail(answer.error());
    call->Json(202, {{"id", FormatRunId(answer->run)}, {"state", Name(answer->state)}});
  });
}

void AnswerWhy(Services& services, Call& call, RunId run, json::array lines, json::array waiting) {
  const auto notices = services.channel_book.OfRun(run);
  AddNoticeLines(notices, services.clock.Read().wall, lines);
  call.Json(200, {{"lines", std::move(lines)},
                  {"waiting", std::move(waiting)},
                  {"notices", NoticesView(notices)}});
}

void Why(Services& services, const CallPtr& call) {
  const auto id = ParseRunId(call->Part("id"));
  if (!id) return call->Fail(id.error());
  engine::AskWhy command{.caller = CallerOf(*call), .run = *id, .host = {}};
  if (const auto& host = call->Query("host"); !host.empty()) {
    command.host = services.live.HostIdOf(host);
    if (!command.host) return call->Fail(NoSuchHost(services.live, host));
  }
  const auto run = services.store.FindRun(*id);
  if (run && !run->value) return call->Fail(NoSuchRun(*id));
  if (run && IsFinal(run->value->state)) {
    json::array lines{
        fmt::format("run {} ended: {}{}", FormatRunId(*id), Name(run->value->state),
                    run->value->reason.empty() ? "" : " (" + run->value->reason + ")")};
    return AnswerWhy(services, *call, *id, std::move(lines), {});
  }
  services.engine.Ask(
      std::move(command), [&services, call, id](const Result<engine::WhyAnswer>& why) {
        if (!why) return call->Fail(why.error());
        json::array lines(why->summary.begin(), why->summary.end());
        json::array waiting;
        for (const auto& line : why->waiting)
          waiting.push_back(json::object{
              {"host", line.host}, {"state", Name(line.state)}, {"because", line.because}});
        AnswerWhy(services, *call, *id, std::move(lines), std::move(waiting));
      });
}

}  // namespace

std::vector<Route> RunRoutes(Services& services) {
  return {
      {"POST", "/api/v1/runs", Privilege::kOperate,
       [&services](const CallPtr& call) { StartRun(services, call); }},
      {"GET", "/api/v1/runs", Privilege::kView,
       [&services](const CallPtr& call) { ListRuns(services, call); }, !kOnRecord, kUrgent},
      {"GET", "/api/v1/runs/{id}", Privilege::kView,
       [&services](const CallPtr& call) { ShowRun(services, call); }},
      {"POST", "/api/v1/runs/{id}/stop", Privilege::kOperate,
       [&services](const CallPtr& call) { StopRun(services, call); }, !kOnRecord, kUrgent},
      {"GET", "/api/v1/runs/{id}/why", Privilege::kView,
       [&services](const CallPtr& call) { Why(services, call); }},
  };
}

}  // namespace muster::server::api
