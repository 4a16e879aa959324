#include "server/api/run_match.hpp"

#include <algorithm>
#include <functional>

#include "domain/approvals.hpp"
#include "domain/approvers.hpp"
#include "domain/run_row.hpp"
#include "domain/secret.hpp"
#include "server/api/query_object.hpp"

namespace muster::server::api {
namespace {

constexpr std::size_t kAskedAtOnce = 50;

std::string TextOf(const Param& param) {
  return (param.secret ? std::string(kSecretPrefix) : "") + param.value;
}

const Param* FindParam(const std::vector<Param>& params, const std::string& name) {
  const auto found = std::ranges::find(params, name, &Param::name);
  return found == params.end() ? nullptr : &*found;
}

bool HasAll(const std::vector<Param>& params, const std::map<std::string, std::string>& wanted) {
  return std::ranges::all_of(wanted, [&](const auto& pair) {
    const Param* param = FindParam(params, pair.first);
    return param != nullptr && TextOf(*param) == pair.second;
  });
}

// Whether the row alone says that the run has another value.
bool Differs(const std::vector<Param>& row, const std::map<std::string, std::string>& wanted) {
  return std::ranges::any_of(wanted, [&](const auto& pair) {
    const Param* param = FindParam(row, pair.first);
    return param != nullptr && !IsCut(*param) && TextOf(*param) != pair.second;
  });
}

bool IsAsked(const Run& run, const RunFilter& filter) {
  return (!filter.state || run.state == *filter.state) &&
         (filter.by.empty() || run.by == filter.by) &&
         (!filter.since || run.created >= filter.since) &&
         (!filter.until || run.created < filter.until);
}

// Whether a stage of the run asks for what this caller may answer.
Result<bool> AwaitsCaller(Store& store, const Run& run, const Actor& actor) {
  const auto above = OpenRunsAbove(store, run);
  if (!above) return Fail(above.error());
  std::vector<const Run*> parents;
  for (const Run& parent : *above) parents.push_back(&parent);
  const auto starters = StartersOf(run, parents);
  for (Visit last;;) {
    const auto visits = store.ListVisits(run.id, last, kAskedAtOnce);
    if (!visits) return Fail(visits.error());
    for (const auto& visit : *visits) {
      last = visit.visit;
      if (visit.state != StageState::kAwaitingApproval || visit.stage >= run.spec.stages.size())
        continue;
      const ApproveAction* wanted = WantedAnswer(run.spec.stages[visit.stage]);
      if (wanted != nullptr && CheckApprover(starters, *wanted, actor.name, actor.role))
        return true;
    }
    if (visits->size() < kAskedAtOnce) return false;
  }
}

}  // namespace

Result<RunsAsked> ReadRunsAsked(const Call& call) {
  RunsAsked asked;
  RunFilter& filter = asked.filter;
  if (const auto& state = call.Query("state"); !state.empty()) {
    filter.state = ParseRunState(state);
    if (!filter.state) return Fail(ErrorCode::kInvalid, "state: '{}' is not a run state", state);
  }
  // A member's name never begins with '@', so this asks for no one else.
  filter.by = call.Query("by") == "@me" ? call.actor().name : call.Query("by");
  for (const auto& [name, field] :
       {std::pair("since", &filter.since), std::pair("until", &filter.until)}) {
    if (call.Query(name).empty()) continue;
    *field = ParseTime(call.Query(name));
    if (!*field)
      return Fail(ErrorCode::kInvalid, "{}: expected a time like 2026-11-15T10:43:19Z", name);
  }
  asked.job = call.Query("job");
  asked.prefix = call.Query("prefix");
  asked.params = QueryObject(call.request().target, "params");
  if (const auto& awaiting = call.Query("awaiting"); !awaiting.empty()) {
    if (awaiting != "@me") return Fail(ErrorCode::kInvalid, "awaiting: expected '@me'");
    if (!call.Query("host").empty())
      return Fail(ErrorCode::kInvalid, "awaiting and host exclude each other");
    asked.awaiting_me = true;
  }
  if (!asked.prefix.empty() && (asked.awaiting_me || asked.Looks()))
    return Fail(ErrorCode::kInvalid, "prefix excludes awaiting, job and params");
  return asked;
}

Result<bool> RunMatch::Fits(const Run& row) {
  ++rows_;
  if (!asked_.job.empty() && row.spec.job != asked_.job) return false;
  if (asked_.params.empty()) return true;
  if (row.spec.job.empty() || Differs(row.spec.params, asked_.params)) return false;
  if (std::ranges::none_of(row.spec.params, IsCut) && HasAll(row.spec.params, asked_.params))
    return true;
  // The value is longer than what a row keeps, or the row is older than parameters in rows.
  ++plans_;
  if (const auto on = goes_on_(); !on) return Fail(on.error());
  const auto whole = store_.FindRun(row.id);
  if (!whole) return Fail(whole.error());
  return whole->value && HasAll(whole->value->spec.params, asked_.params);
}

Result<std::vector<Run>> OpenRunsAbove(Store& store, const Run& run) {
  std::vector<Run> above;
  for (RunId id = run.parent; id;) {
    auto parent = store.FindRun(id);
    if (!parent) return Fail(parent.error());
    if (!parent->value || IsFinal(parent->value->state)) break;
    id = parent->value->parent;
    above.push_back(std::move(*parent->value));
  }
  return above;
}

Result<std::vector<Run>> RunsAwaiting(Services& services, const Call& call, const RunsAsked& asked,
                                      RunId before, std::size_t limit) {
  std::vector<Run> found;
  if (call.actor().role < Role::kOperator) return found;
  auto open = services.live.OpenRuns();
  std::ranges::sort(open, std::ranges::greater());
  for (const RunId id : open) {
    if (found.size() == limit) break;
    if (before && !(id < before)) continue;
    if (const auto on = call.GoesOn(); !on) return Fail(on.error());
    const auto live = services.live.FindRun(id);
    if (!live || (live->run && !HoldsApproval(live->run->spec))) continue;
    auto run = services.store.FindRun(id);
    if (!run) return Fail(run.error());
    if (!run->value || !IsAsked(*run->value, asked.filter)) continue;
    if (!asked.job.empty() && run->value->spec.job != asked.job) continue;
    if (!HasAll(run->value->spec.params, asked.params)) continue;
    const auto awaits = AwaitsCaller(services.store, *run->value, call.actor());
    if (!awaits) return Fail(awaits.error());
    if (!*awaits) continue;
    run->value->spec.stages.clear();  // lists go without plans
    run->value->spec.jobs.clear();
    found.push_back(std::move(*run->value));
  }
  return found;
}

}  // namespace muster::server::api
