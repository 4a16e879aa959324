#include <CLI/CLI.hpp>
#include <boost/json.hpp>

#include "cli/client/api_client.hpp"
#include "cli/documents/document_commands.hpp"
#include "cli/runs/report.hpp"
#include "cli/terminal/output_option.hpp"
#include "cli/triggers/trigger_text.hpp"

namespace muster::cli {
namespace {

namespace json = boost::json;

constexpr const char* kJobsExamples = R"(Examples:
  muster jobs                              what each did last and when it is next
  muster jobs 'db-*'                       only those whose names match
  muster jobs -o names                     a name on each line
  muster jobs -o json | jq '.jobs[].last_run'
  muster get job kernel-upgrade -o yaml    the document of one

NEXT is the next slot of the job's triggers; muster triggers has all of them.)";

// "1 of 3 hosts failed, 1 lost".
std::string TroubleText(const TaskCounts& counts, std::uint64_t hosts) {
  std::string text;
  for (std::size_t i = 0; i < kTaskStates; ++i) {
    const auto state = static_cast<TaskState>(i);
    if (!IsFinal(state) || state == TaskState::kSucceeded || counts[state] == 0) continue;
    text += text.empty()
                ? fmt::format("{} of {} {}", Count(counts[state]), Hosts(hosts), Name(state))
                : fmt::format(", {} {}", Count(counts[state]), Name(state));
  }
  return text;
}

// "succeeded", "succeeded, 1 of 3 hosts failed", "running"; "-" when no run is known.
std::string LastState(const json::value& job) {
  const auto& run = FieldOf(job, "last_run");
  const auto state = TextOf(run, "state");
  if (state != "succeeded") return state.empty() ? "-" : state;
  const auto counts = CountsOf(FieldOf(run, "counts"));
  const auto hosts = static_cast<std::uint64_t>(NumberOf(run, "hosts"));
  return WithoutSuccess(counts) == 0 ? state
                                     : fmt::format("{}, {}", state, TroubleText(counts, hosts));
}

std::string LastWhen(const json::value& job, WallTime now) {
  const auto& run = FieldOf(job, "last_run");
  if (!run.is_object()) return "";
  const auto ended = ParseTime(TextOf(run, "ended"));
  return fmt::format("{}, {}", TextOf(run, "id"),
                     Ago(ended ? ended : ParseTime(TextOf(run, "created")), now));
}

std::string NextText(const json::value& job, WallTime now) {
  const auto& slot = FieldOf(job, "next_slot");
  if (slot.is_object())
    return fmt::format("{} ({})", Distance(ParseTime(TextOf(slot, "at")), now),
                       TextOf(slot, "trigger"));
  return NumberOf(job, "triggers") > 0 ? "-" : "";
}

// Of a name without a match: the server's word on it, which may know a similar one.
Error NoJob(ApiClient& api, const std::string& name) {
  if (name.find_first_of("*?") == std::string::npos)
    if (auto found = api.Get("/documents/job/" + Segment(name)); !found) return found.error();
  return {ErrorCode::kNotFound, fmt::format("no job matches '{}'", name)};
}

Result<int> Jobs(const Context& context, const std::string& name) {
  auto api = ApiClient::Open(context);
  if (!api) return Fail(api.error());
  json::array jobs;
  const auto first =
      api->Pages("/jobs", {{"name", name}, {"limit", "1000"}}, "jobs", [&](const json::value& job) {
        jobs.push_back(job);
        return true;
      });
  if (!first) return Fail(first.error());
  if (jobs.empty() && !name.empty()) return Fail(NoJob(*api, name));
  if (context.output == "names") {
    std::vector<std::string> names;
    for (const auto& job : jobs) names.push_back(TextOf(job, "name"));
    PrintNames(names);
    return 0;
  }
  if (context.PrintDocument(json::object{{"jobs", jobs}})) return 0;
  const WallTime now = WallNow();
  Table table({"JOB", "LAST", "RUN", "NEXT", "DESCRIPTION"});
  for (const auto& job : jobs)
    table.Add({TextOf(job, "name"), LastState(job), LastWhen(job, now), NextText(job, now),
               TextOf(job, "description")});
  table.Fit(context.terminal.columns, {4, 3});
  Write(stdout, table.Text(context.terminal.colour_out, 1));
  const auto since = TextOf(*first, "runs_since");
  context.Say(fmt::format("{} job{}{}", Count(jobs.size()), jobs.size() == 1 ? "" : "s",
                          since.empty() ? "" : "; runs from before " + since + " are not shown"));
  return 0;
}

}  // namespace

void AddJobs(CLI::App& app, Context& context) {
  auto* command =
      app.add_subcommand("jobs", "List jobs: last result, next time, what they are for");
  const auto name = std::make_shared<std::string>();
  command->footer(kJobsExamples);
  command->add_option("name", *name, "Only these; * and ? match")->type_name("JOB");
  AddOutputOption(*command, context, {"names"});
  command->callback(
      [&context, name] { context.action = [&context, name] { return Jobs(context, *name); }; });
}

}  // namespace muster::cli
