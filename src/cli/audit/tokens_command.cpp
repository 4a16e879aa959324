#include <CLI/CLI.hpp>
#include <boost/json.hpp>

#include "base/similar.hpp"
#include "cli/client/api_client.hpp"
#include "cli/client/retries.hpp"
#include "cli/context.hpp"
#include "cli/terminal/confirm.hpp"
#include "cli/terminal/list.hpp"
#include "cli/terminal/times.hpp"
#include "domain/token.hpp"

namespace muster::cli {
namespace {

namespace json = boost::json;

constexpr const char* kTokensExamples = R"(Examples:
  muster tokens create alice --role operator --expires 90d > alice.token
  muster tokens create dashboard --role viewer
  muster tokens list
  muster tokens revoke alice --reason 'left the team'

Roles: a viewer sees everything but the audit trail; an operator also starts and stops work; an
admin also manages tokens, hosts, secrets and servers, and reads the audit trail.)";

struct CreateFlags {
  std::string name;
  std::string role;
  std::string expires;
};

struct RevokeFlags {
  std::string name;
  std::string reason;
  bool yes = false;
};

Result<int> Create(const Context& context, const CreateFlags& flags) {
  json::object body{{"name", flags.name}, {"role", flags.role}};
  if (!flags.expires.empty()) {
    const auto life = Lasting("--expires", flags.expires, Duration(1), std::chrono::days(3650));
    if (!life) return Fail(life.error());
    body["expires_ms"] = life->count();
  }
  auto api = ApiClient::Open(context);
  if (!api) return Fail(api.error());
  // The key brings the same secret again when an answer is lost.
  const auto key = NewKey();
  const auto made = Persist(context, kPatience, [&] { return api->Post("/tokens", body, key); });
  if (!made) return Fail(made.error());
  StaysDone(fmt::format("token {0} was made all the same; withdraw it: muster tokens revoke {0}",
                        flags.name));
  if (context.PrintDocument(*made)) return 0;
  const auto expires = TextOf(*made, "expires");
  context.Say(fmt::format(
      "token {}: {}, {}; it is shown only this once", flags.name, TextOf(*made, "role"),
      expires.empty() ? "never expires" : "expires " + context.err_times.Text(expires)));
  Write(stdout, TextOf(*made, "token") + "\n");
  return 0;
}

Result<int> ListTokens(const Context& context) {
  auto api = ApiClient::Open(context);
  if (!api) return Fail(api.error());
  const auto tokens = api->Get("/tokens");
  if (!tokens) return Fail(tokens.error());
  if (context.PrintDocument(*tokens)) return 0;
  Table table({"NAME", "ROLE", "STATE", "EXPIRES", "CREATED", "BY"});
  Tally states;
  for (const auto& token : ListOf(*tokens, "tokens")) {
    states.Add(TextOf(token, "state"));
    const auto expires = TextOf(token, "expires");
    table.Add({TextOf(token, "name"), TextOf(token, "role"), TextOf(token, "state"),
               expires.empty() ? "never" : context.times.Text(expires),
               Ago(ParseTime(TextOf(token, "created")), WallNow()), TextOf(token, "created_by")});
  }
  return ShowList(context, table.Text(context.terminal.colour_out), states.Text("token"));
}

// The token as it is listed. kNotFound when there is none.
Result<json::value> FindToken(const Context& context, ApiClient& api, const std::string& name) {
  const auto tokens = Persist(context, kPatience, [&] { return api.Get("/tokens"); });
  if (!tokens) return Fail(tokens.error());
  NearestName nearest(name);
  for (const auto& token : ListOf(*tokens, "tokens")) {
    if (TextOf(token, "name") == name) return token;
    nearest.Offer(TextOf(token, "name"));
  }
  // It is a file and not listed; the server says what to do about it.
  if (name == kBootstrapAdmin) return json::value(json::object());
  return Fail(ErrorCode::kNotFound, "there is no token '{}'{}; see 'muster tokens list'", name,
              nearest.Hint());
}

Result<int> Revoke(const Context& context, const RevokeFlags& flags) {
  auto api = ApiClient::Open(context);
  if (!api) return Fail(api.error());
  const auto token = FindToken(context, *api, flags.name);
  if (!token) return Fail(token.error());
  if (const auto at = TextOf(*token, "revoked"); !at.empty()) {
    if (!context.PrintDocument(*token))
      context.Say(fmt::format("token {} was revoked already at {} by {}", flags.name,
                              context.err_times.Text(at), TextOf(*token, "revoked_by")));
    return 0;
  }
  json::object body;
  if (!flags.reason.empty()) body["reason"] = flags.reason;
  // The first admin's token is a file; the server refuses and says what to do.
  const bool is_file = flags.name == kBootstrapAdmin;
  const auto role = TextOf(*token, "role");
  const auto agreed = Agreed(context, *api, flags.yes || is_file, Role::kAdmin,
                             {.act = fmt::format("Revoke token {} ({})", flags.name, role)});
  if (!agreed) return Fail(agreed.error());
  if (!*agreed) return kExitInterrupted;
  const auto path = fmt::format("/tokens/{}/revoke", Segment(flags.name));
  const auto revoked = Act(context, [&] { return api->Post(path, body); });
  if (!revoked) return Fail(revoked.error());
  if (!context.PrintDocument(*revoked))
    context.Say(fmt::format("token {} is revoked; what it started goes on", flags.name));
  return 0;
}

}  // namespace

void AddTokens(CLI::App& app, Context& context) {
  auto* tokens = app.add_subcommand("tokens", "Manage tokens of people and programs");
  tokens->require_subcommand(1);
  tokens->footer(kTokensExamples);

  auto* create = tokens->add_subcommand("create", "Create a token and print it once");
  const auto created = std::make_shared<CreateFlags>();
  create->footer(kTokensExamples);
  create->add_option("name", created->name, "Name of its owner")->type_name("NAME")->required();
  create->add_option("--role", created->role, "Role of the token")
      ->check(CLI::IsMember({"viewer", "operator", "admin"}))
      ->required();
  create->add_option("--expires", created->expires, "Lifetime, like 90d (default: unlimited)")
      ->type_name("DURATION");
  create->callback([&context, created] {
    context.action = [&context, created] { return Create(context, *created); };
  });

  auto* list = tokens->add_subcommand("list", "List tokens, with those that ended lately");
  list->footer(kTokensExamples);
  list->callback([&context] { context.action = [&context] { return ListTokens(context); }; });

  auto* revoke = tokens->add_subcommand("revoke", "Revoke a token");
  const auto revoked = std::make_shared<RevokeFlags>();
  revoke->footer(kTokensExamples);
  revoke->add_option("name", revoked->name, "Which")->type_name("TOKEN")->required();
  revoke->add_option("--reason", revoked->reason, "Reason, for the audit trail");
  revoke->add_flag("-y,--yes", revoked->yes, "Do not ask");
  revoke->callback([&context, revoked] {
    context.action = [&context, revoked] { return Revoke(context, *revoked); };
  });
}

}  // namespace muster::cli
