#include <CLI/CLI.hpp>
#include <boost/json.hpp>

#include "cli/client/api_client.hpp"
#include "cli/context.hpp"
#include "cli/runs/approval_text.hpp"
#include "cli/runs/run_choice.hpp"
#include "cli/terminal/list.hpp"

namespace muster::cli {
namespace {

Result<int> Why(const Context& context, const std::string& given, const std::string& host) {
  auto api = ApiClient::Open(context);
  if (!api) return Fail(api.error());
  const auto run = ChooseRun(context, *api, given);
  if (!run) return Fail(run.error());
  const auto why = api->Get(fmt::format("/runs/{}/why", Segment(*run)), {{"host", host}});
  if (!why) return Fail(why.error());
  if (context.PrintDocument(*why)) return 0;
  ShownText text;
  for (const auto& line : ListOf(*why, "lines"))
    if (line.is_string()) text += OwnLine(context.times.InText(line.get_string()));
  const auto visits = api->Pages(fmt::format("/runs/{}/visits", Segment(*run)), {{"limit", "1000"}},
                                 "visits", [&](const boost::json::value& visit) {
                                   const auto decision = DecisionText(visit, context.times);
                                   if (!decision.empty()) text += OwnLine("stage " + decision);
                                   return true;
                                 });
  if (!visits) return Fail(visits.error());
  if (ListOf(*why, "waiting").empty()) return ShowList(context, text);
  Table table({"HOST", "STATE", "BECAUSE"});
  for (const auto& task : ListOf(*why, "waiting"))
    table.Add({TextOf(task, "host"), TextOf(task, "state"),
               context.times.InText(TextOf(task, "because"))});
  table.Fit(context.terminal.columns, {2});
  text += OwnText(table.Text(context.terminal.colour_out, 1));
  return ShowList(context, text);
}

}  // namespace

void AddWhy(CLI::App& app, Context& context) {
  auto* command = app.add_subcommand("why", "Show what a run waits for");
  const auto run = std::make_shared<std::string>();
  const auto host = std::make_shared<std::string>();
  command->footer(
      "Examples:\n  muster why                 your last run\n  muster why r12\n  muster why r12 "
      "--host web3");
  command->add_option("run", *run, "Which run (default: your last)")->type_name("RUN");
  command->add_option("--host", *host, "Only this host")->type_name("HOST");
  command->callback([&context, run, host] {
    context.action = [&context, run, host] { return Why(context, *run, *host); };
  });
}

}  // namespace muster::cli
