#include <algorithm>

#include <CLI/CLI.hpp>
#include <boost/json.hpp>

#include "cli/client/api_client.hpp"
#include "cli/context.hpp"
#include "cli/runs/run_choice.hpp"
#include "cli/runs/trace_text.hpp"

namespace muster::cli {
namespace {

constexpr const char* kTraceExamples = R"(Examples:
  muster trace                   where the time of your last run went
  muster trace r12 --tasks 20    more hosts of each stage: those that failed, then the slowest
  muster trace r12 -o json       as OpenTelemetry's collectors take it (OTLP)

Bars of '>' are still going on. Traces of all runs go to a collector by themselves when the
server's settings name one (traces.url).)";

constexpr std::size_t kLeastBar = 16;
constexpr std::size_t kBarInPipe = 40;

struct TraceFlags {
  std::string run;
  std::uint64_t tasks = 5;
};

// What is left of the line beside the other cells.
std::size_t BarWidth(const Context& context, const TraceRows& trace) {
  if (context.terminal.columns == 0) return kBarInPipe;
  std::size_t what = 0;
  std::size_t state = 0;
  for (const auto& row : trace.rows) {
    what = std::max(what, row.what.size());
    state = std::max(state, row.state.size());
  }
  constexpr std::size_t kTimesAndGaps = 24;
  const std::size_t taken = what + state + kTimesAndGaps;
  return std::max(kLeastBar,
                  context.terminal.columns > taken ? context.terminal.columns - taken : 0);
}

Result<int> Trace(const Context& context, const TraceFlags& flags) {
  auto api = ApiClient::Open(context);
  if (!api) return Fail(api.error());
  const auto run = ChooseRun(context, *api, flags.run);
  if (!run) return Fail(run.error());
  const auto answer = api->Get(fmt::format("/runs/{}/trace", Segment(*run)));
  if (!answer) return Fail(answer.error());
  if (context.PrintDocument(*answer)) return 0;
  const auto trace = RowsOfTrace(*answer, flags.tasks, WallNow());
  const std::size_t width = BarWidth(context, trace);
  Table table({"WHAT", "STATE", "BEGAN", "TOOK", ""});
  for (const auto& row : trace.rows)
    table.Add({row.what, row.state, row.counts ? "+" + LastedExactly(row.began) : "",
               row.counts ? LastedExactly(row.took) : "", TraceBar(row, trace.whole, width)});
  table.Fit(context.terminal.columns, {4, 0});
  Write(stdout, table.Text(context.terminal.colour_out, 1));
  if (trace.without > 0)
    context.Say(
        fmt::format("{} more tasks, which matter less, are not in this trace; muster show {}",
                    Count(trace.without), *run));
  context.Say("trace " + trace.id);
  return 0;
}

}  // namespace

void AddTrace(CLI::App& app, Context& context) {
  auto* command = app.add_subcommand("trace", "Show where the time of a run went");
  const auto flags = std::make_shared<TraceFlags>();
  command->footer(kTraceExamples);
  command->add_option("run", flags->run, "Which run (default: your last)")->type_name("RUN");
  command->add_option("--tasks", flags->tasks, "Hosts shown of each stage")
      ->type_name("N")
      ->check(CLI::Range(0, 500))
      ->capture_default_str();
  command->callback(
      [&context, flags] { context.action = [&context, flags] { return Trace(context, *flags); }; });
}

}  // namespace muster::cli
