#include "server/api/starting.hpp"

#include <set>
#include <string_view>

#include <boost/json.hpp>

#include "domain/copies_text.hpp"
#include "domain/host_ranges.hpp"
#include "domain/left_out_text.hpp"
#include "domain/trace_parent.hpp"
#include "server/api/frozen.hpp"
#include "server/api/warnings_view.hpp"

namespace muster::server::api {
namespace {

namespace json = boost::json;

constexpr std::size_t kMostShownNames = 4000;

void AnswerStarted(Services& services, Call& call, const engine::RunStarted& started,
                   const std::vector<std::string>& warnings) {
  std::string_view state = Name(started.state);
  std::uint32_t hosts = started.hosts;
  if (started.repeated) {
    if (const auto run = services.store.FindRun(started.run); run && run->value) {
      state = Name(run->value->state);
      hosts = run->value->hosts;
    }
  }
  const std::string id = FormatRunId(started.run);
  json::object view{
      {"id", id}, {"state", state}, {"hosts", hosts}, {"commit", started.commit.value}};
  if (!started.left_out.empty()) view["left_out"] = started.left_out;
  AddWarnings(view, warnings);
  call.Json(201, std::move(view), {{"Location", "/api/v1/runs/" + id}});
}

// A disk that is full passes; what people decided is theirs to change.
int StatusOf(const engine::GateClosed& closed) {
  const bool peoples =
      closed.gate == "frozen" || closed.gate == "maintenance" || closed.gate == "left_out";
  return peoples ? 409 : 503;
}

}  // namespace

// When it is the run's target set, "no match" is what a client asks about.
void FailResolve(Call& call, const Error& error) {
  if (error.code == ErrorCode::kNotFound)
    call.Fail(404, "no_match", error.message);
  else
    call.Fail(error);
}

bool LeaveOutAsStart(Services& services, Call& call, const StartWishes& wishes,
                     Resolved& resolved) {
  if (!wishes.include_maintenance) {
    auto [targets, left_out] = LeaveOutMaintained(services, resolved.targets);
    std::set<std::string_view> names;
    for (const auto& target : *targets) names.insert(target.name);
    std::erase_if(resolved.offline, [&](const auto& name) { return !names.contains(name); });
    std::erase_if(resolved.copies, [&](const auto& name) { return !names.contains(name); });
    resolved.targets = std::move(targets);
    resolved.maintained = std::move(left_out);
  }
  auto left_out = LeftOutText(resolved);
  if (wishes.require_all) {
    const auto copies = CopiesText(resolved.copies);
    if (!copies.empty()) left_out += (left_out.empty() ? "" : "; ") + copies;
    if (!left_out.empty()) return call.Fail(409, "left_out", SomeLeftOutText(left_out)), false;
  }
  if (resolved.targets->empty())
    return call.Fail(409, "maintenance", NoHostLeftText(left_out)), false;
  return true;
}

json::object HostsView(const Resolved& resolved) {
  std::vector<std::string> names;
  for (const auto& target : *resolved.targets) names.push_back(target.name);
  json::array offline;
  for (std::size_t i = 0; i < resolved.offline.size() && i < 100; ++i)
    offline.emplace_back(resolved.offline[i]);
  return {{"hosts", names.size()},
          {"names", FoldHostNames(names, kMostShownNames)},
          {"never_joined", FoldHostNames(resolved.never_joined, kMostShownNames)},
          {"never_joined_count", resolved.never_joined.size()},
          {"left_out", LeftOutText(resolved)},
          {"offline", std::move(offline)},
          {"offline_count", resolved.offline.size()},
          {"says_all", resolved.says_all}};
}

json::object HostsView(const Targets& targets, const Ordinals& hosts,
                       const std::string& expression) {
  std::vector<std::string> names;
  for (const std::uint32_t ordinal : hosts.List()) names.push_back(targets[ordinal].name);
  const auto parsed = TargetExpression::Parse(expression);
  return {{"hosts", names.size()},
          {"names", FoldHostNames(names, kMostShownNames)},
          {"says_all", names.size() == targets.size() && parsed && parsed->SaysAll()}};
}

json::array BatchesView(const BatchPlan& plan, std::uint32_t hosts) {
  json::array batches;
  for (std::uint32_t begin = 0, index = 0; begin < hosts && index < 1000; ++index) {
    const std::uint32_t size =
        plan.Empty() ? hosts : std::min(plan.Size(index, hosts), hosts - begin);
    batches.emplace_back(size);
    begin += size;
  }
  return batches;
}

void AddLimits(const StageSpec& stage, json::object& view) {
  if (stage.batches.Empty()) return;
  view["max_failures"] = FormatHostShare(stage.max_failures);
  view["max_unreachable"] =
      stage.max_unreachable ? json::value(FormatHostShare(*stage.max_unreachable)) : json::value();
  view["on_limit"] = stage.on_limit == OnLimit::kPause ? "pause" : "fail";
}

void AskToStart(Services& services, const CallPtr& call, engine::StartRun command,
                std::vector<std::string> warnings) {
  if (const auto parent = ParseTraceParent(net::FindHeader(call->request().headers, "traceparent")))
    command.trace_parent = FormatTraceParent(*parent);
  services.engine.Ask(std::move(command), [&services, call, warnings = std::move(warnings)](
                                              const Result<engine::StartRun::Answer>& answer) {
    if (answer)
      if (const auto* closed = std::get_if<engine::GateClosed>(&*answer))
        return call->Fail(StatusOf(*closed), closed->gate, closed->reason);
    if (answer)
      return AnswerStarted(services, *call, std::get<engine::RunStarted>(*answer), warnings);
    if (answer.error().code == ErrorCode::kConflict)
      return call->Fail(422, "key_reused", answer.error().message);
    call->Fail(answer.error());
  });
}

}  // namespace muster::server::api
