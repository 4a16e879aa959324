#include <CLI/CLI.hpp>
#include <boost/json.hpp>

#include "cli/client/api_client.hpp"
#include "cli/client/retries.hpp"
#include "cli/runs/run_choice.hpp"
#include "cli/runs/stop_many.hpp"
#include "cli/terminal/confirm.hpp"
#include "cli/terminal/times.hpp"
#include "domain/run.hpp"

namespace muster::cli {
namespace {

constexpr const char* kStopExamples = R"(Examples:
  muster stop r12                     no order is sent any more; TERM, after 10 s KILL
  muster stop                         your last run, after a question
  muster stop r12 --host web3         only on this host
  muster stop --job deploy            every open run of a job, after a question
  muster freeze --reason R && muster stop --all    the red button
  muster kill r12                     the same as: muster stop r12 --grace 0)";

struct StopFlags {
  std::string run;
  std::string host;
  std::string grace;
  std::string reason;
  ManyRuns many;
};

// Without an id a person is asked about the last run; a script has to name it. Nothing when the
// person says no.
Result<std::optional<std::string>> RunToStop(const Context& context, ApiClient& api,
                                             const std::string& given) {
  if (!given.empty()) return std::optional(RunIdOf(given));
  const auto run = LastRun(api);
  if (!run) return Fail(run.error());
  const auto id = TextOf(*run, "id");
  const auto state = TextOf(*run, "state");
  if (const auto known = ParseRunState(state); known && IsFinal(*known))
    return Fail(ErrorCode::kConflict, "your last run, {}, has ended already ({})", id, state);
  if (!context.CanAsk())
    return Fail(ErrorCode::kInvalid, "name the run to stop; your last is {}", id);
  const Question question{
      .act = fmt::format("Stop {} ({}, {}, {})", id, TextOf(*run, "title"),
                         Hosts(static_cast<std::uint64_t>(NumberOf(*run, "hosts"))), state)};
  const auto agreed = Agreed(context, api, false, Role::kOperator, question);
  if (!agreed) return Fail(agreed.error());
  return *agreed ? std::optional(id) : std::nullopt;
}

Result<int> Stop(const Context& context, const StopFlags& flags) {
  const auto grace = Lasting("--grace", flags.grace, Duration(0), std::chrono::days(1));
  if (!grace) return Fail(grace.error());
  auto api = ApiClient::Open(context);
  if (!api) return Fail(api.error());
  boost::json::object body{{"grace_ms", grace->count()}};
  if (!flags.host.empty()) body["host"] = flags.host;
  if (!flags.reason.empty()) body["reason"] = flags.reason;
  if (flags.many) {
    if (!flags.run.empty())
      return Fail(ErrorCode::kInvalid, "name a run, or say --job or --all, not both");
    if (flags.many.all && !flags.many.job.empty())
      return Fail(ErrorCode::kInvalid,
                  "--all stops every open run, --job those of one job: say one of them");
    ManyRuns many = flags.many;
    many.host = flags.host;
    return StopMany(context, *api, many, body);
  }
  const auto run = RunToStop(context, *api, flags.run);
  if (!run) return Fail(run.error());
  if (!*run) return kExitInterrupted;
  // A stop may be repeated without harm, so it is, until the server has taken it.
  const auto answer = Persist(context, kPatience, [&] {
    return api->Post(fmt::format("/runs/{}/stop", Segment(**run)), body);
  });
  if (!answer) return Fail(answer.error());
  if (context.PrintDocument(*answer)) return 0;
  context.Say(fmt::format("stopping {}{}", **run, flags.host.empty() ? "" : " on " + flags.host));
  return 0;
}

CLI::App* Add(CLI::App& app, Context& context, const std::string& name, const std::string& about,
              const std::string& grace) {
  auto* command = app.add_subcommand(name, about);
  const auto flags = std::make_shared<StopFlags>();
  flags->grace = grace;
  command->footer(kStopExamples);
  command->add_option("run", flags->run, "Which run (default: your last, after a question)")
      ->type_name("RUN");
  command->add_option("--host", flags->host, "Only on this host")->type_name("HOST");
  command->add_option("--grace", flags->grace, "Time between TERM and KILL")
      ->type_name("DURATION")
      ->capture_default_str();
  command->add_option("--reason", flags->reason, "Reason, for the audit trail");
  command->add_option("--job", flags->many.job, "Every open run of this job")->type_name("JOB");
  command->add_flag("--all", flags->many.all, "Every open run");
  command->add_flag("-y,--yes", flags->many.yes, "Do not ask (with --job or --all)");
  command->callback(
      [&context, flags] { context.action = [&context, flags] { return Stop(context, *flags); }; });
  return command;
}

}  // namespace

void AddStop(CLI::App& app, Context& context) {
  Add(app, context, "stop", "Stop a run (also: cancel)", "10s")->alias("cancel");
  Add(app, context, "kill", "Stop a run at once, without grace", "0s");
}

}  // namespace muster::cli
