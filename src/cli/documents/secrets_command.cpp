#include <array>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <boost/json.hpp>

#include "base/secret_text.hpp"
#include "base/similar.hpp"
#include "base/text.hpp"
#include "cli/client/api_client.hpp"
#include "cli/client/retries.hpp"
#include "cli/context.hpp"
#include "cli/terminal/confirm.hpp"
#include "cli/terminal/list.hpp"
#include "cli/terminal/question.hpp"
#include "domain/secret.hpp"

namespace muster::cli {
namespace {

namespace json = boost::json;

constexpr const char* kSecretsExamples = R"(Examples:
  muster secrets set web.db-password < password.txt
  pass show web/db | muster secrets set web.db-password
  muster secrets set web.db-password --prompt
  muster secrets list
  muster secrets rm web.db-password

A value comes from standard input or the keyboard, and is never shown again. Jobs, parameters and
channels use it as secret:NAME.)";

struct SetFlags {
  std::string name;
  std::vector<std::string> rest;  // what somebody may take for the place of the value
  bool prompt = false;
  bool raw = false;
  bool yes = false;
};

Result<SecretText> ReadInput(bool raw) {
  std::string text;
  std::array<char, 4096> piece{};
  // One byte more than the most, and its line end: enough to see that it is too large.
  while (text.size() <= kMostSecretBytes + 2) {
    const auto size = read(STDIN_FILENO, piece.data(), piece.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return Fail(ErrorCode::kInvalid, "cannot read the value from standard input");
    if (size == 0) break;
    text.append(piece.data(), static_cast<std::size_t>(size));
  }
  if (!raw && text.ends_with('\n')) text.pop_back();
  if (!raw && text.ends_with('\r')) text.pop_back();
  return SecretText::Take(text);
}

// Nothing when the person gave up.
Result<std::optional<SecretText>> AskTwice(const std::string& name) {
  auto first = AskSecret(fmt::format("Value of {}: ", name));
  if (!first) return std::optional<SecretText>();
  auto value = SecretText::Take(*first);
  auto second = AskSecret("Once more: ");
  if (!second) return std::optional<SecretText>();
  const auto again = SecretText::Take(*second);
  if (!EqualSecrets(value.Reveal(), again.Reveal()))
    return Fail(ErrorCode::kInvalid, "the two were not the same; nothing was set");
  return std::optional(std::move(value));
}

Result<std::optional<SecretText>> ValueFor(const Context& context, const SetFlags& flags) {
  if (flags.prompt) {
    if (!context.CanAsk())
      return Fail(ErrorCode::kInvalid,
                  "--prompt needs a terminal; without it the value is read "
                  "from standard input");
    return AskTwice(flags.name);
  }
  if (context.terminal.stdin_tty)
    return Fail(ErrorCode::kInvalid,
                "the value comes from standard input: muster secrets set {} < FILE; to type it: "
                "--prompt",
                flags.name);
  auto value = ReadInput(flags.raw);
  if (!value) return Fail(value.error());
  return std::optional(std::move(*value));
}

Result<std::optional<SecretText>> CheckedValue(const Context& context, const SetFlags& flags) {
  auto value = ValueFor(context, flags);
  if (value && *value)
    if (const auto good = CheckSecretValue((*value)->Reveal()); !good) return Fail(good.error());
  return value;
}

// The version that the server holds now; 0 is none.
Result<std::int64_t> VersionOf(const Context& context, ApiClient& api, const std::string& name) {
  const auto secrets = Persist(context, kPatience, [&] { return api.Get("/secrets"); });
  if (!secrets) return Fail(secrets.error());
  for (const auto& secret : ListOf(*secrets, "secrets"))
    if (TextOf(secret, "name") == name) return NumberOf(secret, "version");
  return 0;
}

std::string SecretHint(ApiClient& api, const std::string& name) {
  NearestName nearest(name);
  if (const auto secrets = api.Get("/secrets"))
    for (const auto& secret : ListOf(*secrets, "secrets")) nearest.Offer(TextOf(secret, "name"));
  return nearest.Hint();
}

Result<int> Set(const Context& context, const SetFlags& flags) {
  if (!flags.rest.empty() || context.has_words)
    return Fail(ErrorCode::kInvalid,
                "a value on the command line is seen by everybody on this machine and kept in the "
                "shell's history; give it on standard input, and choose another value");
  if (const auto good = CheckSecretName(flags.name); !good) return Fail(good.error());
  // A value from standard input is looked at before the server is asked; one is typed only after
  // the question.
  const bool typed = flags.prompt && context.CanAsk();
  Result<std::optional<SecretText>> value;
  if (!typed) value = CheckedValue(context, flags);
  if (!value) return Fail(value.error());
  auto api = ApiClient::Open(context);
  if (!api) return Fail(api.error());
  const auto before = VersionOf(context, *api, flags.name);
  if (!before) return Fail(before.error());
  // A value is not typed in vain either.
  if (auto may = CheckRole(context, *api, !typed, Role::kAdmin); !may) return Fail(may.error());
  if (*before > 0) {
    const auto agreed =
        Agreed(context, *api, flags.yes, Role::kAdmin,
               {.act = fmt::format("Replace secret {}, version {},", flags.name, *before)});
    if (!agreed) return Fail(agreed.error());
    if (!*agreed) return kExitInterrupted;
  }
  if (typed) value = CheckedValue(context, flags);
  if (!value) return Fail(value.error());
  if (!*value) return kExitInterrupted;
  const json::object body{{"value_base64", ToBase64((*value)->Reveal())}};
  const auto path = fmt::format("/secrets/{}", Segment(flags.name));
  const auto set = Act(context, [&] { return api->Put(path, body); });
  if (!set) return Fail(set.error());
  if (!context.PrintDocument(*set))
    context.Say(fmt::format("secret {} is {}, version {}", flags.name,
                            *before > 0 ? "replaced" : "created", NumberOf(*set, "version")));
  return 0;
}

Result<int> ListSecrets(const Context& context) {
  auto api = ApiClient::Open(context);
  if (!api) return Fail(api.error());
  const auto secrets = api->Get("/secrets");
  if (!secrets) return Fail(secrets.error());
  if (context.PrintDocument(*secrets)) return 0;
  Table table({"NAME", "VERSION", "SET", "BY"});
  const auto& list = ListOf(*secrets, "secrets");
  for (const auto& secret : list)
    table.Add({TextOf(secret, "name"), std::to_string(NumberOf(secret, "version")),
               Ago(ParseTime(TextOf(secret, "at")), WallNow()), TextOf(secret, "by")});
  return ShowList(context, table.Text(context.terminal.colour_out), CountOf(list.size(), "secret"));
}

Result<int> Remove(const Context& context, const std::string& name, bool yes) {
  auto api = ApiClient::Open(context);
  if (!api) return Fail(api.error());
  const auto version = VersionOf(context, *api, name);
  if (!version) return Fail(version.error());
  if (*version == 0)
    return Fail(ErrorCode::kNotFound, "there is no secret '{}'{}; see 'muster secrets list'", name,
                SecretHint(*api, name));
  const auto agreed =
      Agreed(context, *api, yes, Role::kAdmin, {.act = fmt::format("Forget secret {}", name)});
  if (!agreed) return Fail(agreed.error());
  if (!*agreed) return kExitInterrupted;
  const auto path = fmt::format("/secrets/{}", Segment(name));
  const auto removed = Act(context, [&] { return api->Delete(path); });
  if (!removed) return Fail(removed.error());
  if (!context.PrintDocument(*removed))
    context.Say(fmt::format("secret {} is gone; tasks that name it are refused from now on", name));
  return 0;
}

}  // namespace

void AddSecrets(CLI::App& app, Context& context) {
  auto* secrets =
      app.add_subcommand("secrets", "Manage secrets, which are used by name and never shown");
  secrets->require_subcommand(1);
  secrets->footer(kSecretsExamples);

  auto* set = secrets->add_subcommand("set", "Set a secret to a value from standard input");
  const auto flags = std::make_shared<SetFlags>();
  set->footer(kSecretsExamples);
  set->add_option("name", flags->name, "Its name")->type_name("SECRET")->required();
  set->add_option("value", flags->rest)->group("");
  set->add_flag("--prompt", flags->prompt, "Type the value twice, at a terminal");
  set->add_flag("--raw", flags->raw, "Keep the line end after the value");
  set->add_flag("-y,--yes", flags->yes, "Replace a value without asking");
  set->callback([&context, flags] {
    context.takes_words = true;
    context.action = [&context, flags] { return Set(context, *flags); };
  });

  auto* list = secrets->add_subcommand("list", "List the names; values are never shown");
  list->footer(kSecretsExamples);
  list->callback([&context] { context.action = [&context] { return ListSecrets(context); }; });

  auto* remove = secrets->add_subcommand("rm", "Delete a secret");
  const auto name = std::make_shared<std::string>();
  remove->footer(kSecretsExamples);
  remove->add_option("name", *name, "Which")->type_name("SECRET")->required();
  const auto yes = std::make_shared<bool>(false);
  remove->add_flag("-y,--yes", *yes, "Do not ask");
  remove->callback([&context, name, yes] {
    context.action = [&context, name, yes] { return Remove(context, *name, *yes); };
  });
}

}  // namespace muster::cli
