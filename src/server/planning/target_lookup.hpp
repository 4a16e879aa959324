#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "domain/host_result.hpp"
#include "domain/targets.hpp"
#include "ports/store.hpp"

namespace muster::server {

// What target expressions cannot know by themselves, read from the store before the hosts are
// locked: which hosts are in groups, and which are of runs. Reads each group and the hosts of each
// run in a state once.
class TargetLookup final : public TargetContext {
 public:
  using SeeHosts = std::function<void(std::span<const Host* const>)>;
  // Calls `see` once with all hosts, which stay as they are meanwhile.
  using WithHosts = std::function<void(const SeeHosts& see)>;

  // Of all expressions and the groups in them.
  static constexpr std::size_t kMostRuns = 100;

  // `store` must outlive it. `go_on` is asked between two reads of a long look-up, which fails with
  // its error; may be empty.
  TargetLookup(Store& store, WithHosts with_hosts, std::function<Result<>()> go_on = {})
      : store_(store), with_hosts_(std::move(with_hosts)), go_on_(std::move(go_on)) {}

  // Reads an expression and what it names. kInvalid: it is none, or a group in it has more than
  // kDeepestGroups levels of groups below it, or all name more than kMostRuns runs in a state; the
  // message says which.
  Result<TargetExpression> Parse(const std::string& text);

  Result<NameSet> Group(std::string_view name) const override;
  Result<NameSet> RunHosts(std::string_view id, std::string_view state) const override;

  // Who applied the groups.
  const std::set<std::string>& Authors() const { return authors_; }

 private:
  Result<TargetExpression> ParseAndLookUp(const std::string& text);
  Result<NameSet> HostsOfRun(RunId id, const std::string& state) const;
  Result<std::vector<HostTasks<>>> TasksOfRun(RunId id, const Targets& targets,
                                              TaskState wanted) const;
  Result<NameSet> HostsOfGroup(const std::string& name);
  void LookUpGroup(const std::string& name);
  void LookUpRun(const std::string& text, const std::string& state);
  Result<> GoesOn() const { return go_on_ ? go_on_() : Result<>{}; }

  Store& store_;
  const WithHosts with_hosts_;
  const std::function<Result<>()> go_on_;
  std::map<std::string, Result<NameSet>, std::less<>> groups_;
  std::map<std::pair<RunId, std::string>, Result<NameSet>, std::less<>> runs_;
  std::set<std::string> authors_;
  std::vector<std::string> way_;  // the groups that led to the one that is looked up
  std::optional<Error> refused_;  // nothing more is looked up
};

}  // namespace muster::server
