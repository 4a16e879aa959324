#include <memory>

#include <CLI/CLI.hpp>
#include <boost/json.hpp>

#include "cli/client/api_client.hpp"
#include "cli/client/retries.hpp"
#include "cli/hosts/host_acts.hpp"
#include "cli/terminal/confirm.hpp"

namespace muster::cli {
namespace {

namespace json = boost::json;

constexpr const char* kAgentActsExamples = R"(Examples:
  muster agents pending                        who waits to take over a known name
  muster agents replace web7                   it is the same host, set up again
  muster agents reject web7 --reason 'not us'  it is not
  muster agents revoke web7 --reason stolen    its key is refused from now on)";

struct Flags {
  std::string name;
  std::string reason;
  std::string key;
  bool yes = false;
};

Result<json::value> Pending(ApiClient& api) { return api.Get("/agents/pending"); }

Result<int> ListPending(const Context& context) {
  auto api = ApiClient::Open(context);
  if (!api) return Fail(api.error());
  const auto found = Pending(*api);
  if (!found) return Fail(found.error());
  if (context.PrintDocument(*found)) return 0;
  const auto& list = ListOf(*found, "pending");
  if (list.empty()) {
    context.Say("no machine waits");
    return 0;
  }
  Table table({"NAME", "FROM", "SINCE", "KEY"});
  for (const auto& join : list)
    table.Add({TextOf(join, "name"), TextOf(join, "address"),
               Ago(ParseTime(TextOf(join, "since")), WallNow()),
               TextOf(join, "key").substr(0, 16)});
  Write(stdout, table.Text(context.terminal.colour_out));
  return 0;
}

// The whole key of the one that waits under this name, and begins with what was given: so that
// nobody else is let in who took its place a moment ago.
Result<std::string> KeyOf(ApiClient& api, const Flags& flags) {
  const auto found = Pending(api);
  if (!found) return Fail(found.error());
  for (const auto& join : ListOf(*found, "pending")) {
    if (TextOf(join, "name") != flags.name) continue;
    if (TextOf(join, "key").starts_with(flags.key)) return TextOf(join, "key");
    return Fail(ErrorCode::kConflict, "the key that waits under '{}' begins with {}", flags.name,
                TextOf(join, "key").substr(0, 16));
  }
  return Fail(ErrorCode::kNotFound,
              "no machine waits to take over a host named '{}'; see 'muster agents pending'",
              flags.name);
}

Result<int> Replace(const Context& context, const Flags& flags) {
  auto api = ApiClient::Open(context);
  if (!api) return Fail(api.error());
  const auto key = KeyOf(*api, flags);
  if (!key) return Fail(key.error());
  const auto agreed = Agreed(
      context, *api, flags.yes, Role::kAdmin,
      {.act = fmt::format("Let the machine with key {} replace host {}, and refuse the old key,",
                          key->substr(0, 16), flags.name)});
  if (!agreed) return Fail(agreed.error());
  if (!*agreed) return kExitInterrupted;
  const auto path = "/agents/pending/" + Segment(flags.name) + "/accept";
  const auto done = Act(context, [&] { return api->Post(path, json::object{{"key", *key}}); });
  if (!done) return Fail(done.error());
  if (!context.PrintDocument(*done))
    context.Say(fmt::format("{} is the machine with key {} from now on; the old key is refused",
                            flags.name, key->substr(0, 16)));
  return 0;
}

Result<int> Reject(const Context& context, const Flags& flags) {
  auto api = ApiClient::Open(context);
  if (!api) return Fail(api.error());
  const auto path = "/agents/pending/" + Segment(flags.name) + "/reject";
  const auto done =
      Act(context, [&] { return api->Post(path, json::object{{"reason", flags.reason}}); });
  if (!done) return Fail(done.error());
  if (!context.PrintDocument(*done)) context.Say(fmt::format("rejected; {} stays", flags.name));
  return 0;
}

Result<int> Revoke(const Context& context, const Flags& flags) {
  auto api = ApiClient::Open(context);
  if (!api) return Fail(api.error());
  const auto host = "/hosts/" + Segment(flags.name);
  const auto found = Persist(context, kPatience, [&] { return api->Get(host); });
  if (!found) return Fail(found.error());
  if (TextOf(*found, "state") == "revoked") {
    if (!context.PrintDocument(*found))
      context.Say(
          fmt::format("host {} was revoked already ({})", flags.name, TextOf(*found, "note")));
    return 0;
  }
  const auto agreed =
      Agreed(context, *api, flags.yes, Role::kAdmin,
             {.act = fmt::format("Refuse the key of host {} and lose what it runs", flags.name)});
  if (!agreed) return Fail(agreed.error());
  if (!*agreed) return kExitInterrupted;
  const auto done = Act(
      context, [&] { return api->Post(host + "/revoke", json::object{{"reason", flags.reason}}); });
  if (!done) return Fail(done.error());
  if (!context.PrintDocument(*done))
    context.Say(
        fmt::format("{} is revoked: its key is refused, and what it ran is lost", flags.name));
  return 0;
}

}  // namespace

void AddAgentActs(CLI::App& agents, Context& context) {
  const auto flags = std::make_shared<Flags>();
  const auto add = [&](const char* name, const char* what, auto act) {
    auto* command = agents.add_subcommand(name, what);
    command->footer(kAgentActsExamples);
    command->add_option("name", flags->name, "The host")->required()->type_name("HOST");
    command->callback([&context, flags, act] {
      context.action = [&context, flags, act] { return act(context, *flags); };
    });
    return command;
  };
  auto* pending =
      agents.add_subcommand("pending", "List machines that wait to take over a known name");
  pending->footer(kAgentActsExamples);
  pending->callback([&context] { context.action = [&context] { return ListPending(context); }; });
  auto* replace = add("replace", "Let the waiting machine take over the host", Replace);
  replace->add_option("--key", flags->key, "Only if its key begins with this")->type_name("PREFIX");
  auto* reject = add("reject", "Refuse the waiting machine", Reject);
  auto* revoke = add("revoke", "Refuse the host's key from now on", Revoke);
  for (auto* command : {reject, revoke})
    command->add_option("--reason", flags->reason, "Reason, for the audit trail")
        ->type_name("TEXT");
  for (auto* command : {replace, revoke}) command->add_flag("-y,--yes", flags->yes, "Do not ask");
}

}  // namespace muster::cli
