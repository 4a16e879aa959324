#include "server/planning/target_lookup.hpp"

#include <map>

#include "domain/nesting.hpp"
#include "server/planning/job_book.hpp"
#include "server/planning/known_names.hpp"
#include "server/planning/nesting.hpp"

namespace muster::server {
namespace {

constexpr std::size_t kTasksPage = 5000;

}  // namespace

Result<NameSet> TargetLookup::Group(std::string_view name) const {
  const auto found = groups_.find(name);
  if (found == groups_.end())
    return Fail(ErrorCode::kInternal, "@{} was not looked up beforehand", name);
  return found->second;
}

Result<NameSet> TargetLookup::RunHosts(std::string_view id, std::string_view state) const {
  const auto run = ParseRunId(id);
  if (!run) return Fail(run.error());
  const auto found = runs_.find(std::pair(*run, std::string(state)));
  if (found == runs_.end())
    return Fail(ErrorCode::kInternal, "run:{} was not looked up beforehand", id);
  return found->second;
}

Result<TargetExpression> TargetLookup::Parse(const std::string& text) {
  auto expression = ParseAndLookUp(text);
  if (refused_) return Fail(*refused_);
  return expression;
}

Result<TargetExpression> TargetLookup::ParseAndLookUp(const std::string& text) {
  auto expression = TargetExpression::Parse(text);
  if (!expression) return expression;
  for (const auto& [id, state] : expression->Runs()) LookUpRun(id, state);
  for (const auto& name : expression->Groups()) LookUpGroup(name);
  return expression;
}

void TargetLookup::LookUpRun(const std::string& text, const std::string& state) {
  const auto id = ParseRunId(text);
  if (refused_ || !id || runs_.contains(std::pair(*id, state))) return;
  if (runs_.size() >= kMostRuns) {
    refused_ = Error{ErrorCode::kInvalid,
                     fmt::format("the expression and its groups name more than {} runs; name the "
                                 "hosts instead",
                                 kMostRuns)};
    return;
  }
  runs_.insert_or_assign(std::pair(*id, state), HostsOfRun(*id, state));
  if (const auto on = GoesOn(); !on) refused_ = on.error();
}

void TargetLookup::LookUpGroup(const std::string& name) {
  if (refused_ || groups_.contains(name)) return;
  way_.push_back(name);
  if (way_.size() > kDeepestGroups + 1) {
    refused_ = Error{ErrorCode::kInvalid,
                     fmt::format("groups are made of groups more than {} levels deep: {}; use "
                                 "fewer levels",
                                 kDeepestGroups, WayText(way_, "@"))};
    return;
  }
  // Found again while it is looked up, it is made of itself.
  groups_.insert_or_assign(name, Fail(ErrorCode::kInvalid, "group '@{}' is made of itself", name));
  groups_.insert_or_assign(name, HostsOfGroup(name));
  way_.pop_back();
}

// Names in a group now. One that matches nothing is empty, and no mistake.
Result<NameSet> TargetLookup::HostsOfGroup(const std::string& name) {
  const auto kept = store_.FindDocument("group", name, 0);
  if (!kept) return Fail(kept.error());
  if (!*kept)
    return Fail(ErrorCode::kNotFound, "there is no group '@{}'{}; see 'muster get groups'", name,
                DidYouMean(store_, "group", name));
  if (!(*kept)->by.empty()) authors_.insert((*kept)->by);
  const auto document = ReadKept(**kept);
  if (!document) return Fail(document.error());
  const auto& group = std::get<documents::GroupDocument>(document->body);
  std::set<std::string> names(group.hosts.begin(), group.hosts.end());
  const auto shared = [&names] {
    return std::make_shared<const std::set<std::string>>(std::move(names));
  };
  if (group.targets.empty()) return shared();
  const auto expression = ParseAndLookUp(group.targets);
  if (refused_) return Fail(*refused_);
  if (!expression) return Fail(ErrorCode::kInvalid, "@{}: {}", name, expression.error().message);
  Result<std::vector<std::size_t>> matching;
  with_hosts_([&](std::span<const Host* const> hosts) {
    matching = expression->Resolve(hosts, *this, {.ignore_missing = true});
    if (!matching) return;
    for (const auto index : *matching) names.insert(hosts[index]->name);
  });
  if (!matching && matching.error().code != ErrorCode::kNotFound)
    return Fail(matching.error().code, "@{}: {}", name, matching.error().message);
  return shared();
}

Result<NameSet> TargetLookup::HostsOfRun(RunId id, const std::string& state) const {
  const auto targets = store_.FindTargets(id);
  if (!targets) return Fail(targets.error());
  const auto names = std::make_shared<std::set<std::string>>();
  if (state.empty()) {
    for (const auto& target : **targets) names->insert(target.name);
    return names;
  }
  const auto wanted = ParseTaskState(state);
  if (!wanted)
    return Fail(ErrorCode::kInvalid, "run:{}.{}: '{}' is not a task state", FormatRunId(id), state,
                state);
  const auto tasks = TasksOfRun(id, **targets, *wanted);
  if (!tasks) return Fail(tasks.error());
  const auto run = store_.FindRun(id);
  if (!run) return Fail(run.error());
  const bool open = run->value && !IsFinal(run->value->state);
  for (std::size_t i = 0; i < tasks->size(); ++i)
    if (HostTasks<>::Standing((*tasks)[i].Deciding(), open) == *wanted)
      names->insert((**targets)[i].name);
  return names;
}

// Of each host what its standing follows from, at least as far as it is the one that is wanted.
Result<std::vector<HostTasks<>>> TargetLookup::TasksOfRun(RunId id, const Targets& targets,
                                                          TaskState wanted) const {
  std::vector<HostTasks<>> tasks(targets.size());
  std::map<Visit, StageVisit> visits;
  for (Visit after;; after = visits.rbegin()->first) {
    const auto page = store_.ListVisits(id, after, kTasksPage);
    if (!page) return Fail(page.error());
    if (page->empty()) break;
    for (const auto& visit : *page) {
      visits.emplace(visit.visit, visit);
      for (const auto& [state, hosts] : visit.results)
        for (const std::uint32_t ordinal : hosts.List())
          if (ordinal < tasks.size()) tasks[ordinal].Take(HostTasks<>::Of(visit, {}, state));
    }
    if (const auto on = GoesOn(); !on) return Fail(on.error());
  }
  TaskFilter filter;
  // With one visit, the host's task there is all there is to know. A host without any task waits or
  // was skipped, so for these two all tasks must be seen.
  const bool without_task = wanted == TaskState::kWaiting || wanted == TaskState::kSkipped;
  if (visits.size() == 1 && !without_task) filter.state = wanted;
  for (std::optional<TaskKey> after;;) {
    const auto rows = store_.ListTasks(id, filter, after, kTasksPage);
    if (!rows) return Fail(rows.error());
    for (const auto& row : *rows) {
      const auto visit = visits.find(row.key.visit);
      if (!row.key.host || visit == visits.end() || row.key.ordinal >= tasks.size()) continue;
      tasks[row.key.ordinal].Take(HostTasks<>::Of(visit->second, row.key.attempt, row.state));
    }
    if (rows->size() < kTasksPage) return tasks;
    after = rows->back().key;
    if (const auto on = GoesOn(); !on) return Fail(on.error());
  }
}

}  // namespace muster::server
