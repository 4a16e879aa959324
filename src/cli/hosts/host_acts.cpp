#include "cli/hosts/host_acts.hpp"

#include <map>
#include <memory>

#include <CLI/CLI.hpp>
#include <boost/json.hpp>

#include "cli/client/api_client.hpp"
#include "cli/client/retries.hpp"
#include "cli/terminal/confirm.hpp"
#include "domain/host.hpp"

namespace muster::cli {
namespace {

namespace json = boost::json;

constexpr const char* kLabelExamples = R"(Examples:
  muster hosts label web7 zone=sh1 rack=r12    set two labels
  muster hosts label 'web*' canary-            remove one
  muster hosts label zone=sh1 zone=sh2 old-    both at once
  muster hosts label all fleet=eu --yes        every host, without a question)";

struct LabelFlags {
  std::string targets;
  std::vector<std::string> changes;
  bool yes = false;
};

// Of "app:web", as other systems write it.
std::string LabelHint(std::string change) {
  const auto colon = change.find(':');
  if (colon == std::string::npos || colon == 0) return "";
  change[colon] = '=';
  return fmt::format("; did you mean {}?", change);
}

Result<json::object> ReadChanges(const LabelFlags& flags) {
  json::object set;
  json::array remove;
  std::map<std::string, std::string> said;  // by key
  for (const auto& change : flags.changes) {
    const auto equals = change.find('=');
    const bool removes = equals == std::string::npos && change.ends_with('-');
    if (equals == std::string::npos && !removes)
      return Fail(ErrorCode::kInvalid, "'{}': write KEY=VALUE to set a label, KEY- to remove it{}",
                  change, LabelHint(change));
    const auto key = removes ? change.substr(0, change.size() - 1) : change.substr(0, equals);
    const auto value = removes ? "" : change.substr(equals + 1);
    if (const auto fits = CheckLabel(key, value); !fits) return Fail(fits.error());
    if (const auto& before = said.emplace(key, change).first->second; before != change)
      return Fail(ErrorCode::kInvalid, "'{}' and '{}' contradict each other: say one of them",
                  before, change);
    if (removes)
      remove.emplace_back(key);
    else
      set[key] = value;
  }
  return json::object{
      {"targets", flags.targets}, {"set", std::move(set)}, {"remove", std::move(remove)}};
}

// Whether the person means so many hosts; see Confirmed.
Result<bool> ConfirmedHosts(const Context& context, ApiClient& api, const std::string& targets) {
  const auto found = Persist(context, kPatience, [&] {
    return api.Post("/hosts/resolve", json::object{{"targets", targets}});
  });
  if (!found) return Fail(found.error());
  return Confirmed(context, "Change labels",
                   json::object{{"hosts", FieldOf(*found, "count")},
                                {"names", FieldOf(*found, "names")},
                                {"says_all", FieldOf(*found, "says_all")}});
}

Result<int> Label(const Context& context, const LabelFlags& flags) {
  const auto body = ReadChanges(flags);
  if (!body) return Fail(body.error());
  auto api = ApiClient::Open(context);
  if (!api) return Fail(api.error());
  if (!flags.yes && context.CanAsk()) {
    if (auto may = CheckRole(context, *api, flags.yes, Role::kAdmin); !may)
      return Fail(may.error());
    const auto meant = ConfirmedHosts(context, *api, flags.targets);
    if (!meant) return Fail(meant.error());
    if (!*meant) {
      context.Say("nothing was changed");
      return kExitInterrupted;
    }
  }
  const auto done = Act(context, [&] { return api->Post("/hosts/labels", *body); });
  if (!done) return Fail(done.error());
  if (!context.PrintDocument(*done))
    context.Say(fmt::format("{} of {} changed",
                            Count(static_cast<std::uint64_t>(NumberOf(*done, "changed"))),
                            Hosts(static_cast<std::uint64_t>(NumberOf(*done, "hosts")))));
  return 0;
}

}  // namespace

void AddHostActs(CLI::App& hosts, Context& context) {
  auto* label = hosts.add_subcommand("label", "Set and remove labels of hosts");
  const auto flags = std::make_shared<LabelFlags>();
  label->footer(kLabelExamples);
  label->add_option("targets", flags->targets, "Which hosts")->required()->type_name("EXPR");
  label->add_option("changes", flags->changes, "KEY=VALUE sets, KEY- removes")
      ->required()
      ->type_name("K=V");
  label->add_flag("-y,--yes", flags->yes, "Do not ask");
  label->callback(
      [&context, flags] { context.action = [&context, flags] { return Label(context, *flags); }; });
  AddHostMaintenance(hosts, context);
  AddHostsRemove(hosts, context);
  AddHostsImport(hosts, context);
}

}  // namespace muster::cli
