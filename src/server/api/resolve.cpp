#include "server/api/resolve.hpp"

#include <algorithm>
#include <set>

#include "domain/copies_text.hpp"
#include "domain/host_ranges.hpp"
#include "server/api/target_lookup.hpp"

namespace muster::server::api {
namespace {

constexpr std::size_t kMostNames = 1000;  // bytes

// Whether a long look-up for the call goes on; for no call it does.
std::function<Result<>()> GoOnFor(const Call* call) {
  return [call] { return call != nullptr ? call->GoesOn() : Result<>{}; };
}

// Of the hosts that are declared and never joined, those that the expression means by their labels.
// One that names a host exactly has failed before.
Result<std::vector<std::string>> NeverJoined(Services& services, const TargetExpression& wanted,
                                             const std::string& expression,
                                             const std::string& exclude, const Call* call) {
  std::vector<std::string> names;
  if (wanted.OnlyNames()) return names;
  const auto hosts = services.declared.NeverJoined(services.live);
  if (!hosts) return Fail(hosts.error());
  if ((*hosts)->empty()) return names;
  std::vector<const Host*> all;
  for (const Host& host : **hosts) all.push_back(&host);
  // Groups mean others among these hosts.
  TargetLookup lookup(
      services.store, [&all](const TargetLookup::SeeHosts& see) { see(all); }, GoOnFor(call));
  auto again = lookup.Parse(expression);
  if (!again) return Fail(again.error());
  if (!exclude.empty()) {
    auto unwanted = lookup.Parse(exclude);
    if (!unwanted) return Fail(unwanted.error());
    again = std::move(*again).Without(std::move(*unwanted));
  }
  const auto matching =
      again->Resolve(all, lookup, {.ignore_missing = true, .any_state = true, .allow_none = true});
  if (!matching) return Fail(matching.error());
  for (const auto index : *matching) names.push_back(all[index]->name);
  return names;
}

TargetLookup LookupIn(Services& services, const Call* call = nullptr) {
  return {services.store,
          [&services](const TargetLookup::SeeHosts& see) {
            services.live.WithHosts(
                [&see](const std::vector<const Host*>& hosts, const auto&) { see(hosts); });
          },
          GoOnFor(call)};
}

}  // namespace

Result<Resolved> ResolveTargets(Services& services, const std::string& expression,
                                const std::string& exclude, ResolveOptions options,
                                const Call* call) {
  auto lookup = LookupIn(services, call);
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
  services.live.WithHosts(
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
  if (!ok && ok.error().code == ErrorCode::kNotFound)
    services.live.WithHosts([&](const std::vector<const Host*>& hosts, const auto&) {
      ok = Fail(ErrorCode::kNotFound, "{}{}", ok.error().message, wanted->Hint(hosts));
    });
  if (options.declared) {
    auto never = NeverJoined(services, *wanted, expression, exclude, call);
    if (!never) return Fail(never.error());
    resolved.never_joined = std::move(*never);
  }
  if (!ok && ok.error().code == ErrorCode::kNotFound && !resolved.never_joined.empty())
    return Fail(ErrorCode::kNotFound, "{}; {}", ok.error().message, NeverJoinedText(resolved));
  if (!ok) return Fail(ok.error());
  std::ranges::sort(*targets,
                    [](const Target& a, const Target& b) { return NaturalLess(a.name, b.name); });
  for (const auto& target : *targets)
    if (offline.contains(target.host)) resolved.offline.push_back(target.name);
  resolved.targets = std::move(targets);
  resolved.group_authors = lookup.Authors();
  return resolved;
}

std::string NeverJoinedText(const Resolved& resolved) {
  if (resolved.never_joined.empty()) return {};
  return fmt::format("{} declared and never joined: {}", resolved.never_joined.size(),
                     FoldHostNames(resolved.never_joined, kMostNames));
}

void WarnOfCopies(const Resolved& resolved, std::vector<std::string>& warnings) {
  if (const auto copies = CopiesText(resolved.copies); !copies.empty())
    warnings.push_back(copies + " (refused; 'muster hosts' says why)");
}

std::set<std::string> GroupAuthors(Services& services, const std::string& expression) {
  auto lookup = LookupIn(services);
  static_cast<void>(lookup.Parse(expression));
  return lookup.Authors();
}

}  // namespace muster::server::api
