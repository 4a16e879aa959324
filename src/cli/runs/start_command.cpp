#include <CLI/CLI.hpp>

#include "cli/client/api_client.hpp"
#include "cli/documents/document_commands.hpp"
#include "cli/runs/ask_params.hpp"
#include "cli/runs/job_start.hpp"

namespace muster::cli {
namespace {

constexpr const char* kStartExamples = R"(Examples:
  muster start kernel-upgrade -p version=6.1.0 --dry-run    which hosts, in which batches
  muster start kernel-upgrade -p version=6.1.0              prints the run's id
  muster start kernel-upgrade -p version=6.1.0 --wait       stays until it has ended
  muster start kernel-upgrade -t 'zone=sh1' -p note=@notes.txt
  muster start deploy -p token=secret:deploy-token          a secret by its name

At a terminal it asks for required parameters that are missing.
With --wait the exit code is that of muster run; 7: it is
paused or waits for an approval, and there is no terminal.)";

Result<int> Start(const Context& context, StartFlags flags) {
  if (auto read = StartBody(flags); !read) return Fail(read.error());
  auto api = ApiClient::Open(context);
  if (!api) return Fail(api.error());
  const auto asked = AskParams(context, *api, flags);
  if (!asked) return Fail(asked.error());
  if (!*asked) {
    context.Say("nothing was started");
    return kExitInterrupted;
  }
  const auto body = StartBody(flags);
  if (!body) return Fail(body.error());
  return StartWork(
      context, *api,
      {.path = fmt::format("/jobs/{}/start", Segment(flags.name)), .act = "Start " + flags.name},
      flags, *body);
}

}  // namespace

void AddStart(CLI::App& app, Context& context) {
  auto* command = app.add_subcommand("start", "Start a job");
  const auto flags = std::make_shared<StartFlags>();
  command->footer(kStartExamples);
  command->add_option("job", flags->name, "Which job")->type_name("JOB")->required();
  command->add_option("-t,--targets", flags->targets, "Hosts, instead of those of the job")
      ->type_name("EXPR");
  command->add_option("-x,--exclude", flags->exclude, "Exclude these hosts")->type_name("EXPR");
  AddStartFlags(*command, *flags);
  command->callback(
      [&context, flags] { context.action = [&context, flags] { return Start(context, *flags); }; });
}

}  // namespace muster::cli
