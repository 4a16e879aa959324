#include <charconv>

#include <CLI/CLI.hpp>
#include <boost/json.hpp>

#include "cli/client/api_client.hpp"
#include "cli/client/retries.hpp"
#include "cli/context.hpp"
#include "cli/runs/run_choice.hpp"
#include "cli/terminal/confirm.hpp"

namespace muster::cli {
namespace {

namespace json = boost::json;

struct SteerFlags {
  std::string run;
  std::string stage;
  std::string reason;
  std::string from;
  std::string version;
  std::vector<std::string> settings;
  bool release = false;
  bool from_start = false;
  bool all_hosts = false;
  bool during_freeze = false;
  bool yes = false;
};

// Sends the request until the server has taken it: each of them may be repeated without harm, as a
// second one finds the run where the first has put it.
Result<int> Send(const Context& context, const SteerFlags& flags, const std::string& verb,
                 const json::object& body, const std::string& said) {
  auto api = ApiClient::Open(context);
  if (!api) return Fail(api.error());
  const std::string run = RunIdOf(flags.run);
  const auto answer = Persist(context, kPatience, [&] {
    return api->Post(fmt::format("/runs/{}/{}", Segment(run), verb), body);
  });
  if (!answer) return Fail(answer.error());
  if (context.PrintDocument(*answer)) return 0;
  context.Say(fmt::format("{} {}", said, run));
  return 0;
}

json::object With(std::initializer_list<std::pair<const char*, const std::string*>> texts) {
  json::object body;
  for (const auto& [name, text] : texts)
    if (!text->empty()) body[name] = *text;
  return body;
}

Result<int> Pause(const Context& context, const SteerFlags& flags) {
  json::object body = With({{"reason", &flags.reason}});
  if (flags.release) body["release"] = true;
  return Send(context, flags, "pause", body, "paused");
}

Result<int> Retry(const Context& context, const SteerFlags& flags) {
  if (flags.from_start && !flags.from.empty())
    return Fail(ErrorCode::kInvalid, "--from and --from-start exclude each other");
  json::object body =
      With({{"from", &flags.from}, {"version", &flags.version}, {"reason", &flags.reason}});
  if (flags.from_start) body["from_start"] = true;
  if (flags.all_hosts) body["all_hosts"] = true;
  if (flags.during_freeze) body["during_freeze"] = true;
  auto api = ApiClient::Open(context);
  if (!api) return Fail(api.error());
  const auto run = RunIdOf(flags.run);
  const auto agreed =
      AgreedToStart(context, *api, flags.yes, fmt::format("/runs/{}/retry", Segment(run)), body,
                    [&](const json::value&) { return "Retry " + run; });
  if (!agreed) return Fail(agreed.error());
  if (!*agreed) return kExitInterrupted;
  return Send(context, flags, "retry", body, "opened the next pass of");
}

// "concurrency=5", "roll.max_failures=2%".
Result<int> SetLimits(const Context& context, const SteerFlags& flags) {
  json::object body;
  for (const std::string& setting : flags.settings) {
    const auto equals = setting.find('=');
    if (equals == std::string::npos || equals + 1 == setting.size())
      return Fail(ErrorCode::kInvalid, "'{}': write NAME=VALUE, as in concurrency=50", setting);
    std::string name = setting.substr(0, equals);
    const std::string value = setting.substr(equals + 1);
    if (const auto dot = name.rfind('.'); dot != std::string::npos) {
      const std::string stage = name.substr(0, dot);
      if (body.contains("stage") && body["stage"] != boost::json::value(stage))
        return Fail(ErrorCode::kInvalid, "settings of one call are for one stage");
      body["stage"] = stage;
      name = name.substr(dot + 1);
    }
    if (name == "max_failures" || name == "max_unreachable") {
      body[name] = value;
    } else if (name == "concurrency") {
      std::uint32_t number = 0;
      const auto [end, problem] =
          std::from_chars(value.data(), value.data() + value.size(), number);
      if (problem != std::errc{} || end != value.data() + value.size())
        return Fail(ErrorCode::kInvalid, "concurrency: '{}' is no whole number", value);
      body["concurrency"] = number;
    } else {
      return Fail(ErrorCode::kInvalid,
                  "'{}' cannot be set; there are concurrency, max_failures and max_unreachable",
                  name);
    }
  }
  return Send(context, flags, "set", body, "changed");
}

struct Verb {
  const char* name;
  const char* about;
  const char* examples;
  std::function<Result<int>(const Context&, const SteerFlags&)> act;
};

std::pair<CLI::App*, std::shared_ptr<SteerFlags>> AddSteering(CLI::App& app, Context& context,
                                                              const Verb& verb) {
  auto* command = app.add_subcommand(verb.name, verb.about);
  const auto flags = std::make_shared<SteerFlags>();
  command->footer(verb.examples);
  command->add_option("run", flags->run, "Which run")->type_name("RUN")->required();
  command->callback([&context, flags, act = verb.act] {
    context.action = [&context, flags, act] { return act(context, *flags); };
  });
  return {command, flags};
}

void AddReason(CLI::App* command, SteerFlags& flags) {
  command->add_option("--reason", flags.reason, "Reason, for the audit trail");
}

void AddPauseAndResume(CLI::App& app, Context& context) {
  const auto [pause, pause_flags] =
      AddSteering(app, context,
                  {"pause", "Pause a run: tasks that run end, no others start", R"(Examples:
  muster pause r12                     children too; waits and the run's budget stand still
  muster pause r12 --release           gives its concurrency keys back when its
                                       tasks have ended
  muster resume r12)",
                   Pause});
  pause->add_flag("--release", pause_flags->release,
                  "Give its concurrency keys back when its tasks have ended");
  AddReason(pause, *pause_flags);
  AddSteering(app, context,
              {"resume", "Resume a paused run", R"(Examples:
  muster resume r12                    past a failure limit: with the hosts that are left)",
               [](const Context& where, const SteerFlags& flags) {
                 return Send(where, flags, "resume", {}, "resumed");
               }});
}

void AddRetry(CLI::App& app, Context& context) {
  const auto [retry, flags] =
      AddSteering(app, context,
                  {"retry", "Start the next pass of a run that ended or is paused", R"(Examples:
  muster retry r12                     the failed hosts, each from the stage it failed in
  muster retry r12 --from verify       everyone who came to it, from this stage on
  muster retry r12 --from-start        all of it again
  muster retry r12 --version latest    with the job as it is now: correct it, apply, retry)",
                   Retry});
  retry->add_flag("--during-freeze", flags->during_freeze, "Start it even if runs are frozen");
  retry->add_option("--from", flags->from, "First stage of the pass")->type_name("STAGE");
  retry->add_flag("--from-start", flags->from_start, "Begin with the first stage, on all hosts");
  retry->add_flag("--all-hosts", flags->all_hosts, "Also the hosts that succeeded");
  retry->add_option("--version", flags->version, "'latest' takes the corrected job")
      ->type_name("VERSION");
  retry->add_flag("-y,--yes", flags->yes, "Do not ask, however many hosts are selected");
  AddReason(retry, *flags);
}

void AddSkipAndSet(CLI::App& app, Context& context) {
  const auto [skip, skip_flags] =
      AddSteering(app, context,
                  {"skip", "Skip a stage of a run", R"(Examples:
  muster skip r12 verify               when its turn comes, or now if it waits or is paused)",
                   [](const Context& where, const SteerFlags& flags) {
                     return Send(where, flags, "skip",
                                 With({{"stage", &flags.stage}, {"reason", &flags.reason}}),
                                 fmt::format("will skip stage '{}' of", flags.stage));
                   }});
  skip->add_option("stage", skip_flags->stage, "Which stage")->type_name("STAGE")->required();
  AddReason(skip, *skip_flags);
  const auto [set, set_flags] =
      AddSteering(app, context,
                  {"set", "Change limits of a run that is under way", R"(Examples:
  muster set r12 concurrency=50
  muster set r12 roll.max_failures=5%  of one stage)",
                   SetLimits});
  set->add_option("settings", set_flags->settings,
                  "concurrency=N, max_failures=N or N%, max_unreachable=N or N%")
      ->type_name("NAME=VALUE")
      ->required();
}

}  // namespace

void AddSteering(CLI::App& app, Context& context) {
  AddPauseAndResume(app, context);
  AddRetry(app, context);
  AddSkipAndSet(app, context);
}

}  // namespace muster::cli
