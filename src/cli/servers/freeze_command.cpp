#include <CLI/CLI.hpp>
#include <boost/json.hpp>

#include "base/text.hpp"
#include "cli/client/api_client.hpp"
#include "cli/client/retries.hpp"
#include "cli/context.hpp"
#include "cli/runs/report.hpp"
#include "cli/terminal/confirm.hpp"
#include "cli/terminal/times.hpp"
#include "domain/targets.hpp"

namespace muster::cli {
namespace {

namespace json = boost::json;

constexpr const char* kFreezeExamples = R"(Examples:
  muster freeze --reason 'storage is on fire'               no new run at all
  muster freeze triggers --for 2h --reason 'data centre move'
  muster freeze -t zone=sh1 --for 4h --reason 'switch work'  only runs that have such a host
  muster freeze --job deploy --reason 'release is broken'
  muster freeze --list                                      what is frozen now
  muster run --during-freeze -t db1 -- uptime               a person who means it

Open runs go on; 'muster stop --all' ends them too.)";

constexpr const char* kThawExamples = R"(Examples:
  muster thaw f17        end one freeze
  muster thaw            the only one there is
  muster thaw --all)";

struct FreezeFlags {
  std::string scope = "all";
  std::string targets;
  std::string job;
  std::string lasts;
  std::string reason;
  bool list = false;
  bool yes = false;
};

struct ThawFlags {
  std::string id;
  std::string reason;
  bool all = false;
  bool yes = false;
};

void PrintFreezes(const Context& context, const json::value& answer) {
  if (context.PrintDocument(answer)) return;
  if (ListOf(answer, "freezes").empty()) return context.Say("nothing is frozen");
  Table table({"FREEZE", "HOLDS BACK", "BY", "SINCE", "UNTIL", "REASON"});
  for (const auto& freeze : ListOf(answer, "freezes")) {
    std::string what = TextOf(freeze, "scope");
    if (const auto job = TextOf(freeze, "job"); !job.empty()) what += " of job " + job;
    if (const auto targets = TextOf(freeze, "targets"); !targets.empty()) what += " on " + targets;
    const auto until = TextOf(freeze, "until");
    table.Add({TextOf(freeze, "id"), what, TextOf(freeze, "by"),
               Ago(ParseTime(TextOf(freeze, "at")), WallNow()),
               until.empty() ? "you thaw it" : context.times.Text(until),
               TextOf(freeze, "reason")});
  }
  table.Fit(context.terminal.columns, {5, 1});
  Write(stdout, table.Text(context.terminal.colour_out));
}

// How many hosts the expression means now, in words. Fails when it names a host that is not there;
// that a label is of no host yet is no mistake.
Result<std::string> HostsNow(const Context& context, ApiClient& api, const std::string& targets) {
  if (targets.empty()) return std::string();
  const auto found = Persist(context, kPatience, [&] {
    return api.Post("/hosts/resolve", json::object{{"targets", targets}});
  });
  if (found)
    return fmt::format(" ({} now)", Hosts(static_cast<std::uint64_t>(NumberOf(*found, "count"))));
  const auto expression = TargetExpression::Parse(targets);
  const bool only_names = expression && expression->OnlyNames();
  if (found.error().code != ErrorCode::kNotFound || only_names) return Fail(found.error());
  return fmt::format(" (0 hosts now: {})", found.error().message);
}

// "every new run", "new runs that triggers start, of job deploy, on zone=sh1 (3 hosts now)"
std::string HeldBack(const FreezeFlags& flags, const std::string& hosts_now) {
  std::string what =
      flags.scope == "all" ? "every new run" : "new runs that " + flags.scope + " start";
  if (!flags.job.empty()) what += " of job " + flags.job;
  if (!flags.targets.empty()) what += " on " + flags.targets + hosts_now;
  return what;
}

Result<int> Freeze(const Context& context, const FreezeFlags& flags) {
  auto api = ApiClient::Open(context);
  if (!api) return Fail(api.error());
  if (flags.list) {
    const auto answer = api->Get("/freezes");
    if (!answer) return Fail(answer.error());
    PrintFreezes(context, *answer);
    return 0;
  }
  if (Trim(flags.reason).empty())
    return Fail(
        ErrorCode::kInvalid,
        "--reason: say why; everyone who is refused reads it (--list shows what is frozen)");
  json::object body{{"scope", flags.scope}, {"reason", flags.reason}};
  if (!flags.targets.empty()) body["targets"] = flags.targets;
  if (!flags.job.empty()) body["job"] = flags.job;
  if (!flags.lasts.empty()) {
    const auto lasts = Lasting("--for", flags.lasts, Duration(1), std::chrono::days(366));
    if (!lasts) return Fail(lasts.error());
    body["for_seconds"] = std::chrono::ceil<std::chrono::seconds>(*lasts).count();
  }
  const auto hosts_now = HostsNow(context, *api, flags.targets);
  if (!hosts_now) return Fail(hosts_now.error());
  const auto agreed = Agreed(context, *api, flags.yes, Role::kOperator,
                             {.act = "Refuse " + HeldBack(flags, *hosts_now)});
  if (!agreed) return Fail(agreed.error());
  if (!*agreed) return kExitInterrupted;
  const auto answer = Act(context, [&] { return api->Post("/freezes", body); });
  if (!answer) return Fail(answer.error());
  if (context.PrintDocument(*answer)) return 0;
  for (const auto& freeze : ListOf(*answer, "freezes")) {
    const auto until = TextOf(freeze, "until");
    context.Say(fmt::format(
        "frozen: {}{}{}; to end it: muster thaw {}", TextOf(freeze, "id"), *hosts_now,
        until.empty() ? "" : ", until " + context.err_times.Text(until), TextOf(freeze, "id")));
  }
  return 0;
}

// The freeze that is meant when none is named: the only one.
Result<std::string> OnlyFreeze(ApiClient& api) {
  const auto answer = api.Get("/freezes");
  if (!answer) return Fail(answer.error());
  const auto& freezes = ListOf(*answer, "freezes");
  if (freezes.empty()) return Fail(ErrorCode::kNotFound, "nothing is frozen");
  if (freezes.size() == 1) return TextOf(freezes[0], "id");
  std::string ids;
  for (const auto& freeze : freezes) ids += (ids.empty() ? "" : ", ") + TextOf(freeze, "id");
  return Fail(ErrorCode::kInvalid, "there are several: say which of {}, or --all", ids);
}

// A person who thaws everything ends freezes of others too.
Result<bool> AgreedToThawAll(const Context& context, ApiClient& api, bool yes) {
  if (yes || !context.CanAsk()) return true;
  const auto answer = api.Get("/freezes");
  if (!answer) return Fail(answer.error());
  const auto count = ListOf(*answer, "freezes").size();
  if (count == 0) return true;
  return Agreed(context, api, yes, Role::kOperator,
                {.act = fmt::format("End {} freeze{}", Count(count), count == 1 ? "" : "s"),
                 .count = count,
                 .all = true});
}

Result<int> Thaw(const Context& context, const ThawFlags& flags) {
  if (flags.all && !flags.id.empty())
    return Fail(ErrorCode::kInvalid, "name a freeze or say --all, not both");
  auto api = ApiClient::Open(context);
  if (!api) return Fail(api.error());
  json::object body;
  if (!flags.reason.empty()) body["reason"] = flags.reason;
  std::string path = "/freezes/thaw";
  if (!flags.all) {
    auto id = flags.id.empty() ? OnlyFreeze(*api) : Result<std::string>(flags.id);
    if (!id) return Fail(id.error());
    path = fmt::format("/freezes/{}/thaw", Segment(*id));
  } else {
    const auto agreed = AgreedToThawAll(context, *api, flags.yes);
    if (!agreed) return Fail(agreed.error());
    if (!*agreed) return kExitInterrupted;
  }
  const auto answer = Act(context, [&] { return api->Post(path, body); });
  if (!answer) return Fail(answer.error());
  if (context.PrintDocument(*answer)) return 0;
  if (ListOf(*answer, "freezes").empty()) context.Say("nothing was frozen");
  for (const auto& freeze : ListOf(*answer, "freezes"))
    context.Say(fmt::format("thawed: {} ({})", TextOf(freeze, "id"), TextOf(freeze, "reason")));
  return 0;
}

}  // namespace

void AddFreeze(CLI::App& app, Context& context) {
  auto* freeze = app.add_subcommand("freeze", "Refuse new runs, for a while or until thawed");
  const auto flags = std::make_shared<FreezeFlags>();
  freeze->footer(kFreezeExamples);
  freeze->add_option("what", flags->scope, "Runs that triggers start, that events start, or all")
      ->check(CLI::IsMember({"triggers", "events", "all"}))
      ->type_name("triggers|events|all")
      ->capture_default_str();
  freeze->add_option("-t,--targets", flags->targets, "Only runs that have one of these hosts")
      ->type_name("EXPR");
  freeze->add_option("--job", flags->job, "Only runs of this job")->type_name("JOB");
  freeze->add_option("--for", flags->lasts, "Duration (default: until thawed)")
      ->type_name("DURATION");
  freeze->add_option("--reason", flags->reason, "Reason, shown to everyone who is refused");
  freeze->add_flag("-l,--list", flags->list, "List what is frozen now");
  freeze->add_flag("-y,--yes", flags->yes, "Do not ask");
  freeze->callback([&context, flags] {
    context.action = [&context, flags] { return Freeze(context, *flags); };
  });
  auto* thaw = app.add_subcommand("thaw", "End a freeze");
  const auto thaw_flags = std::make_shared<ThawFlags>();
  thaw->footer(kThawExamples);
  thaw->add_option("freeze", thaw_flags->id, "The freeze (default: the only one)")
      ->type_name("FREEZE");
  thaw->add_flag("--all", thaw_flags->all, "All freezes");
  thaw->add_flag("-y,--yes", thaw_flags->yes, "Do not ask (with --all)");
  thaw->add_option("--reason", thaw_flags->reason, "Reason, for the audit trail");
  thaw->callback([&context, thaw_flags] {
    context.action = [&context, thaw_flags] { return Thaw(context, *thaw_flags); };
  });
}

}  // namespace muster::cli
