#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

#include <CLI/CLI.hpp>
#include <boost/json.hpp>

#include "base/text.hpp"
#include "cli/api_client.hpp"
#include "cli/confirm.hpp"
#include "cli/document_commands.hpp"
#include "cli/persist.hpp"
#include "cli/plan_text.hpp"
#include "cli/report.hpp"
#include "cli/run_follow.hpp"
#include "cli/run_start.hpp"

namespace muster::cli {
namespace {

namespace json = boost::json;

constexpr const char* kStartExamples = R"(Examples:
  muster start kernel-upgrade -p version=6.1.0 --dry-run    which hosts, in which batches
  muster start kernel-upgrade -p version=6.1.0              prints the run's id
  muster start kernel-upgrade -p version=6.1.0 --wait       stays until it has ended
  muster start kernel-upgrade -t 'zone=sh1' -p note=@notes.txt
  muster start deploy -p token=secret:deploy-token          a secret by its name

-t says other hosts than the job does. With --wait the exit code is as of muster run; 7: it is
paused or waits for an approval, and there is no terminal.)";

struct StartFlags {
  std::string job;
  std::string targets;
  std::string exclude;
  std::vector<std::string> params;
  std::string reason;
  bool wait = false;
  bool wait_paused = false;
  bool dry_run = false;
  bool during_freeze = false;
  bool include_maintenance = false;
  bool require_all = false;
  bool yes = false;
};

// NAME=VALUE, or NAME=@FILE for what a file says, without the line ends after it.
Result<json::object> ParamsOf(const std::vector<std::string>& given) {
  json::object params;
  for (const auto& word : given) {
    const auto equals = word.find('=');
    if (equals == std::string::npos || equals == 0)
      return Fail(ErrorCode::kInvalid, "-p {}: write NAME=VALUE", word);
    const std::string name = word.substr(0, equals);
    std::string value = word.substr(equals + 1);
    if (params.contains(name))
      return Fail(ErrorCode::kInvalid, "parameter '{}' is given twice", name);
    if (value.starts_with('@')) {
      std::ifstream file(value.substr(1), std::ios::binary);
      if (!file)
        return Fail(ErrorCode::kInvalid, "-p {}: cannot read '{}': {}", name, value.substr(1),
                    std::strerror(errno));
      value.assign(std::istreambuf_iterator<char>(file), {});
      while (value.ends_with('\n') || value.ends_with('\r')) value.pop_back();
    }
    if (!IsUtf8(value)) return Fail(ErrorCode::kInvalid, "-p {}: it is not UTF-8 text", name);
    params[name] = value;
  }
  return params;
}

Result<json::object> BodyOf(const StartFlags& flags) {
  auto params = ParamsOf(flags.params);
  if (!params) return params;
  json::object body{{"params", std::move(*params)}};
  if (!flags.targets.empty()) body["targets"] = flags.targets;
  if (!flags.exclude.empty()) body["exclude"] = flags.exclude;
  if (!flags.reason.empty()) body["reason"] = flags.reason;
  if (flags.during_freeze) body["during_freeze"] = true;
  if (flags.include_maintenance) body["include_maintenance"] = true;
  if (flags.require_all) body["require_all"] = true;
  return body;
}

// When a stage with batches does not go on to the next one.
std::string LimitText(const json::value& stage) {
  if (TextOf(stage, "on_limit").empty()) return {};
  const std::string unreachable = TextOf(stage, "max_unreachable");
  return fmt::format(
      "{} {} when more than {} fail in a batch, or {}\n", LineOf(stage, "name"),
      TextOf(stage, "on_limit") == "pause" ? "pauses" : "fails", TextOf(stage, "max_failures"),
      unreachable.empty() ? "none of a batch succeeds"
                          : fmt::format("more than {} are unreachable", unreachable));
}

void PrintPlan(const json::value& plan) {
  std::string text = fmt::format(
      "{} version {} on {}: {}\n", LineOf(plan, "job"), NumberOf(plan, "version"),
      Hosts(static_cast<std::uint64_t>(NumberOf(plan, "hosts"))), LineOf(plan, "names"));
  if (const auto offline = NumberOf(plan, "offline_count"); offline > 0)
    text += fmt::format("offline: {}\n", Hosts(static_cast<std::uint64_t>(offline)));
  text += SharesText(plan) + HindrancesText(plan);
  std::string limits;
  Table table({"STAGE", "IN", "DOES", "BATCHES"});
  for (const auto& stage : ListOf(plan, "stages")) {
    std::string sizes;
    for (const auto& size : ListOf(stage, "batches"))
      sizes += (sizes.empty() ? "" : ", ") + json::serialize(size);
    table.Add({TextOf(stage, "name"), TextOf(stage, "parent"), TextOf(stage, "action"), sizes});
    limits += LimitText(stage);
  }
  text += "\n" + table.Text();
  if (!limits.empty()) text += "\n" + limits;
  Write(stdout, text);
}

void PrintStages(const Context& context, const json::value& run) {
  Table table({"STAGE", "STATE", "HOSTS"});
  for (const auto& stage : ListOf(run, "stages"))
    table.Add({TextOf(stage, "name"), TextOf(stage, "state"),
               CountsText(CountsOf(FieldOf(stage, "counts")))});
  Write(stdout, table.Text(context.terminal.colour_out, 1));
}

Result<int> WaitFor(const Context& context, ApiClient& api, const json::value& started,
                    bool wait_paused) {
  FollowOptions follow;
  follow.run = TextOf(started, "id");
  follow.hosts = static_cast<std::uint64_t>(NumberOf(started, "hosts"));
  follow.from = std::to_string(NumberOf(started, "commit"));
  follow.job = true;
  follow.asks = true;
  follow.stays = wait_paused || context.CanAsk();
  const auto left = Follower(context, api, follow).Watch();
  if (!left) return Fail(left.error());
  if (*left) return **left;
  const std::string path = "/runs/" + Segment(follow.run);
  const auto run = Persist(context, kResultPatience, [&] { return api.Get(path); });
  if (!run) return Fail(run.error());
  if (!context.PrintDocument(*run)) PrintStages(context, *run);
  const auto groups = Persist(context, kResultPatience, [&] { return api.Get(path + "/groups"); });
  if (!groups) return Fail(groups.error());
  context.Say(SummaryLine(*run, GroupsOf(*groups)));
  const int code = ExitCodeOfRun(*run);
  return code == 0 && TextOf(*run, "state") != "succeeded" ? 1 : code;
}

Result<int> Start(const Context& context, const StartFlags& flags) {
  auto body = BodyOf(flags);
  if (!body) return Fail(body.error());
  auto api = ApiClient::Open(context);
  if (!api) return Fail(api.error());
  const std::string path = fmt::format("/jobs/{}/start", Segment(flags.job));
  bool warned = false;
  if (flags.dry_run || (!flags.yes && context.CanAsk())) {
    json::object dry = *body;
    dry["dry_run"] = true;
    const auto plan = Persist(context, kPatience, [&] { return api->Post(path, dry); });
    if (!plan) return Fail(plan.error());
    SayWarnings(context, *plan);
    warned = true;
    if (flags.dry_run) {
      if (!context.PrintDocument(*plan)) PrintPlan(*plan);
      return 0;
    }
    if (!Confirmed(context, "Start " + flags.job, *plan)) {
      context.Say("nothing was started");
      return kExitInterrupted;
    }
  }
  const auto key = NewKey();
  const auto started = Persist(context, kPatience, [&] { return api->Post(path, *body, key); });
  if (!started) return Fail(started.error());
  const auto id = TextOf(*started, "id");
  SayLeftOut(context, *started);
  if (!warned) SayWarnings(context, *started);
  if (flags.wait || flags.wait_paused) {
    context.Say(fmt::format("run {} on {}", id,
                            Hosts(static_cast<std::uint64_t>(NumberOf(*started, "hosts")))));
    return WaitFor(context, *api, *started, flags.wait_paused);
  }
  if (context.OutputFormat() == Format::kTable) {
    Write(stdout, id + "\n");
    return 0;
  }
  const auto run = Persist(context, kPatience, [&] { return api->Get("/runs/" + Segment(id)); });
  if (!run) return Fail(run.error());
  context.PrintDocument(*run);
  return 0;
}

}  // namespace

void AddStart(CLI::App& app, Context& context) {
  auto* command = app.add_subcommand("start", "Start a job");
  const auto flags = std::make_shared<StartFlags>();
  command->footer(kStartExamples);
  command->add_option("job", flags->job, "Which job")->type_name("JOB")->required();
  command->add_option("-t,--targets", flags->targets, "Other hosts than the job says")
      ->type_name("EXPR");
  command->add_option("-x,--exclude", flags->exclude, "But not these hosts")->type_name("EXPR");
  command->add_option("-p,--param", flags->params, "A parameter; @FILE takes it from a file")
      ->type_name("NAME=VALUE");
  command->add_option("--reason", flags->reason, "Why, for the audit trail");
  command->add_flag("--wait", flags->wait,
                    "Stay until it has ended; without a terminal, until it waits for a person");
  command->add_flag("--wait-paused", flags->wait_paused, "Stay also while it waits for a person");
  command->add_flag("--dry-run", flags->dry_run, "Say what would be done, and start nothing");
  command->add_flag("--during-freeze", flags->during_freeze, "Start it although runs are frozen");
  command->add_flag("--include-maintenance", flags->include_maintenance,
                    "Include hosts in maintenance");
  command->add_flag("--require-all", flags->require_all,
                    "Start nothing when a host that is meant never joined or is in maintenance");
  command->add_flag("-y,--yes", flags->yes, "Do not ask, however many hosts are meant");
  command->callback(
      [&context, flags] { context.action = [&context, flags] { return Start(context, *flags); }; });
}

}  // namespace muster::cli
