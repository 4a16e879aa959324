#include "cli/runs/run_end.hpp"

#include <boost/json.hpp>

#include "cli/client/retries.hpp"
#include "cli/runs/report.hpp"
#include "cli/runs/run_result.hpp"
#include "cli/runs/stage_progress.hpp"
#include "domain/run.hpp"

namespace muster::cli {
namespace {

namespace json = boost::json;

void PrintStages(const Context& context, const json::value& run) {
  Table table({"STAGE", "STATE", "HOSTS"});
  const auto& stages = ListOf(run, "stages");
  for (const auto& stage : stages)
    table.Add({StageCell(stages, stage), TextOf(stage, "state"), StageCountsText(stage)});
  Write(stdout, table.Text(context.terminal.colour_out, 1));
}

Result<> PrintCommand(const Context& context, ApiClient& api, const json::value& run,
                      const EndOptions& options) {
  const bool table = context.OutputFormat() == Format::kTable;
  if (table && !options.live) return PrintGroups(context, api, TextOf(run, "id"));
  if (table || options.lines) return {};
  const auto document = Persist(context, kResultPatience, [&] { return ResultDocument(api, run); });
  if (!document) return Fail(document.error());
  context.PrintDocument(*document);
  return {};
}

}  // namespace

bool HasEnded(const json::value& run) {
  const auto state = ParseRunState(TextOf(run, "state"));
  return state && IsFinal(*state) && NumberOf(run, "logs_open") == 0;
}

int ExitCodeAtEnd(const json::value& run) {
  const int code = ExitCodeOfRun(run);
  // A job may fail though no host of it did: it was stopped, or a person said no.
  const bool failed = !TextOf(run, "job").empty() && TextOf(run, "state") != "succeeded";
  return code == 0 && failed ? 1 : code;
}

Result<int> PrintEnd(const Context& context, ApiClient& api, const std::string& id,
                     const EndOptions& options) {
  const std::string path = "/runs/" + Segment(id);
  const auto run = Persist(context, kResultPatience, [&] { return api.Get(path); });
  if (!run) return Fail(run.error());
  const auto outcomes = Outcomes(context, api, id);
  if (!outcomes) return Fail(outcomes.error());
  if (!TextOf(*run, "job").empty()) {
    if (!context.PrintDocument(*run)) PrintStages(context, *run);
  } else {
    if (auto ok = PrintCommand(context, api, *run, options); !ok) return Fail(ok.error());
    if (context.OutputFormat() == Format::kTable)
      for (const auto& remark : OutputRemarks(*outcomes)) context.Warn(remark);
  }
  context.Say(Paint(SummaryLine(*run, *outcomes), ColourOf(TextOf(*run, "state")),
                    context.terminal.stderr_tty && context.terminal.colour_err));
  const int code = ExitCodeAtEnd(*run);
  return options.largest_code ? LargestCode(*outcomes, code) : code;
}

Result<int> FollowToEnd(const Context& context, ApiClient& api, const FollowOptions& follow,
                        bool largest_code) {
  const auto left = Follower(context, api, follow).Watch();
  if (!left) return Fail(left.error());
  if (*left) return **left;
  return PrintEnd(context, api, follow.run,
                  {.live = follow.live, .lines = follow.lines, .largest_code = largest_code});
}

}  // namespace muster::cli
