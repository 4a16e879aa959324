#include <CLI/CLI.hpp>
#include <boost/json.hpp>

#include "cli/client/api_client.hpp"
#include "cli/client/retries.hpp"
#include "cli/runs/follow_commands.hpp"
#include "cli/runs/job_start.hpp"
#include "cli/runs/run_changes.hpp"
#include "cli/runs/run_choice.hpp"

namespace muster::cli {
namespace {

constexpr const char* kRerunExamples = R"(Examples:
  muster rerun r12 --dry-run          which hosts, in which batches
  muster rerun r12                    the same again; prints the new run's id
  muster rerun r12 -p version=6.1.1 -t 'zone=sh2' --wait
  muster rerun r12 --version latest   the job as it is now

Starts the job of the run, in the same version, with its parameters and its
targets; or the command of muster run. Targets are resolved anew. It is a new
run of yours: it asks for its own approvals. To go on with the hosts that
failed, see: muster retry.)";

Result<int> Rerun(const Context& context, const StartFlags& flags) {
  const auto body = StartBody(flags);
  if (!body) return Fail(body.error());
  auto api = ApiClient::Open(context);
  if (!api) return Fail(api.error());
  const std::string id = RunIdOf(flags.name);
  const std::string path = "/runs/" + Segment(id);
  const auto run = Persist(context, kPatience, [&] { return api->Get(path); });
  if (!run) return Fail(run.error());
  StartedWork work{.path = path + "/rerun",
                   .act = "Rerun " + id,
                   .job = !TextOf(*run, "job").empty(),
                   .tells = fmt::format("rerun of {}: {}", id, TextOf(*run, "title"))};
  if (const auto params = ParamsText(*run); !params.empty() && flags.params.empty())
    work.tells += " " + params;
  return StartWork(context, *api, work, flags, *body);
}

}  // namespace

void AddRerun(CLI::App& app, Context& context) {
  auto* command = app.add_subcommand("rerun", "Start again what a run did");
  const auto flags = std::make_shared<StartFlags>();
  command->footer(kRerunExamples);
  command->add_option("run", flags->name, "Which run")->type_name("RUN")->required();
  command->add_option("-t,--targets", flags->targets, "Other hosts than those of the run")
      ->type_name("EXPR");
  command->add_option("-x,--exclude", flags->exclude, "But not these hosts")->type_name("EXPR");
  command->add_option("--version", flags->version, "Of the job: the run's own, or latest")
      ->check(CLI::IsMember({"latest"}));
  AddStartFlags(*command, *flags);
  command->callback(
      [&context, flags] { context.action = [&context, flags] { return Rerun(context, *flags); }; });
}

}  // namespace muster::cli
