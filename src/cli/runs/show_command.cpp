#include <CLI/CLI.hpp>
#include <boost/json.hpp>

#include "base/text.hpp"
#include "base/visible.hpp"
#include "cli/client/api_client.hpp"
#include "cli/context.hpp"
#include "cli/runs/approval_text.hpp"
#include "cli/runs/late_reports.hpp"
#include "cli/runs/report.hpp"
#include "cli/runs/run_changes.hpp"
#include "cli/runs/run_choice.hpp"
#include "cli/runs/run_result.hpp"
#include "cli/runs/show_groups.hpp"
#include "cli/runs/stage_progress.hpp"
#include "cli/runs/waiting_for.hpp"
#include "cli/terminal/list.hpp"

namespace muster::cli {
namespace {

namespace json = boost::json;

constexpr const char* kShowExamples = R"(Examples:
  muster show                       what became of your last run: counts, stages, equal outcomes
  muster show r12                   of this one; 12 means the same
  muster show r12 --stage verify    the outcomes of one stage
  muster show r12 --masked --diff   how the odd ones' output differs from what most hosts said
  muster show r12 -o json           the same for programs, with every host)";

struct ShowFlags {
  std::string run;
  GroupsChoice groups;
  bool groups_only = false;
};

std::string Header(const Context& context, const json::value& run) {
  const auto state = LineOf(run, "state");
  std::string text =
      fmt::format("{}  {}  {}\n", LineOf(run, "id"),
                  Paint(state, ColourOf(state), context.terminal.colour_out), LineOf(run, "title"));
  if (!TextOf(run, "job").empty()) text += fmt::format("job      {}\n", WorkText(run));
  if (const auto params = ParamsText(run); !params.empty())
    text += fmt::format("params   {}\n", params);
  text += fmt::format("targets  {} ({})\n", LineOf(run, "targets"),
                      Hosts(static_cast<std::uint64_t>(NumberOf(run, "hosts"))));
  if (const auto left_out = LineOf(run, "left_out"); !left_out.empty())
    text += fmt::format("without  {}\n", context.times.InText(left_out));
  const auto created = ParseTime(TextOf(run, "created"));
  const auto ended = ParseTime(TextOf(run, "ended"));
  text += fmt::format("started  {} by {}\n", context.times.Text(TextOf(run, "created")),
                      LineOf(run, "by"));
  if (ended)
    text += fmt::format("ended    {} after {}\n", context.times.Text(TextOf(run, "ended")),
                        Lasted(ended - created));
  text += fmt::format("hosts    {}\n", CountsText(CountsOf(FieldOf(run, "counts"))));
  if (const auto reason = LineOf(run, "reason"); !reason.empty())
    text += fmt::format("reason   {}\n", context.times.InText(reason));
  if (const auto& pause = FieldOf(run, "pause"); pause.is_object())
    text += fmt::format("paused   {} by {}{}\n", context.times.Text(TextOf(pause, "at")),
                        LineOf(pause, "by"),
                        TextOf(pause, "reason").empty() ? "" : ": " + LineOf(pause, "reason"));
  if (const auto pass = NumberOf(run, "pass"); pass > 1) text += fmt::format("pass     {}\n", pass);
  if (const auto changes = ChangesText(run); !changes.empty())
    text += fmt::format("changed  {}\n", changes);
  if (const auto& stop = FieldOf(run, "stop"); stop.is_object())
    text += fmt::format("stopped  {} by {}{}\n", context.times.Text(TextOf(stop, "at")),
                        LineOf(stop, "by"),
                        TextOf(stop, "reason").empty() ? "" : ": " + LineOf(stop, "reason"));
  if (const auto open = NumberOf(run, "logs_open"); open > 0)
    text += fmt::format("output   of {} is still on its way\n",
                        Hosts(static_cast<std::uint64_t>(open)));
  return text;
}

// What waits for a person, as lines of the header, and as remarks on stages that started such runs.
struct Waiting {
  std::string header;
  std::string remarks;
};

std::string Stages(const Context& context, const json::value& run, std::string reasons) {
  Table table({"STAGE", "STATE", "TOOK", "HOSTS"});
  const auto& stages = ListOf(run, "stages");
  for (const auto& stage : stages) {
    if (const auto reason = LineOf(stage, "reason"); !reason.empty())
      reasons += fmt::format("{}: {}\n", LineOf(stage, "name"), reason);
    const auto started = ParseTime(TextOf(stage, "started"));
    const auto ended = ParseTime(TextOf(stage, "ended"));
    const auto took = !started ? "" : Lasted((ended ? ended : WallNow()) - started);
    const auto batch = NumberOf(stage, "batch");
    table.Add({StageCell(stages, stage) + (batch > 0 ? fmt::format(" (batch {})", batch) : ""),
               TextOf(stage, "state"), took, StageCountsText(stage)});
  }
  return "\n" + table.Text(context.terminal.colour_out, 1) +
         (reasons.empty() ? "" : "\n" + reasons);
}

// What is asked, until when and whom.
std::string AskedText(const Context& context, const std::string& run, const json::value& visit,
                      std::string_view of_run) {
  return fmt::format(
      "asked    {} ({}{}, until {})\nby       {}\n"
      "answer   muster approve {} --approval {}\n",
      LineOf(visit, "message"), LineOf(visit, "stage"), of_run,
      context.times.Text(TextOf(visit, "until")), WhoMayAnswer(visit), run,
      LineOf(visit, "approval"));
}

// Whether the pause of a run above was put on this one as well, so that its end resumes both.
bool PausedTogether(const json::value& above, const json::value& run) {
  const auto& pause = FieldOf(above, "pause");
  const auto& own = FieldOf(run, "pause");
  return pause.is_object() && TextOf(pause, "by") == TextOf(own, "by") &&
         TextOf(pause, "at") == TextOf(own, "at");
}

std::string PausedWith(const json::value& above, const PersonWait& wait) {
  const auto with = LineOf(above, "id");
  return fmt::format("{}: {} is paused with {}; go on: muster resume {}\n", wait.via, wait.run,
                     with, with);
}

// Of a run that a stage started.
void AddWaitOfChild(const Context& context, const json::value& above, const PersonWait& wait,
                    Waiting& waiting) {
  if (!wait.paused.is_object()) {
    waiting.header += AskedText(context, wait.run, wait.visit, " of " + wait.run);
    waiting.remarks += fmt::format("{}: {} waits for an approval\n", wait.via, wait.run);
    return;
  }
  if (PausedTogether(above, wait.paused)) {
    waiting.remarks += PausedWith(above, wait);
    return;
  }
  const auto& pause = FieldOf(wait.paused, "pause");
  const auto reason = LineOf(pause, "reason");
  waiting.remarks +=
      fmt::format("{}: {} is paused{}{}; go on: muster resume {}\n", wait.via, wait.run,
                  reason.empty() ? " by " + LineOf(pause, "by") : ": ", reason, wait.run);
}

// What waits for a person, also in runs that this one started, and who has answered what.
Waiting WhatWaits(const Context& context, ApiClient& api, const std::string& id,
                  const json::value& run) {
  if (TextOf(run, "job").empty()) return {};  // a command asks for no approval
  Waiting waiting;
  PersonWaits below;
  std::size_t named = 0;
  const auto add = [&](const json::value& visit) {
    if (const auto decision = DecisionText(visit, context.times); !decision.empty())
      waiting.header += fmt::format("answer   {}\n", decision);
    if (TextOf(visit, "state") == "awaiting_approval")
      waiting.header += AskedText(context, id, visit, "");
    AddWaitsOfChild(api, visit, below);
    for (; named < below.waits.size(); ++named)
      AddWaitOfChild(context, run, below.waits[named], waiting);
    return true;
  };
  const auto pages =
      api.Pages(fmt::format("/runs/{}/visits", Segment(id)), {{"limit", "1000"}}, "visits", add);
  if (below.cut)
    waiting.remarks +=
        "not all runs that this one started were looked at: muster runs --state running\n";
  return pages ? waiting : Waiting{};
}

// The run as the API tells it, with every host under `hosts` and their number under `host_count`.
Result<json::value> FullDocument(ApiClient& api, const json::value& run) {
  auto result = ResultDocument(api, run);
  if (!result) return result;
  json::object document = run.as_object();
  document["host_count"] = FieldOf(run, "hosts");
  document["hosts"] = FieldOf(*result, "hosts");
  return json::value(std::move(document));
}

Result<int> ShowGroupsOnly(const Context& context, ApiClient& api, const std::string& run,
                           const GroupsChoice& choice) {
  if (context.OutputFormat() != Format::kTable) {
    const auto answer = FetchGroups(api, run, choice);
    if (!answer) return Fail(answer.error());
    context.PrintDocument(*answer);
    return 0;
  }
  const auto text = ShowGroups(context, api, run, choice, "");
  if (!text) return Fail(text.error());
  return ShowList(context, *text);
}

Result<int> Show(const Context& context, const ShowFlags& flags) {
  auto api = ApiClient::Open(context);
  if (!api) return Fail(api.error());
  const auto id = ChooseRunQuietly(*api, flags.run);
  if (!id) return Fail(id.error());
  if (flags.groups_only) return ShowGroupsOnly(context, *api, *id, flags.groups);
  const auto run = api->Get("/runs/" + Segment(*id));
  if (!run) return Fail(NoSuchRun(run.error(), flags.run));
  if (!run->is_object()) return Fail(ErrorCode::kInternal, "the server's answer is not a run");
  if (context.OutputFormat() != Format::kTable) {
    const auto document = FullDocument(*api, *run);
    if (!document) return Fail(document.error());
    context.PrintDocument(*document);
    return 0;
  }
  const auto groups = ShowGroups(context, *api, *id, flags.groups, "\n");
  if (!groups) return Fail(groups.error());
  const auto waiting = WhatWaits(context, *api, *id, *run);
  auto text = OwnText(Header(context, *run) + waiting.header +
                      Stages(context, *run, waiting.remarks) + LateReports(*api, *run));
  text += *groups;
  return ShowList(context, text);
}

}  // namespace

void AddShow(CLI::App& app, Context& context) {
  auto* command = app.add_subcommand("show", "Show what became of a run");
  const auto flags = std::make_shared<ShowFlags>();
  command->footer(kShowExamples);
  command->add_option("run", flags->run, "Which run (default: your last)")->type_name("RUN");
  command
      ->add_option("--stage", flags->groups.stage,
                   "Outcomes of this stage (default: each host's last)")
      ->type_name("STAGE");
  command->add_flag("--masked", flags->groups.masked,
                    "Take outputs as equal that differ by host, address, time or process only");
  command->add_flag("--diff", flags->groups.diff,
                    "Show how the output of odd hosts differs from what most said");
  command->add_flag("--groups", flags->groups_only, "Only the equal outcomes");
  command->callback(
      [&context, flags] { context.action = [&context, flags] { return Show(context, *flags); }; });
}

}  // namespace muster::cli
