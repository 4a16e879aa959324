#include <CLI/CLI.hpp>
#include <boost/json.hpp>

#include "cli/client/api_client.hpp"
#include "cli/client/retries.hpp"
#include "cli/context.hpp"
#include "cli/hosts/host_acts.hpp"
#include "cli/hosts/hosts_command.hpp"
#include "cli/runs/report.hpp"
#include "cli/terminal/times.hpp"
#include "domain/host.hpp"

namespace muster::cli {
namespace {

namespace json = boost::json;

constexpr const char* kAgentsExamples = R"(Examples:
  muster agents invite                              one host may join, within the hour
  muster agents invite --uses 3000 --expires 1d --label zone=sh1
  muster agents invite --name 'web*'                only for hosts so named
  muster-agent --server URL --data DIR --join-file FILE   on the host
  muster agents pending                             who waits to take over a known name
  muster agents replace web7                        let it; or: muster agents reject web7
  muster agents revoke web7 --reason stolen         never talk to that key again)";

struct AgentInviteFlags {
  std::uint32_t uses = 1;
  std::string expires = "1h";
  std::vector<std::string> labels;
  std::string names;
  bool replace = false;
  bool no_own_labels = false;
};

Result<json::object> LabelsOf(const std::vector<std::string>& pairs) {
  json::object labels;
  for (const auto& pair : pairs) {
    const auto equals = pair.find('=');
    if (equals == std::string::npos)
      return Fail(ErrorCode::kInvalid, "--label '{}': expected KEY=VALUE", pair);
    const auto key = pair.substr(0, equals);
    const auto value = pair.substr(equals + 1);
    if (auto ok = CheckLabel(key, value); !ok) return Fail(ok.error());
    labels[key] = value;
  }
  return labels;
}

Result<int> InviteAgent(const Context& context, const AgentInviteFlags& flags) {
  const auto expires = Lasting("--expires", flags.expires, Duration(1), std::chrono::days(365));
  if (!expires) return Fail(expires.error());
  auto labels = LabelsOf(flags.labels);
  if (!labels) return Fail(labels.error());
  auto api = ApiClient::Open(context);
  if (!api) return Fail(api.error());
  json::object body{
      {"uses", flags.uses}, {"expires_ms", expires->count()}, {"replace", flags.replace}};
  if (!labels->empty()) body["labels"] = std::move(*labels);
  if (!flags.names.empty()) body["names"] = flags.names;
  if (flags.no_own_labels) body["no_own_labels"] = true;
  const auto key = NewKey();
  const auto invite =
      Persist(context, kPatience, [&] { return api->Post("/agents/invites", body, key); });
  if (!invite) return Fail(invite.error());
  StaysDone(InviteStays(*invite));
  if (context.PrintDocument(*invite)) return 0;
  Write(stdout, TextOf(*invite, "token") + "\n");
  const std::string id = ShownInvite(TextOf(*invite, "id"));
  // Without a public URL this address is at least one that works for somebody.
  const std::string server = TextOf(*invite, "server");
  context.Say(
      fmt::format("invite {}; on the host, with the token in FILE: muster-agent --server {} "
                  "--join-file FILE",
                  id, server.empty() ? context.server : server));
  return 0;
}

}  // namespace

void AddAgents(CLI::App& app, Context& context) {
  auto* agents = app.add_subcommand("agents", "Let hosts join");
  agents->require_subcommand(1);
  agents->footer(kAgentsExamples);
  auto* invite =
      agents->add_subcommand("invite", "Create a token for hosts to join with, and print it");
  const auto flags = std::make_shared<AgentInviteFlags>();
  invite->footer(kAgentsExamples);
  invite->add_option("--uses", flags->uses, "How many hosts may join with it")
      ->type_name("N")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  invite->add_option("--expires", flags->expires, "Lifetime of the token")
      ->type_name("DURATION")
      ->capture_default_str();
  invite
      ->add_option("--label", flags->labels,
                   "Label of each host that joins with it; may be repeated")
      ->type_name("K=V")
      ->allow_extra_args(false);
  invite->add_option("--name", flags->names, "Only hosts whose name matches may join")
      ->type_name("GLOB");
  invite->add_flag("--replace", flags->replace,
                   "May take over a known name with a new key (re-imaged hosts)");
  invite->add_flag("--no-own-labels", flags->no_own_labels,
                   "Ignore labels that a host reports itself");
  invite->callback([&context, flags] {
    context.action = [&context, flags] { return InviteAgent(context, *flags); };
  });
  auto* list = agents->add_subcommand("list", "List agents, as muster hosts does");
  list->footer(kAgentsExamples);
  list->callback([&context] { context.action = [&context] { return ListHosts(context, {}); }; });
  AddAgentActs(*agents, context);
}

}  // namespace muster::cli
