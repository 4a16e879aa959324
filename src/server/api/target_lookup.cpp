#include "server/api/target_lookup.hpp"

#include "domain/nesting.hpp"
#include "server/api/job_book.hpp"
#include "server/api/nesting.hpp"

namespace muster::server::api {
namespace {

constexpr std::size_t kTasksPage = 5000;

}  // namespace

Result<std::set<std::string>> TargetLookup::Group(std::string_view name) const {
  const auto found = groups_.find(name);
  if (found == groups_.end())
    return Fail(ErrorCode::kInternal, "@{} was not looked up beforehand", name);
  return found->second;
}

Result<std::set<std::string>> TargetLookup::RunHosts(std::string_view id,
                                                     std::string_view state) const {
  const auto found = runs_.find({std::string(id), std::string(state)});
  if (found == runs_.end())
    return Fail(ErrorCode::kInternal, "run:{} was not looked up beforehand", id);
  return found->second;
}

Result<TargetExpression> TargetLookup::Parse(const std::string& text) {
  auto expression = ParseAndLookUp(text);
  if (too_deep_) return Fail(*too_deep_);
  return expression;
}

Result<TargetExpression> TargetLookup::ParseAndLookUp(const std::string& text) {
  auto expression = TargetExpression::Parse(text);
  if (!expression) return expression;
  for (const auto& [id, state] : expression->Runs())
    runs_.insert_or_assign({id, state}, HostsOfRun(id, state));
  for (const auto& name : expression->Groups()) LookUpGroup(name);
  return expression;
}

void TargetLookup::LookUpGroup(const std::string& name) {
  if (too_deep_ || groups_.contains(name)) return;
  way_.push_back(name);
  if (way_.size() > kDeepestGroups + 1) {
    too_deep_ = Error{ErrorCode::kInvalid,
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
Result<std::set<std::string>> TargetLookup::HostsOfGroup(const std::string& name) {
  const auto kept = store_.FindDocument("group", name, 0);
  if (!kept) return Fail(kept.error());
  if (!*kept)
    return Fail(ErrorCode::kNotFound, "there is no group '@{}'; see 'muster get groups'", name);
  if (!(*kept)->by.empty()) authors_.insert((*kept)->by);
  const auto document = ReadKept(**kept);
  if (!document) return Fail(document.error());
  const auto& group = std::get<documents::GroupDocument>(document->body);
  std::set<std::string> names(group.hosts.begin(), group.hosts.end());
  if (group.targets.empty()) return names;
  const auto expression = ParseAndLookUp(group.targets);
  if (too_deep_) return Fail(*too_deep_);
  if (!expression) return Fail(ErrorCode::kInvalid, "@{}: {}", name, expression.error().message);
  Result<std::vector<std::size_t>> matching;
  with_hosts_([&](std::span<const Host* const> hosts) {
    matching = expression->Resolve(hosts, *this, {.ignore_missing = true});
    if (!matching) return;
    for (const auto index : *matching) names.insert(hosts[index]->name);
  });
  if (!matching && matching.error().code != ErrorCode::kNotFound)
    return Fail(matching.error().code, "@{}: {}", name, matching.error().message);
  return names;
}

Result<std::set<std::string>> TargetLookup::HostsOfRun(const std::string& text,
                                                       const std::string& state) const {
  const auto id = ParseRunId(text);
  if (!id) return Fail(id.error());
  const auto targets = store_.FindTargets(*id);
  if (!targets) return Fail(targets.error());
  std::set<std::string> names;
  if (state.empty()) {
    for (const auto& target : **targets) names.insert(target.name);
    return names;
  }
  const auto wanted = ParseTaskState(state);
  if (!wanted)
    return Fail(ErrorCode::kInvalid, "run:{}.{}: '{}' is not a task state", text, state, state);
  TaskFilter filter;
  filter.state = wanted;
  std::optional<TaskKey> after;
  while (true) {
    const auto rows = store_.ListTasks(*id, filter, after, kTasksPage);
    if (!rows) return Fail(rows.error());
    for (const auto& row : *rows)
      if (row.key.ordinal < (*targets)->size()) names.insert((**targets)[row.key.ordinal].name);
    if (rows->size() < kTasksPage) return names;
    after = rows->back().key;
  }
}

}  // namespace muster::server::api
