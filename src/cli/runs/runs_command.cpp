#include <CLI/CLI.hpp>
#include <boost/json.hpp>

#include "cli/client/api_client.hpp"
#include "cli/context.hpp"
#include "cli/runs/report.hpp"
#include "cli/runs/run_changes.hpp"
#include "cli/terminal/list.hpp"
#include "cli/terminal/times.hpp"

namespace muster::cli {
namespace {

namespace json = boost::json;

constexpr const char* kRunsExamples = R"(Examples:
  muster runs                              the last 20
  muster runs --host db7 --since 2d        who did what on this host
  muster runs --by @me --state failed
  muster runs --job kernel-upgrade -p version=6.1.0
  muster runs --awaiting-me                runs whose approval you may give)";

struct RunsFlags {
  std::string state;
  std::string by;
  std::string host;
  std::string since;
  std::string until;
  std::string job;
  std::vector<std::string> params;
  bool awaiting_me = false;
  std::size_t limit = 20;
};

Result<Query> RunsQuery(const RunsFlags& flags) {
  const auto since = Moment("--since", flags.since);
  if (!since) return Fail(since.error());
  const auto until = Moment("--until", flags.until);
  if (!until) return Fail(until.error());
  Query query{{"state", flags.state},
              {"by", flags.by},
              {"host", flags.host},
              {"since", *since},
              {"until", *until},
              {"job", flags.job},
              {"awaiting", flags.awaiting_me ? "@me" : ""},
              {"limit", std::to_string(std::clamp<std::size_t>(flags.limit, 1, 500))}};
  for (const auto& word : flags.params) {
    const auto equals = word.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == word.size())
      return Fail(ErrorCode::kInvalid, "-p {}: write NAME=VALUE", word);
    query.emplace_back(Segment(fmt::format("params[{}]", word.substr(0, equals))),
                       word.substr(equals + 1));
  }
  return query;
}

// "kernel-upgrade version=6.1.0".
std::string WhatCell(const json::value& run) {
  const auto params = ParamsText(run);
  return TextOf(run, "title") + (params.empty() ? "" : " " + params);
}

// The state; of a run that only waits for an approval, that.
std::string StateCell(const json::value& run) {
  const auto state = TextOf(run, "state");
  const auto counts = CountsOf(FieldOf(run, "counts"));
  if (state != "running" || counts[TaskState::kSent] + counts[TaskState::kRunning] > 0)
    return state;
  for (const auto& stage : ListOf(run, "stages"))
    if (TextOf(stage, "state") == "awaiting_approval") return "awaiting approval";
  return state;
}

// Of an empty list: whether what was asked for exists at all.
void SayWhyNone(const Context& context, ApiClient& api, const RunsFlags& flags) {
  if (!flags.job.empty()) {
    const auto job = api.Get("/documents/job/" + Segment(flags.job));
    if (!job && job.error().code == ErrorCode::kNotFound)
      context.Say(
          fmt::format("there is no job '{}', and no run of it; see 'muster jobs'", flags.job));
  }
  if (flags.by.empty() || flags.by == "@me") return;
  const auto any = api.Get("/runs", {{"by", flags.by}, {"limit", "1"}});
  if (any && ListOf(*any, "runs").empty())
    context.Say(fmt::format("no run was started by '{}'", flags.by));
}

Result<int> Runs(const Context& context, const RunsFlags& flags) {
  const auto query = RunsQuery(flags);
  if (!query) return Fail(query.error());
  auto api = ApiClient::Open(context);
  if (!api) return Fail(api.error());
  json::array runs;
  const auto pages = api->Pages("/runs", *query, "runs", [&](const json::value& run) {
    if (runs.size() < flags.limit) runs.push_back(run);
    return runs.size() < flags.limit;
  });
  if (!pages) return Fail(pages.error());
  if (context.PrintDocument(json::object{{"runs", runs}})) return 0;
  if (runs.empty()) SayWhyNone(context, *api, flags);
  Tally states;
  Table table({"RUN", "STATE", "HOSTS", "BY", "STARTED", "TOOK", "COMMAND"});
  for (const auto& run : runs) {
    const auto counts = CountsOf(FieldOf(run, "counts"));
    const bool whole = TextOf(run, "state") != "succeeded" || WithoutSuccess(counts) == 0;
    states.Add(StateCell(run) + (whole ? "" : " but for some hosts"));
    const auto created = ParseTime(TextOf(run, "created"));
    const auto ended = ParseTime(TextOf(run, "ended"));
    table.Add({TextOf(run, "id"), StateCell(run),
               HostsCell(counts, static_cast<std::uint64_t>(NumberOf(run, "hosts"))),
               TextOf(run, "by"), Ago(created, WallNow()),
               Lasted((ended ? ended : WallNow()) - created), WhatCell(run)});
  }
  table.Fit(context.terminal.columns, {2, 3, 6});
  const bool full = runs.size() == flags.limit;
  return ShowList(context, table.Text(context.terminal.colour_out, 1),
                  states.Text("run") + (full ? "; -n N lists more" : ""));
}

}  // namespace

void AddRuns(CLI::App& app, Context& context) {
  auto* command = app.add_subcommand("runs", "List runs, newest first");
  const auto flags = std::make_shared<RunsFlags>();
  command->footer(kRunsExamples);
  command->add_option("--state", flags->state, "Only in this state")
      ->check(CLI::IsMember({"created", "queued", "running", "paused", "succeeded", "failed",
                             "timed_out", "cancelled"}));
  command->add_option("--by", flags->by, "Only those this member started; @me is you")
      ->type_name("NAME");
  command->add_option("--host", flags->host, "Only those that had this host")->type_name("HOST");
  command->add_option("--job", flags->job, "Only runs of this job")->type_name("JOB");
  command
      ->add_option("-p,--param", flags->params,
                   "Only those that had this parameter; may be repeated")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  command->add_flag("--awaiting-me", flags->awaiting_me,
                    "Only those that wait for an approval which you may give");
  command->add_option("--since", flags->since, "Only later ones: a time, or how long ago")
      ->type_name("TIME");
  command->add_option("--until", flags->until, "Only earlier ones: a time, or how long ago")
      ->type_name("TIME");
  command->add_option("-n,--limit", flags->limit, "At most N, the newest")
      ->type_name("N")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  command->callback(
      [&context, flags] { context.action = [&context, flags] { return Runs(context, *flags); }; });
}

}  // namespace muster::cli
