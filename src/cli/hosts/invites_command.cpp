#include <cstdio>

#include <CLI/CLI.hpp>
#include <boost/json.hpp>

#include "base/text.hpp"
#include "cli/client/api_client.hpp"
#include "cli/client/retries.hpp"
#include "cli/context.hpp"
#include "cli/runs/report.hpp"
#include "cli/terminal/confirm.hpp"
#include "cli/terminal/list.hpp"
#include "cli/terminal/times.hpp"
#include "domain/canonical.hpp"
#include "domain/join_token.hpp"

namespace muster::cli {
namespace {

namespace json = boost::json;

constexpr std::size_t kMostTokenBytes = 4096;
constexpr const char* kInvitesExamples = R"(Examples:
  muster invites                                  what can still be used to join
  muster invites revoke 3f9a17c2 --reason leaked  refuse one from now on
  muster invites revoke --reason leaked < FILE    the one whose token is in FILE

'muster agents invite' and 'muster servers invite' make them.)";

struct InviteFlags {
  std::string id;
  std::string reason;
  bool yes = false;
};

std::string ForText(const json::value& invite) {
  const std::string names = TextOf(invite, "names");
  if (const auto joined = TextOf(invite, "joined"); !joined.empty())
    return fmt::format("server {}, which has joined", joined);
  return names.empty() ? TextOf(invite, "kind") + "s" : TextOf(invite, "kind") + "s " + names;
}

Result<json::value> OpenInvites(const Context& context, ApiClient& api) {
  return Persist(context, kPatience, [&] { return api.Get("/invites"); });
}

Result<int> ListInvites(const Context& context) {
  auto api = ApiClient::Open(context);
  if (!api) return Fail(api.error());
  const auto found = OpenInvites(context, *api);
  if (!found) return Fail(found.error());
  if (context.PrintDocument(*found)) return 0;
  const auto& list = ListOf(*found, "invites");
  if (list.empty()) {
    context.Say("no invite can be used");
    return 0;
  }
  Table table({"ID", "FOR", "USES LEFT", "EXPIRES", "CREATED", "BY"});
  for (const auto& invite : list)
    table.Add({ShownInvite(TextOf(invite, "id")), ForText(invite),
               Count(static_cast<std::uint64_t>(NumberOf(invite, "uses_left"))),
               context.times.Text(TextOf(invite, "expires")),
               Ago(ParseTime(TextOf(invite, "created")), WallNow()), TextOf(invite, "created_by")});
  return ShowList(context, table.Text(context.terminal.colour_out), CountOf(list.size(), "invite"));
}

// The one invite that begins so; the server decides when there are none or several.
Result<std::string> WhatIsRevoked(const Context& context, ApiClient& api, const std::string& id) {
  const auto found = OpenInvites(context, api);
  if (!found) return Fail(found.error());
  for (const auto& invite : ListOf(*found, "invites"))
    if (TextOf(invite, "id").starts_with(id))
      return fmt::format("invite {} for {}, made by {},", ShownInvite(TextOf(invite, "id")),
                         ForText(invite), TextOf(invite, "created_by"));
  return Fail(ErrorCode::kNotFound,
              "there is no invite '{}' that could still be used; see 'muster invites'", id);
}

// Of the token on stdin: as an argument others would see it.
Result<std::string> IdOfToken(const Context& context) {
  if (context.terminal.stdin_tty)
    return Fail(ErrorCode::kInvalid,
                "name the invite by its id (see 'muster invites'), or give its token on standard "
                "input: muster invites revoke < FILE");
  std::string text(kMostTokenBytes, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), stdin));
  const auto token = ParseJoinToken(Trim(text));
  if (!token) return Fail(token.error());
  return ToHex(Sha256Of(token->secret));
}

Result<std::string> WhichInvite(const Context& context, const std::string& given) {
  if (given.empty() || given == "-") return IdOfToken(context);
  if (given.starts_with("mj1."))
    return Fail(ErrorCode::kInvalid,
                "this is a token, which others see as an argument: give it on standard input "
                "(muster invites revoke < FILE)");
  return given;
}

Result<int> RevokeInvite(const Context& context, const InviteFlags& flags) {
  const auto id = WhichInvite(context, flags.id);
  if (!id) return Fail(id.error());
  auto api = ApiClient::Open(context);
  if (!api) return Fail(api.error());
  const auto what = WhatIsRevoked(context, *api, *id);
  if (!what) return Fail(what.error());
  const auto agreed = Agreed(context, *api, flags.yes, Role::kAdmin, {.act = "Revoke " + *what});
  if (!agreed) return Fail(agreed.error());
  if (!*agreed) return kExitInterrupted;
  const auto path = "/invites/" + Segment(*id) + "/revoke";
  const auto done =
      Act(context, [&] { return api->Post(path, json::object{{"reason", flags.reason}}); });
  if (!done) return Fail(done.error());
  if (!context.PrintDocument(*done))
    context.Say(fmt::format("invite {} is revoked; hosts that joined with it stay",
                            ShownInvite(TextOf(*done, "id"))));
  return 0;
}

}  // namespace

void AddInvites(CLI::App& app, Context& context) {
  auto* invites = app.add_subcommand("invites", "List tokens that can still be used to join");
  invites->require_subcommand(0, 1);
  invites->footer(kInvitesExamples);
  invites->callback([&context, invites] {
    if (invites->get_subcommands().empty())
      context.action = [&context] { return ListInvites(context); };
  });
  auto* revoke = invites->add_subcommand("revoke", "Revoke an invite");
  const auto flags = std::make_shared<InviteFlags>();
  revoke->footer(kInvitesExamples);
  revoke
      ->add_option("id", flags->id,
                   "The invite, by the first digits of its id (default: that of the token on "
                   "standard input)")
      ->type_name("ID");
  revoke->add_option("--reason", flags->reason, "Reason, for the audit trail")->type_name("TEXT");
  revoke->add_flag("-y,--yes", flags->yes, "Do not ask");
  revoke->callback([&context, flags] {
    context.action = [&context, flags] { return RevokeInvite(context, *flags); };
  });
}

}  // namespace muster::cli
