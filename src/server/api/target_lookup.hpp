#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "domain/targets.hpp"
#include "ports/store.hpp"

namespace muster::server::api {

// What target expressions cannot know by themselves, read from the store before the hosts are
// locked: which hosts are in groups, and which are of runs. Reads each group once.
class TargetLookup final : public TargetContext {
 public:
  using SeeHosts = std::function<void(std::span<const Host* const>)>;
  // Calls `see` once with all hosts, which stay as they are meanwhile.
  using WithHosts = std::function<void(const SeeHosts& see)>;

  // `store` must outlive it.
  TargetLookup(Store& store, WithHosts with_hosts)
      : store_(store), with_hosts_(std::move(with_hosts)) {}

  // Reads an expression and what it names. kInvalid: it is none, or a group in it has more than
  // kDeepestGroups levels of groups below it; the message says which.
  Result<TargetExpression> Parse(const std::string& text);

  Result<std::set<std::string>> Group(std::string_view name) const override;
  Result<std::set<std::string>> RunHosts(std::string_view id,
                                         std::string_view state) const override;

  // Who applied the groups.
  const std::set<std::string>& Authors() const { return authors_; }

 private:
  Result<TargetExpression> ParseAndLookUp(const std::string& text);
  Result<std::set<std::string>> HostsOfRun(const std::string& text, const std::string& state) const;
  Result<std::set<std::string>> HostsOfGroup(const std::string& name);
  void LookUpGroup(const std::string& name);

  Store& store_;
  const WithHosts with_hosts_;
  std::map<std::string, Result<std::set<std::string>>, std::less<>> groups_;
  std::map<std::pair<std::string, std::string>, Result<std::set<std::string>>> runs_;
  std::set<std::string> authors_;
  std::vector<std::string> way_;  // the groups that led to the one that is looked up
  std::optional<Error> too_deep_;
};

}  // namespace muster::server::api
