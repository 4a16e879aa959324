#include <cstdlib>

#include <CLI/CLI.hpp>
#include <boost/json.hpp>

#include "cli/client/contexts.hpp"
#include "cli/context.hpp"

namespace muster::cli {
namespace {

namespace json = boost::json;

constexpr const char* kContextsExamples = R"(Examples:
  muster contexts                     the servers you are logged in to
  muster context use prod             from now on
  muster --context prod runs          this once
  MUSTER_CONTEXT=prod muster runs     in this shell, when exported)";

// Tokens are never shown.
Result<int> ListContexts(const Context& context) {
  const auto contexts = Contexts::Load(Contexts::DefaultFolder());
  if (!contexts) return Fail(contexts.error());
  json::array list;
  Table table({"", "NAME", "SERVER", "CA"});
  for (const auto& saved : contexts->All()) {
    const bool current = saved.name == context.context;
    const auto ca = contexts->CaPath(saved);
    list.push_back(json::object{
        {"name", saved.name}, {"server", saved.server}, {"ca", ca}, {"in_use", current}});
    table.Add({current ? "*" : "", saved.name, saved.server, ca.empty() ? "the system's" : ca});
  }
  if (context.PrintDocument(json::object{{"contexts", std::move(list)}})) return 0;
  if (contexts->All().empty()) {
    context.Say("no contexts yet; make one with: muster login URL");
    return 0;
  }
  table.Fit(context.terminal.columns, {3});
  Write(stdout, table.Text(context.terminal.colour_out));
  if (context.problem)
    context.Say(context.problem->message);
  else if (context.context.empty())
    context.Say(fmt::format("none of them is in use: commands go to {}", context.server));
  return 0;
}

Result<int> Use(const Context& context, const std::string& name) {
  auto contexts = Contexts::Load(Contexts::DefaultFolder());
  if (!contexts) return Fail(contexts.error());
  if (auto ok = contexts->Use(name); !ok) return Fail(ok.error());
  if (auto ok = contexts->Save(); !ok) return Fail(ok.error());
  context.Say(fmt::format("context {} is in use now: {}", name, contexts->Find(name)->server));
  for (const auto* variable : {"MUSTER_SERVER", "MUSTER_CONTEXT"}) {
    const char* value = std::getenv(variable);
    if (value != nullptr && *value != '\0')
      context.Say(fmt::format("but {}={} is set in this shell and wins", variable, value));
  }
  return 0;
}

void AddList(CLI::App& app, Context& context, const std::string& name) {
  auto* list = app.add_subcommand(name, "List the servers you are logged in to");
  list->footer(kContextsExamples);
  list->callback([&context] { context.action = [&context] { return ListContexts(context); }; });
}

}  // namespace

void AddContexts(CLI::App& app, Context& context) {
  AddList(app, context, "contexts");
  auto* group = app.add_subcommand("context", "List contexts, or use another one");
  group->require_subcommand(1);
  group->footer(kContextsExamples);
  AddList(*group, context, "list");
  auto* use = group->add_subcommand("use", "Use another server from now on");
  const auto name = std::make_shared<std::string>();
  use->footer(kContextsExamples);
  use->add_option("name", *name, "Which")->type_name("CONTEXT")->required();
  use->callback(
      [&context, name] { context.action = [&context, name] { return Use(context, *name); }; });
}

}  // namespace muster::cli
