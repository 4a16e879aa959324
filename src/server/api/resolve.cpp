#include "server/api/resolve.hpp"

#include <algorithm>
#include <set>

#include "domain/host_ranges.hpp"
#include "server/api/job_book.hpp"

namespace muster::server::api {
namespace {

constexpr std::size_t kTasksPage = 5000;

// Answers from what was looked up before the hosts were locked.
class LookedUp final : public TargetContext {
 public:
  Result<std::set<std::string>> Group(std::string_view name) const override {
    const auto found = groups_.find(name);
    if (found == groups_.end())
      return Fail(ErrorCode::kInternal, "@{} was not looked up beforehand", name);
    return found->second;
  }
  Result<std::set<std::string>> RunHosts(std::string_view id,
                                         std::string_view state) const override {
    const auto found = runs_.find({std::string(id), std::string(state)});
    if (found == runs_.end())
      return Fail(ErrorCode::kInternal, "run:{} was not looked up beforehand", id);
    return found->second;
  }
  void Add(std::string id, std::string state, Result<std::set<std::string>> names) {
    runs_.insert_or_assign({std::move(id), std::move(state)}, std::move(names));
  }
  void AddGroup(std::string name, Result<std::set<std::string>> names) {
    groups_.insert_or_assign(std::move(name), std::move(names));
  }
  bool HasGroup(std::string_view name) const { return groups_.contains(name); }

 private:
  std::map<std::string, Result<std::set<std::string>>, std::less<>> groups_;
  std::map<std::pair<std::string, std::string>, Result<std::set<std::string>>> runs_;
};

Result<std::set<std::string>> HostsOfRun(Services& services, const std::string& text,
                                         const std::string& state) {
  const auto id = ParseRunId(text);
  if (!id) return Fail(id.error());
  const auto targets = services.store.FindTargets(*id);
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
    const auto rows = services.store.ListTasks(*id, filter, after, kTasksPage);
    if (!rows) return Fail(rows.error());
    for (const auto& row : *rows)
      if (row.key.ordinal < (*targets)->size()) names.insert((**targets)[row.key.ordinal].name);
    if (rows->size() < kTasksPage) return names;
    after = rows->back().key;
  }
}

Result<TargetExpression> ParseAndLookUp(Services& services, const std::string& text,
                                        LookedUp& looked);

// Names in a group now. One that matches nothing is empty, and no mistake.
Result<std::set<std::string>> HostsOfGroup(Services& services, const std::string& name,
                                           LookedUp& looked) {
  const auto kept = services.store.FindDocument("group", name, 0);
  if (!kept) return Fail(kept.error());
  if (!*kept)
    return Fail(ErrorCode::kNotFound, "there is no group '@{}'; see 'muster get groups'", name);
  const auto document = ReadKept(**kept);
  if (!document) return Fail(document.error());
  const auto& group = std::get<documents::GroupDocument>(document->body);
  std::set<std::string> names(group.hosts.begin(), group.hosts.end());
  if (group.targets.empty()) return names;
  const auto expression = ParseAndLookUp(services, group.targets, looked);
  if (!expression) return Fail(ErrorCode::kInvalid, "@{}: {}", name, expression.error().message);
  Result<std::vector<std::size_t>> matching;
  services.live.WithHosts([&](const std::vector<const Host*>& hosts, const auto&) {
    matching = expression->Resolve(hosts, looked, {.ignore_missing = true});
    if (!matching) return;
    for (const auto index : *matching) names.insert(hosts[index]->name);
  });
  if (!matching && matching.error().code != ErrorCode::kNotFound)
    return Fail(matching.error().code, "@{}: {}", name, matching.error().message);
  return names;
}

void LookUpGroup(Services& services, const std::string& name, LookedUp& looked) {
  if (looked.HasGroup(name)) return;
  // Found again while it is looked up, it is made of itself.
  looked.AddGroup(name, Fail(ErrorCode::kInvalid, "group '@{}' is made of itself", name));
  looked.AddGroup(name, HostsOfGroup(services, name, looked));
}

Result<TargetExpression> ParseAndLookUp(Services& services, const std::string& text,
                                        LookedUp& looked) {
  auto expression = TargetExpression::Parse(text);
  if (!expression) return expression;
  for (const auto& [id, state] : expression->Runs())
    looked.Add(id, state, HostsOfRun(services, id, state));
  for (const auto& name : expression->Groups()) LookUpGroup(services, name, looked);
  return expression;
}

}  // namespace

Result<Resolved> ResolveTargets(Services& services, const std::string& expression,
                                const std::string& exclude, ResolveOptions options) {
  LookedUp looked;
  auto wanted = ParseAndLookUp(services, expression, looked);
  if (!wanted) return Fail(wanted.error());
  Resolved resolved;
  resolved.says_all = wanted->SaysAll();
  if (!exclude.empty()) {
    auto unwanted = ParseAndLookUp(services, exclude, looked);
    if (!unwanted) return Fail(unwanted.error());
    wanted = std::move(*wanted).Without(std::move(*unwanted));
  }
  auto targets = std::make_shared<Targets>();
  std::set<HostId> offline;
  Result<> ok;
  services.live.WithHosts(
      [&](const std::vector<const Host*>& hosts, const std::function<bool(HostId)>& online) {
        const auto matching = wanted->Resolve(hosts, looked, options);
        if (!matching) {
          ok = Fail(matching.error());
          return;
        }
        for (const auto index : *matching) {
          targets->push_back({hosts[index]->id, hosts[index]->name});
          if (!online(hosts[index]->id)) offline.insert(hosts[index]->id);
        }
      },
      wanted->OnlyNames());
  if (!ok) return Fail(ok.error());
  std::ranges::sort(*targets,
                    [](const Target& a, const Target& b) { return NaturalLess(a.name, b.name); });
  for (const auto& target : *targets)
    if (offline.contains(target.host)) resolved.offline.push_back(target.name);
  resolved.targets = std::move(targets);
  return resolved;
}

}  // namespace muster::server::api
