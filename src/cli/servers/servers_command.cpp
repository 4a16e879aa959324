#include <CLI/CLI.hpp>
#include <boost/json.hpp>
#include <fmt/ranges.h>

#include "base/similar.hpp"
#include "cli/client/api_client.hpp"
#include "cli/client/retries.hpp"
#include "cli/context.hpp"
#include "cli/runs/report.hpp"
#include "cli/terminal/confirm.hpp"
#include "cli/terminal/times.hpp"

namespace muster::cli {
namespace {

namespace json = boost::json;

constexpr const char* kServersExamples = R"(Examples:
  muster servers                              who is there, who leads, who is gone
  muster servers invite --name s4             a token for a new server, then on it:
  musterd join --server URL --join-file FILE --name s4 --data DIR
  muster servers drain s2 --reason 'kernel'   its nodes move, it does not lead; then stop it
  muster servers undrain s2
  muster servers finalize                     the last step of an upgrade of all servers)";

struct ServerInviteFlags {
  std::string name;
  std::string expires = "1h";
};

struct DrainFlags {
  std::string server;
  std::string reason;
  bool yes = false;
};

std::string LabelsText(const json::value& server) {
  std::string text;
  const auto* labels = server.as_object().if_contains("labels");
  if (labels == nullptr || !labels->is_object()) return text;
  for (const auto& label : labels->as_object())
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", std::string_view(label.key()),
                        TextOf(*labels, label.key()));
  return text;
}

// What `muster servers` says of an upgrade under way; a server of an older version says nothing.
std::string UpgradeText(const json::value& answer) {
  const auto* schema = answer.as_object().if_contains("schema");
  if (schema == nullptr || ListOf(*schema, "unfinished").empty()) return "";
  if (FlagOf(*schema, "finalize_due"))
    return "every server runs the new version: end the upgrade with 'muster servers finalize'";
  std::vector<std::string> older;
  for (const auto& name : ListOf(*schema, "older_servers")) older.emplace_back(name.as_string());
  return fmt::format("an upgrade is under way; still to do: {}", fmt::join(older, ", "));
}

Result<int> ListServers(const Context& context) {
  auto api = ApiClient::Open(context);
  if (!api) return Fail(api.error());
  const auto answer = api->Get("/servers");
  if (!answer) return Fail(answer.error());
  if (context.PrintDocument(*answer)) return 0;
  Table table({"SERVER", "STATE", "LINKS", "SINCE", "VERSION", "URL", "LABELS"});
  for (const auto& server : ListOf(*answer, "servers"))
    table.Add({TextOf(server, "name"), TextOf(server, "state"),
               fmt::format("{}", NumberOf(server, "links")),
               Ago(ParseTime(TextOf(server, "since")), WallNow()), TextOf(server, "version"),
               TextOf(server, "url"), LabelsText(server)});
  table.Fit(context.terminal.columns, {6, 5});
  Write(stdout, table.Text(context.terminal.colour_out));
  for (const auto& server : ListOf(*answer, "servers"))
    if (const auto trouble = TextOf(server, "trouble"); !trouble.empty())
      context.Say(fmt::format("{}: {}", TextOf(server, "name"), trouble));
  if (const auto upgrade = UpgradeText(*answer); !upgrade.empty()) context.Say(upgrade);
  return 0;
}

Result<int> InviteServer(const Context& context, const ServerInviteFlags& flags) {
  const auto expires = Lasting("--expires", flags.expires, Duration(1), std::chrono::days(7));
  if (!expires) return Fail(expires.error());
  auto api = ApiClient::Open(context);
  if (!api) return Fail(api.error());
  json::object body{{"expires_seconds", std::chrono::ceil<std::chrono::seconds>(*expires).count()}};
  if (!flags.name.empty()) body["name"] = flags.name;
  const auto key = NewKey();
  const auto invite =
      Persist(context, kPatience, [&] { return api->Post("/servers/invites", body, key); });
  if (!invite) return Fail(invite.error());
  StaysDone(InviteStays(*invite));
  if (context.PrintDocument(*invite)) return 0;
  Write(stdout, TextOf(*invite, "token") + "\n");
  const std::string id = ShownInvite(TextOf(*invite, "id"));
  const std::string server = TextOf(*invite, "server");
  context.Say(fmt::format(
      "invite {}; this token gives every key of this cluster. On the new server, with it in FILE: "
      "musterd join --server {} --join-file FILE{}",
      id, server.empty() ? context.server : server,
      flags.name.empty() ? "" : " --name " + flags.name));
  return 0;
}

Result<> CheckServer(const Context& context, ApiClient& api, const std::string& name) {
  const auto answer = Persist(context, kPatience, [&] { return api.Get("/servers"); });
  if (!answer) return Fail(answer.error());
  NearestName nearest(name);
  for (const auto& server : ListOf(*answer, "servers")) {
    if (TextOf(server, "name") == name) return {};
    nearest.Offer(TextOf(server, "name"));
  }
  return Fail(ErrorCode::kNotFound, "there is no server '{}'{}; see 'muster servers'", name,
              nearest.Hint());
}

Result<int> Drain(const Context& context, const DrainFlags& flags, bool wanted) {
  auto api = ApiClient::Open(context);
  if (!api) return Fail(api.error());
  json::object body;
  if (!flags.reason.empty()) body["reason"] = flags.reason;
  if (auto known = CheckServer(context, *api, flags.server); !known) return Fail(known.error());
  const auto agreed =
      Agreed(context, *api, !wanted || flags.yes, Role::kAdmin,
             {.act = fmt::format("Send every node of server {} away", flags.server)});
  if (!agreed) return Fail(agreed.error());
  if (!*agreed) return kExitInterrupted;
  const auto path =
      fmt::format("/servers/{}/{}", Segment(flags.server), wanted ? "drain" : "undrain");
  const auto answer = Persist(context, kPatience, [&] { return api->Post(path, body); });
  if (!answer) return Fail(answer.error());
  if (context.PrintDocument(*answer)) return 0;
  context.Say(wanted ? fmt::format("{} drains: its nodes move to other servers and it does not "
                                   "lead; 'muster servers' shows how many are left. A restart of "
                                   "it, or 'muster servers undrain {}', ends that",
                                   flags.server, flags.server)
                     : fmt::format("{} takes part again", flags.server));
  return 0;
}

Result<int> Finalize(const Context& context, const std::string& reason, bool yes) {
  auto api = ApiClient::Open(context);
  if (!api) return Fail(api.error());
  const auto agreed = Agreed(context, *api, yes, Role::kAdmin,
                             {.act = "End the upgrade and lock out servers of an older version"});
  if (!agreed) return Fail(agreed.error());
  if (!*agreed) return kExitInterrupted;
  json::object body;
  if (!reason.empty()) body["reason"] = reason;
  const auto answer = Act(context, [&] { return api->Post("/servers/finalize", body); });
  if (!answer) return Fail(answer.error());
  if (context.PrintDocument(*answer)) return 0;
  std::vector<std::int64_t> steps;
  for (const auto& step : ListOf(*answer, "finished")) steps.push_back(step.as_int64());
  const auto schema = NumberOf(*answer, "schema");
  const std::string at = schema == 0 ? "" : fmt::format("the store is at schema {}; ", schema);
  context.Say(steps.empty()
                  ? at + "nothing was left to do"
                  : fmt::format("{}finished step{} {}: servers of an older version can no "
                                "longer work with it",
                                at, steps.size() == 1 ? "" : "s", fmt::join(steps, ", ")));
  return 0;
}

void AddFinalize(CLI::App& servers, Context& context) {
  const auto reason = std::make_shared<std::string>();
  auto* finalize =
      servers.add_subcommand("finalize", "End an upgrade: remove what only older servers need");
  finalize->footer(kServersExamples);
  finalize->add_option("--reason", *reason, "Reason, for the audit trail");
  const auto yes = std::make_shared<bool>(false);
  finalize->add_flag("-y,--yes", *yes, "Do not ask");
  finalize->callback([&context, reason, yes] {
    context.action = [&context, reason, yes] { return Finalize(context, *reason, *yes); };
  });
}

void AddDrain(CLI::App& servers, Context& context, bool wanted) {
  const auto flags = std::make_shared<DrainFlags>();
  auto* drain = servers.add_subcommand(
      wanted ? "drain" : "undrain",
      wanted ? "Move a server's hosts to other servers, and let another one lead"
             : "Let a drained server take part again");
  drain->footer(kServersExamples);
  drain->add_option("server", flags->server, "Name of the server")->required();
  drain->add_option("--reason", flags->reason, "Reason, for the audit trail");
  if (wanted) drain->add_flag("-y,--yes", flags->yes, "Do not ask");
  drain->callback([&context, flags, wanted] {
    context.action = [&context, flags, wanted] { return Drain(context, *flags, wanted); };
  });
}

}  // namespace

void AddServers(CLI::App& app, Context& context) {
  auto* servers = app.add_subcommand("servers", "List the servers of the cluster");
  servers->footer(kServersExamples);
  servers->require_subcommand(0, 1);
  servers->callback([&context, servers] {
    if (servers->get_subcommands().empty())
      context.action = [&context] { return ListServers(context); };
  });
  const auto flags = std::make_shared<ServerInviteFlags>();
  auto* invite = servers->add_subcommand("invite", "Create a token for a new server, and print it");
  invite->footer(kServersExamples);
  invite->add_option("--name", flags->name, "Only a server of this name may join");
  invite->add_option("--expires", flags->expires, "Lifetime of the token")
      ->type_name("DURATION")
      ->capture_default_str();
  invite->callback([&context, flags] {
    context.action = [&context, flags] { return InviteServer(context, *flags); };
  });
  AddDrain(*servers, context, true);
  AddDrain(*servers, context, false);
  AddFinalize(*servers, context);
}

}  // namespace muster::cli
