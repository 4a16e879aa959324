#include "cli/runs/job_start.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

#include <CLI/CLI.hpp>
#include <boost/json.hpp>

#include "base/text.hpp"
#include "cli/client/retries.hpp"
#include "cli/runs/no_match.hpp"
#include "cli/runs/plan_text.hpp"
#include "cli/runs/report.hpp"
#include "cli/runs/run_end.hpp"
#include "cli/terminal/confirm.hpp"

namespace muster::cli {
namespace {

namespace json = boost::json;

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

void PrintPlan(const json::value& plan) {
  const bool job = !TextOf(plan, "job").empty();
  std::string text = fmt::format(
      "{} on {}: {}\n",
      job ? fmt::format("{} version {}", LineOf(plan, "job"), NumberOf(plan, "version"))
          : LineOf(plan, "title"),
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
    limits += LimitText(stage, LineOf(stage, "name"));
  }
  text += "\n" + table.Text();
  if (!limits.empty()) text += "\n" + limits;
  Write(stdout, text);
}

FollowOptions FollowOf(const Context& context, const StartFlags& flags, bool job,
                       const json::value& started) {
  FollowOptions follow;
  follow.run = TextOf(started, "id");
  follow.hosts = static_cast<std::uint64_t>(NumberOf(started, "hosts"));
  follow.from = std::to_string(NumberOf(started, "commit"));
  follow.job = job;
  follow.asks = true;
  follow.stays = flags.wait_paused || context.CanAsk();
  const auto format = context.OutputFormat();
  follow.lines = !job && format == Format::kJsonl;
  follow.live = !job && format == Format::kTable && follow.hosts <= kMostLive;
  return follow;
}

void TellWork(const Context& context, const StartedWork& work, const json::value& answer) {
  if (work.tells.empty()) return;
  context.Say(fmt::format("{} on {}", work.tells,
                          Hosts(static_cast<std::uint64_t>(NumberOf(answer, "hosts")))));
}

Result<int> PrintStarted(const Context& context, ApiClient& api, const std::string& id) {
  if (context.OutputFormat() == Format::kTable) {
    Write(stdout, id + "\n");
    return 0;
  }
  const auto run = Persist(context, kPatience, [&] { return api.Get("/runs/" + Segment(id)); });
  if (!run) return Fail(run.error());
  context.PrintDocument(*run);
  return 0;
}

// The server's advice about a file that it has not is for programs.
Error WhyNotStarted(const Error& error, const StartedWork& work) {
  if (error.message.find("is not in the artifact store") == std::string::npos) return error;
  return {error.code, fmt::format("{}: a file that it sent is not kept any more: {}; run muster cp "
                                  "again",
                                  work.act, error.message.substr(0, error.message.find(';')))};
}

}  // namespace

Result<json::object> StartBody(const StartFlags& flags) {
  auto params = ParamsOf(flags.params);
  if (!params) return params;
  json::object body;
  for (const auto& [name, value] : flags.typed) (*params)[name] = value;
  if (!params->empty()) body["params"] = std::move(*params);
  if (!flags.targets.empty()) body["targets"] = flags.targets;
  if (!flags.exclude.empty()) body["exclude"] = flags.exclude;
  if (!flags.version.empty()) body["version"] = flags.version;
  if (!flags.reason.empty()) body["reason"] = flags.reason;
  if (flags.during_freeze) body["during_freeze"] = true;
  if (flags.include_maintenance) body["include_maintenance"] = true;
  if (flags.require_all) body["require_all"] = true;
  return body;
}

Result<int> StartWork(const Context& context, ApiClient& api, const StartedWork& work,
                      const StartFlags& flags, const json::object& body) {
  bool told = false;
  if (flags.dry_run || (!flags.yes && context.CanAsk())) {
    json::object dry = body;
    dry["dry_run"] = true;
    const auto plan = Persist(context, kPatience, [&] { return api.Post(work.path, dry); });
    if (!plan) return Fail(NamedNoMatch(api, WhyNotStarted(plan.error(), work), flags.targets));
    SayWarnings(context, *plan);
    told = true;
    if (flags.dry_run) {
      if (!context.PrintDocument(*plan)) PrintPlan(*plan);
      return 0;
    }
    TellWork(context, work, *plan);
    if (!Confirmed(context, work.act, *plan)) {
      context.Say("nothing was started");
      return kExitInterrupted;
    }
  }
  const auto key = NewKey();
  const auto started = Persist(context, kPatience, [&] { return api.Post(work.path, body, key); });
  if (!started) return Fail(NamedNoMatch(api, WhyNotStarted(started.error(), work), flags.targets));
  const auto id = TextOf(*started, "id");
  StaysDone(GoesOnText(id), !context.quiet);
  if (!told) TellWork(context, work, *started);
  SayLeftOut(context, *started);
  if (!told) SayWarnings(context, *started);
  if (!flags.wait && !flags.wait_paused) return PrintStarted(context, api, id);
  context.Say(fmt::format("run {} on {}", id,
                          Hosts(static_cast<std::uint64_t>(NumberOf(*started, "hosts")))));
  return FollowToEnd(context, api, FollowOf(context, flags, work.job, *started));
}

void AddStartFlags(CLI::App& command, StartFlags& flags) {
  command.add_option("-p,--param", flags.params, "A parameter; @FILE takes it from a file")
      ->type_name("NAME=VALUE");
  command.add_option("--reason", flags.reason, "Reason, for the audit trail");
  command.add_flag("--wait", flags.wait,
                   "Wait for its end; without a terminal, only until it waits for a person");
  command.add_flag("--wait-paused", flags.wait_paused, "Wait on while it waits for a person");
  command.add_flag("--dry-run", flags.dry_run, "Show what would be done, and start nothing");
  command.add_flag("--during-freeze", flags.during_freeze, "Start it even if runs are frozen");
  command.add_flag("--include-maintenance", flags.include_maintenance,
                   "Include hosts in maintenance");
  command.add_flag("--require-all", flags.require_all,
                   "Start nothing if a selected host is left out: it never joined, is in "
                   "maintenance, a copy or revoked");
  command.add_flag("-y,--yes", flags.yes, "Do not ask, however many hosts are selected");
}

}  // namespace muster::cli
