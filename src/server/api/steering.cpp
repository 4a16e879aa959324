#include <algorithm>
#include <type_traits>

#include <boost/json.hpp>

#include "domain/approval_id.hpp"
#include "domain/approvers.hpp"
#include "domain/no_such_run.hpp"
#include "server/api/caller.hpp"
#include "server/api/fields.hpp"
#include "server/api/frozen.hpp"
#include "server/api/routes.hpp"
#include "server/api/run_match.hpp"
#include "server/api/starting.hpp"
#include "server/api/views.hpp"
#include "server/planning/plans.hpp"

// What an operator does with a run that is under way, or with one that has ended.
namespace muster::server::api {
namespace {

namespace json = boost::json;

// `targets`: of the run, as they were written.
void AnswerSteered(const CallPtr& call, const engine::RunSteered& steered, const std::string&) {
  call->Json(
      202,
      {{"id", FormatRunId(steered.run)}, {"state", Name(steered.state)}, {"pass", steered.pass}});
}

void AnswerSteered(const CallPtr& call, const engine::RetryRun::Answer& answer,
                   const std::string& targets) {
  if (const auto* closed = std::get_if<engine::GateClosed>(&answer))
    return call->Fail(409, closed->gate, closed->reason);
  if (const auto* planned = std::get_if<engine::PassPlanned>(&answer))
    return call->Json(200, HostsView(*planned->targets, planned->hosts, targets));
  AnswerSteered(call, std::get<engine::RunSteered>(answer), targets);
}

// Of what only an open run takes; a retry is for ended ones, too.
template <typename Command>
Result<> CheckOpen(Services& services, RunId id, RunState state) {
  if (std::is_same_v<Command, engine::RetryRun> || !IsFinal(state) || services.live.IsOpen(id))
    return {};
  return Fail(ErrorCode::kConflict, "run {} already ended ({})", FormatRunId(id), Name(state));
}

// Fills a command from the call and asks the engine. `read` takes the fields of the body.
template <typename Command, typename Read>
void SteerRun(Services& services, const CallPtr& call, Command command, Read read) {
  const auto id = ParseRunId(call->Part("id"));
  if (!id) return call->Fail(id.error());
  const auto known = services.store.FindRun(*id);
  if (!known) return call->Fail(known.error());
  if (!known->value) return call->Fail(NoSuchRun(*id));
  command.caller = CallerOf(*call);
  command.run = *id;
  auto fields = Fields::Of(*call);
  if (!fields) return call->Fail(fields.error());
  if (Result<> taken = read(*fields, command); !taken) return call->Fail(taken.error());
  if (auto rest = fields->Rest(); !rest) return call->Fail(rest.error());
  if (auto open = CheckOpen<Command>(services, *id, known->value->state); !open)
    return call->Fail(open.error());
  const std::string targets = known->value->spec.targets;
  services.engine.Ask(std::move(command),
                      [call, targets](const Result<typename Command::Answer>& answer) {
                        if (!answer) return call->Fail(answer.error());
                        AnswerSteered(call, *answer, targets);
                      });
}

void PauseRun(Services& services, const CallPtr& call) {
  SteerRun(services, call, engine::PauseRun{}, [](Fields& fields, engine::PauseRun& command) {
    return fields.Bool("release", command.release).Reason("reason", command.reason).Done();
  });
}

void Resume(Services& services, const CallPtr& call) {
  SteerRun(services, call, engine::ResumeRun{},
           [](Fields& fields, engine::ResumeRun&) { return fields.Done(); });
}

void Skip(Services& services, const CallPtr& call) {
  SteerRun(services, call, engine::SkipStage{},
           [](Fields& fields, engine::SkipStage& command) -> Result<> {
             auto done =
                 fields.Text("stage", command.stage).Reason("reason", command.reason).Done();
             if (done && command.stage.empty())
               return Fail(ErrorCode::kInvalid, "stage: say which one to skip");
             return done;
           });
}

void Answer(Services& services, const CallPtr& call, bool approved) {
  SteerRun(services, call, engine::AnswerApproval{},
           [approved](Fields& fields, engine::AnswerApproval& command) {
             command.approved = approved;
             return fields.Text("stage", command.stage)
                 .Text("approval", command.approval)
                 .Reason("comment", command.comment)
                 .Done();
           });
}

void Set(Services& services, const CallPtr& call) {
  SteerRun(services, call, engine::SetRun{},
           [](Fields& fields, engine::SetRun& command) -> Result<> {
             std::string max_failures;
             std::string max_unreachable;
             auto done = fields.Text("stage", command.stage)
                             .Number("concurrency", command.concurrency, 0, 1'000'000)
                             .Text("max_failures", max_failures)
                             .Text("max_unreachable", max_unreachable)
                             .Done();
             if (!done) return done;
             for (const auto& [name, text, into] :
                  {std::tuple("max_failures", &max_failures, &command.max_failures),
                   std::tuple("max_unreachable", &max_unreachable, &command.max_unreachable)}) {
               if (text->empty()) continue;
               auto share = ParseHostShare(*text);
               if (!share) return Fail(ErrorCode::kInvalid, "{}: {}", name, share.error().message);
               *into = *share;
             }
             if (!command.concurrency && !command.max_failures && !command.max_unreachable)
               return Fail(ErrorCode::kInvalid,
                           "set concurrency, max_failures, max_unreachable, or several of them");
             return {};
           });
}

void Retry(Services& services, const CallPtr& call) {
  const auto id = ParseRunId(call->Part("id"));
  if (!id) return call->Fail(id.error());
  auto known = services.store.ReadWholeRun(*id);
  if (!known) return call->Fail(known.error());
  if (!known->value) return call->Fail(NoSuchRun(*id));
  engine::RetryRun retry;
  retry.known = std::move(*known);
  if (retry.known.value->targets)
    retry.frozen = CountFrozen(services.inventory(), services.engine.GetStatus().freezes,
                               *retry.known.value->targets);
  const Run run = retry.known.value->run;
  SteerRun(services, call, std::move(retry),
           [&](Fields& fields, engine::RetryRun& command) -> Result<> {
             std::string version;
             auto done = fields.Text("from", command.from)
                             .Bool("from_start", command.from_start)
                             .Bool("all_hosts", command.all_hosts)
                             .Bool("during_freeze", command.during_freeze)
                             .Bool("dry_run", command.dry_run)
                             .Text("version", version)
                             .Reason("reason", command.reason)
                             .Done();
             if (!done || version.empty()) return done;
             if (version != "latest")
               return Fail(ErrorCode::kInvalid, "version: expected 'latest'");
             auto corrected = CorrectedPlan(services.inventory(), run);
             if (!corrected) return Fail(corrected.error());
             command.plan = std::move(corrected->plan);
             command.authors = std::move(corrected->authors);
             return {};
           });
}

json::array ListView(const std::vector<std::string>& names) {
  return json::array(names.begin(), names.end());
}

// Who may answer what this visit asks, and why the caller may not.
json::value ApproversView(const Run& run, const StageVisit& visit,
                          const std::vector<std::string>& starters, const Actor& actor) {
  if (visit.state != StageState::kAwaitingApproval || visit.stage >= run.spec.stages.size())
    return nullptr;
  const ApproveAction* wanted = WantedAnswer(run.spec.stages[visit.stage]);
  if (wanted == nullptr) return nullptr;
  std::string refusal;
  if (actor.role < Role::kOperator)
    refusal = fmt::format("an answer needs the role {}; token '{}' is {}", Name(Role::kOperator),
                          actor.name, Name(actor.role));
  else if (const auto may = CheckApprover(starters, *wanted, actor.name, actor.role); !may)
    refusal = may.error().message;
  return json::object{
      {"by", ListView(wanted->by)},
      {"not", ListView(wanted->not_starter ? starters : std::vector<std::string>())},
      {"refusal", refusal}};
}

json::object VisitView(const StageVisit& visit, ApprovalIds& ids, json::value approvers) {
  json::value approval = nullptr;
  if (visit.state == StageState::kAwaitingApproval) approval = ids.Of(visit);
  json::value decision = nullptr;
  if (visit.decision)
    decision = json::object{{"approved", visit.decision->approved},
                            {"by", visit.decision->by},
                            {"at", TimeView(visit.decision->at)},
                            {"comment", visit.decision->comment}};
  return {{"visit", visit.visit.value},
          {"stage", visit.name},
          {"pass", visit.pass},
          {"parent", visit.parent.value},
          {"state", Name(visit.state)},
          {"started", TimeView(visit.started)},
          {"ended", TimeView(visit.ended)},
          {"hosts", visit.hosts.Count()},
          {"dropped", visit.dropped.Count()},
          {"batch", visit.batch + 1},
          {"status", visit.status},
          {"reason", visit.reason},
          {"message", visit.message},
          {"approval", std::move(approval)},
          {"approvers", std::move(approvers)},
          {"until", TimeView(visit.until)},
          {"decision", std::move(decision)},
          {"child", visit.child ? json::value(FormatRunId(visit.child)) : json::value()},
          {"counts", CountsView(visit.counts)}};
}

// A page ends where it has so much, as one visit may have texts of some kilobytes.
constexpr std::size_t kPageBytes = 1 << 20;
constexpr std::size_t kVisitsAtOnce = 50;

void ListVisits(Services& services, const CallPtr& call) {
  const auto id = ParseRunId(call->Part("id"));
  if (!id) return call->Fail(id.error());
  const auto limit = call->QueryNumber("limit", 200, 1, 1000);
  if (!limit) return call->Fail(limit.error());
  const auto after = call->QueryNumber("cursor", 0, 0, UINT32_MAX);
  if (!after) return call->Fail(after.error());
  const auto run = services.store.FindRun(*id);
  if (!run) return call->Fail(run.error());
  if (!run->value) return call->Fail(NoSuchRun(*id));
  const auto above = OpenRunsAbove(services.store, *run->value);
  if (!above) return call->Fail(above.error());
  std::vector<const Run*> parents;
  for (const Run& parent : *above) parents.push_back(&parent);
  ApprovalIds ids(*run->value, parents);
  json::array list;
  const auto starters = StartersOf(*run->value, parents);
  json::value next = nullptr;
  Visit last(static_cast<std::uint32_t>(*after));
  std::size_t bytes = 0;
  for (bool more = true; more;) {
    const auto visits =
        services.store.ListVisits(*id, last, std::min(kVisitsAtOnce, *limit - list.size()));
    if (!visits) return call->Fail(visits.error());
    for (const auto& visit : *visits) {
      list.push_back(
          VisitView(visit, ids, ApproversView(*run->value, visit, starters, call->actor())));
      bytes += json::serialize(list.back()).size();
      last = visit.visit;
      if (bytes >= kPageBytes) break;
    }
    const bool full = list.size() == *limit || bytes >= kPageBytes;
    if (full) next = std::to_string(last.value);
    more = !full && visits->size() == kVisitsAtOnce;
  }
  call->Json(200, {{"visits", std::move(list)}, {"next", std::move(next)}});
}

}  // namespace

std::vector<Route> SteeringRoutes(Services& services) {
  return {
      {"POST", "/api/v1/runs/{id}/pause", Privilege::kOperate,
       [&services](const CallPtr& call) { PauseRun(services, call); }, !kOnRecord, kUrgent},
      {"POST", "/api/v1/runs/{id}/resume", Privilege::kOperate,
       [&services](const CallPtr& call) { Resume(services, call); }},
      {"POST", "/api/v1/runs/{id}/retry", Privilege::kOperate,
       [&services](const CallPtr& call) { Retry(services, call); }},
      {"POST", "/api/v1/runs/{id}/skip", Privilege::kOperate,
       [&services](const CallPtr& call) { Skip(services, call); }},
      {"POST", "/api/v1/runs/{id}/set", Privilege::kOperate,
       [&services](const CallPtr& call) { Set(services, call); }},
      {"POST", "/api/v1/runs/{id}/approve", Privilege::kOperate,
       [&services](const CallPtr& call) { Answer(services, call, true); }},
      {"POST", "/api/v1/runs/{id}/reject", Privilege::kOperate,
       [&services](const CallPtr& call) { Answer(services, call, false); }},
      {"GET", "/api/v1/runs/{id}/visits", Privilege::kView,
       [&services](const CallPtr& call) { ListVisits(services, call); }, kOnRecord},
  };
}

}  // namespace muster::server::api
