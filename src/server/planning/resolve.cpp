#include "server/planning/resolve.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_set>

#include "domain/copies_text.hpp"
#include "domain/host_ranges.hpp"
#include "server/planning/target_lookup.hpp"

namespace muster::server {
namespace {

constexpr std::size_t kMostNames = 1000;  // bytes
constexpr const char* kHowToJoin =
    "; to join a host, make an invitation (muster agents invite) and start the agent on the host "
    "with it (muster-agent --server URL --join-file FILE)";

using GoOn = std::function<Result<>()>;

// Hosts that take no work now: those that are declared and never joined, copies, and revoked ones.
struct AwayHosts {
  std::vector<Host> hosts;        // as if they were active, so that every term can mean them
  std::vector<HostState> states;  // their own; kActive never joined

  std::vector<const Host*> All() const {
    std::vector<const Host*> all;
    for (const Host& host : hosts) all.push_back(&host);
    return all;
  }
};

Result<AwayHosts> FindAway(const Inventory& inventory) {
  const auto never = inventory.declared.NeverJoined(inventory.live);
  if (!never) return Fail(never.error());
  AwayHosts away;
  away.hosts = **never;
  away.states.assign(away.hosts.size(), HostState::kActive);
  inventory.live.WithHosts([&away](const std::vector<const Host*>& hosts, const auto&) {
    for (const Host* host : hosts) {
      if (host->state == HostState::kActive) continue;
      away.states.push_back(host->state);
      away.hosts.push_back(*host);
      away.hosts.back().state = HostState::kActive;
    }
  });
  return away;
}

// The hosts that take no work now and that the expression means by more than their names: one that
// names a host exactly fails, or means it in spite of its state.
Result<> FindLeftOut(const Inventory& inventory, const std::string& expression,
                     const std::string& exclude, const GoOn& go_on, Resolved& resolved) {
  const auto away = FindAway(inventory);
  if (!away) return Fail(away.error());
  if (away->hosts.empty()) return {};
  const auto all = away->All();
  // Groups mean others among these hosts.
  TargetLookup lookup(
      inventory.store, [&all](const TargetLookup::SeeHosts& see) { see(all); }, go_on);
  auto again = lookup.Parse(expression);
  if (!again) return Fail(again.error());
  if (!exclude.empty()) {
    auto unwanted = lookup.Parse(exclude);
    if (!unwanted) return Fail(unwanted.error());
    again = std::move(*again).Without(std::move(*unwanted));
  }
  const auto matching = again->Resolve(all, lookup, {.ignore_missing = true, .allow_none = true});
  if (!matching) return Fail(matching.error());
  for (const auto index : *matching) {
    const auto& name = all[index]->name;
    switch (away->states[index]) {
      case HostState::kActive:
        resolved.never_joined.push_back(name);
        break;
      case HostState::kCopy:
        if (std::ranges::find(resolved.copies, name) == resolved.copies.end())
          resolved.left_out_copies.push_back(name);
        break;
      case HostState::kRevoked:
        resolved.revoked.push_back(name);
        break;
    }
  }
  return {};
}

// Of an expression that is names alone, those that are neither known nor declared.
std::optional<std::vector<std::string>> UnknownNames(const LiveView& live,
                                                     const TargetExpression& wanted,
                                                     const std::vector<std::string>& never_joined) {
  const auto names = wanted.OnlyNames();
  if (!names) return std::nullopt;
  const std::unordered_set<std::string_view> never(never_joined.begin(), never_joined.end());
  std::vector<std::string> unknown;
  for (const auto& name : *names)
    if (!never.contains(name) && !live.HostIdOf(name)) unknown.push_back(name);
  return unknown;
}

Error NothingFound(const LiveView& live, const TargetExpression& wanted, const Error& error,
                   const Resolved& resolved) {
  std::string hint;
  live.WithHosts(
      [&](const std::vector<const Host*>& hosts, const auto&) { hint = wanted.Hint(hosts); });
  const auto left_out = LeftOutText(resolved);
  if (left_out.empty()) return {error.code, error.message + hint};
  const auto& never = resolved.never_joined;
  const auto unknown = UnknownNames(live, wanted, never);
  if (unknown && unknown->empty() && !never.empty()) return {error.code, NeverJoinedText(never)};
  // A hint that no host has such a label would be about those that joined alone.
  const auto message = unknown
                           ? fmt::format("no such host: {}", FoldHostNames(*unknown, kMostNames))
                           : error.message + (never.empty() ? hint : "");
  return {error.code, fmt::format("{}; {}{}", message, left_out, never.empty() ? "" : kHowToJoin)};
}

TargetLookup LookupIn(const Inventory& inventory, const GoOn& go_on = {}) {
  return {inventory.store,
          [&inventory](const TargetLookup::SeeHosts& see) {
            inventory.live.WithHosts(
                [&see](const std::vector<const Host*>& hosts, const auto&) { see(hosts); });
          },
          go_on};
}

}  // namespace

Result<Resolved> ResolveTargets(const Inventory& inventory, const std::string& expression,
                                const std::string& exclude, ResolveOptions options,
                                const GoOn& go_on) {
  auto lookup = LookupIn(inventory, go_on);
  auto wanted = lookup.Parse(expression);
  if (!wanted) return Fail(wanted.error());
  Resolved resolved;
  resolved.says_all = wanted->SaysAll();
  if (!exclude.empty()) {
    auto unwanted = lookup.Parse(exclude);
    if (!unwanted) return Fail(unwanted.error());
    wanted = std::move(*wanted).Without(std::move(*unwanted));
  }
  auto targets = std::make_shared<Targets>();
  std::set<HostId> offline;
  Result<> ok;
  inventory.live.WithHosts(
      [&](const std::vector<const Host*>& hosts, const std::function<bool(HostId)>& online) {
        const auto matching = wanted->Resolve(hosts, lookup, options);
        if (!matching) {
          ok = Fail(matching.error());
          return;
        }
        for (const auto index : *matching) {
          targets->push_back({hosts[index]->id, hosts[index]->name});
          if (!online(hosts[index]->id)) offline.insert(hosts[index]->id);
          if (hosts[index]->state == HostState::kCopy)
            resolved.copies.push_back(hosts[index]->name);
        }
      },
      wanted->OnlyNames());
  const bool not_found = !ok && ok.error().code == ErrorCode::kNotFound;
  if (options.declared && (not_found || !wanted->OnlyNames()))
    if (const auto found = FindLeftOut(inventory, expression, exclude, go_on, resolved); !found)
      return Fail(found.error());
  if (not_found) return Fail(NothingFound(inventory.live, *wanted, ok.error(), resolved));
  if (!ok) return Fail(ok.error());
  std::ranges::sort(*targets,
                    [](const Target& a, const Target& b) { return NaturalLess(a.name, b.name); });
  for (const auto& target : *targets)
    if (offline.contains(target.host)) resolved.offline.push_back(target.name);
  resolved.targets = std::move(targets);
  resolved.group_authors = lookup.Authors();
  return resolved;
}

std::string LeftOutText(const Resolved& resolved) {
  std::string text = resolved.maintained;
  const auto add = [&text](std::string_view more) {
    text += fmt::format("{}{}", text.empty() ? "" : "; ", more);
  };
  if (const auto& names = resolved.never_joined; !names.empty())
    add(fmt::format("{} declared and never joined: {}", names.size(),
                    FoldHostNames(names, kMostNames)));
  if (const auto& names = resolved.left_out_copies; !names.empty()) add(CopiesText(names));
  if (const auto& names = resolved.revoked; !names.empty())
    add(fmt::format("{} revoked: {}", names.size(), FoldHostNames(names, kMostNames)));
  return text;
}

std::string NeverJoinedText(const std::vector<std::string>& names) {
  return fmt::format("{} {} declared and never joined{}", FoldHostNames(names, kMostNames),
                     names.size() == 1 ? "is" : "are", kHowToJoin);
}

void WarnOfCopies(const Resolved& resolved, std::vector<std::string>& warnings) {
  if (const auto copies = CopiesText(resolved.copies); !copies.empty())
    warnings.push_back(copies + " (refused; 'muster hosts' says why)");
}

std::set<std::string> GroupAuthors(const Inventory& inventory, const std::string& expression) {
  auto lookup = LookupIn(inventory);
  static_cast<void>(lookup.Parse(expression));
  return lookup.Authors();
}

}  // namespace muster::server
