#include <functional>

#include <CLI/CLI.hpp>
#include <boost/json.hpp>

#include "base/visible.hpp"
#include "cli/client/api_client.hpp"
#include "cli/client/retries.hpp"
#include "cli/terminal/confirm.hpp"
#include "cli/terminal/times.hpp"
#include "cli/triggers/trigger_text.hpp"
#include "cli/triggers/triggers_command.hpp"

namespace muster::cli {
namespace {

namespace json = boost::json;

struct ActFlags {
  std::string name;
  std::vector<std::string> names;
  std::string reason;
  std::string slot;
  std::string from;
  std::string to;
  bool despite_overlap = false;
  bool during_freeze = false;
  bool yes = false;
};

// Rows of a name and a value, one under the other.
class Sheet {
 public:
  void Add(std::string_view name, std::string_view value) {
    if (!value.empty()) text_ += fmt::format("  {:<10} {}\n", name, VisibleLine(value));
  }
  const std::string& Text() const { return text_; }

 private:
  std::string text_;
};

void AddTimes(Sheet& sheet, const json::value& trigger, const cron::Zone& zone) {
  const auto& times = ListOf(trigger, "upcoming");
  for (std::size_t i = 0; i < times.size(); ++i) {
    if (!times[i].is_string()) continue;
    const std::string time(times[i].get_string());
    const std::string near = i == 0 ? "  " + Distance(ParseTime(time), WallNow()) : std::string();
    sheet.Add(i == 0 ? "next" : "", ZoneText(zone, time) + near);
  }
  if (times.empty()) sheet.Add("next", "none");
}

void AddWork(Sheet& sheet, const json::value& trigger, const cron::Zone& zone) {
  if (const auto run = TextOf(trigger, "last_run"); !run.empty())
    sheet.Add("last", fmt::format("{} for {}", run, ZoneText(zone, TextOf(trigger, "last_slot"))));
  sheet.Add("so far", fmt::format("{} started, {} skipped",
                                  Count(static_cast<std::uint64_t>(NumberOf(trigger, "started"))),
                                  Count(static_cast<std::uint64_t>(NumberOf(trigger, "skipped")))));
  for (const auto& skip : ListOf(trigger, "skips"))
    sheet.Add("skips",
              fmt::format("{}, by {}{}{}", ZoneText(zone, TextOf(skip, "slot")), TextOf(skip, "by"),
                          TextOf(skip, "reason").empty() ? "" : ": ", TextOf(skip, "reason")));
  if (const auto& backfill = FieldOf(trigger, "backfill"); backfill.is_object())
    sheet.Add("backfill",
              fmt::format("from {} to {}, by {}", ZoneText(zone, TextOf(backfill, "next")),
                          ZoneText(zone, TextOf(backfill, "to")), TextOf(backfill, "by")));
  if (const auto* data = FieldOf(trigger, "data").if_object())
    for (const auto& [name, value] : *data)
      if (value.is_string())
        sheet.Add("data", fmt::format("{}={}", std::string_view(name),
                                      std::string_view(value.get_string())));
}

std::string Described(const json::value& trigger, const cron::Zone& zone) {
  Sheet sheet;
  const auto targets = TextOf(trigger, "targets");
  sheet.Add("job", TextOf(trigger, "job") + (targets.empty() ? "" : " on " + targets));
  const auto words = ScheduleWords(trigger);
  sheet.Add("schedule", ScheduleText(trigger) + (words.empty() ? "" : ": " + words));
  AddTimes(sheet, trigger, zone);
  sheet.Add("missed", TextOf(trigger, "missed"));
  sheet.Add("overlap", TextOf(trigger, "overlap"));
  sheet.Add("channel", TextOf(trigger, "channel"));
  if (const auto by = TextOf(trigger, "paused_by"); !by.empty())
    sheet.Add("paused", fmt::format("by {}{}{}", by, TextOf(trigger, "reason").empty() ? "" : ": ",
                                    TextOf(trigger, "reason")));
  sheet.Add("error", TextOf(trigger, "error"));
  if (const auto retry = ParseTime(TextOf(trigger, "retry_at")))
    sheet.Add("tried again", Distance(retry, WallNow()));
  sheet.Add("status", TextOf(trigger, "status"));
  AddWork(sheet, trigger, zone);
  return fmt::format("{}  {}\n{}", LineOf(trigger, "name"), LineOf(trigger, "state"), sheet.Text());
}

Result<int> Show(const Context& context, const ActFlags& flags) {
  auto api = ApiClient::Open(context);
  if (!api) return Fail(api.error());
  const auto path = fmt::format("/triggers/{}", Segment(flags.name));
  const auto trigger = api->Get(path);
  if (!trigger) return Fail(trigger.error());
  if (context.PrintDocument(*trigger)) return 0;
  const auto slots = api->Get(path + "/slots", {{"limit", "5"}});
  if (!slots) return Fail(slots.error());
  const cron::Zone zone = ZoneOfTrigger(context, *trigger);
  std::string text = Described(*trigger, zone);
  const auto& rows = ListOf(*slots, "slots");
  for (auto row = rows.rbegin(); row != rows.rend(); ++row) {
    const auto count = NumberOf(*row, "count");
    const auto detail = TextOf(*row, "detail");
    text += fmt::format(
        "  {:<10} {}  {}{}{}\n", row == rows.rbegin() ? "slots" : "",
        ZoneText(zone, TextOf(*row, "first")), VisibleLine(FateText(*row)),
        count > 1 ? fmt::format(" ({} slots)", Count(static_cast<std::uint64_t>(count))) : "",
        detail.empty() ? "" : ", " + VisibleLine(detail));
  }
  Write(stdout, text);
  return 0;
}

// The same for each name; the first that is refused ends it.
Result<int> SteerAll(const Context& context, const ActFlags& flags, std::string_view verb,
                     std::string_view said) {
  auto api = ApiClient::Open(context);
  if (!api) return Fail(api.error());
  json::object body;
  if (!flags.reason.empty()) body["reason"] = flags.reason;
  json::array answers;
  for (const auto& name : flags.names) {
    const auto path = fmt::format("/triggers/{}/{}", Segment(name), verb);
    auto answer = Act(context, [&] { return api->Post(path, body); });
    if (!answer) return Fail(answer.error());
    if (context.OutputFormat() == Format::kTable) context.Say(fmt::format("{}: {}", name, said));
    answers.push_back(std::move(*answer));
  }
  context.PrintDocument(json::object{{"triggers", answers}});
  return 0;
}

Result<int> Steer(const Context& context, const ActFlags& flags, std::string_view verb,
                  json::object body,
                  const std::function<std::string(const json::value& answer)>& said) {
  auto api = ApiClient::Open(context);
  if (!api) return Fail(api.error());
  if (!flags.reason.empty()) body["reason"] = flags.reason;
  const auto path = fmt::format("/triggers/{}/{}", Segment(flags.name), verb);
  const auto answer = Act(context, [&] { return api->Post(path, body); });
  if (!answer) return Fail(answer.error());
  if (!context.PrintDocument(*answer)) context.Say(said(*answer));
  return 0;
}

// A moment to come or gone, in UTC or with its offset; `2h` is how long ago.
Result<std::string> Required(std::string_view option, const std::string& text) {
  auto moment = Moment(option, text);
  if (moment && moment->empty()) return Fail(ErrorCode::kInvalid, "{}: say when", option);
  return moment;
}

Result<int> SkipOne(const Context& context, const ActFlags& flags) {
  const auto slot = HasOffset(flags.slot) ? ReadMoment(flags.slot) : Result<WallTime>();
  if (!slot || !*slot)
    return Fail(ErrorCode::kInvalid,
                "slot: expected its time with Z or an offset, like 2027-03-28T01:30:00Z; 'muster "
                "triggers show {}' has the next ones",
                flags.name);
  return Steer(context, flags, "skip", {{"slot", FormatTime(*slot)}}, [&](const json::value&) {
    return fmt::format("{}: the slot of {} will be skipped", flags.name, flags.slot);
  });
}

// "Start 7 slots of nightly one after the other, each", of which hosts follow.
std::string BackfillText(const std::string& name, const json::value& plan) {
  const auto slots = static_cast<std::uint64_t>(NumberOf(plan, "slots"));
  if (slots == 1) return fmt::format("Start 1 slot of {}", name);
  return fmt::format("Start {} slots of {} one after the other, each", Count(slots), name);
}

// How many slots a backfill would start; 0 if the server does not say.
std::uint64_t SlotsOf(ApiClient& api, const std::string& name, json::object range) {
  range["dry_run"] = true;
  const auto plan = api.Post(fmt::format("/triggers/{}/backfill", Segment(name)), range);
  return plan ? static_cast<std::uint64_t>(NumberOf(*plan, "slots")) : 0;
}

Result<int> Backfill(const Context& context, const ActFlags& flags) {
  const auto from = Required("--from", flags.from);
  if (!from) return Fail(from.error());
  const auto to = Required("--to", flags.to);
  if (!to) return Fail(to.error());
  auto api = ApiClient::Open(context);
  if (!api) return Fail(api.error());
  json::object range{{"from", *from}, {"to", *to}};
  if (flags.during_freeze) range["during_freeze"] = true;
  const auto agreed = AgreedToStart(
      context, *api, flags.yes, fmt::format("/triggers/{}/backfill", Segment(flags.name)), range,
      [&](const json::value& plan) { return BackfillText(flags.name, plan); });
  if (!agreed) return Fail(agreed.error());
  if (!*agreed) return kExitInterrupted;
  const auto slots = SlotsOf(*api, flags.name, range);
  return Steer(context, flags, "backfill", range, [&](const json::value&) {
    return fmt::format("{}: {} from {} to {} {}; see: muster slots {}", flags.name,
                       slots == 0   ? "the slots"
                       : slots == 1 ? "1 slot"
                                    : fmt::format("{} slots", Count(slots)),
                       context.err_times.Text(*from), context.err_times.Text(*to),
                       slots == 1 ? "is started" : "are started, one after the other", flags.name);
  });
}

Result<int> Fire(const Context& context, const ActFlags& flags) {
  auto api = ApiClient::Open(context);
  if (!api) return Fail(api.error());
  json::object body;
  if (!flags.reason.empty()) body["reason"] = flags.reason;
  if (flags.despite_overlap) body["despite_overlap"] = true;
  if (flags.during_freeze) body["during_freeze"] = true;
  const auto path = fmt::format("/triggers/{}/fire", Segment(flags.name));
  const auto agreed = AgreedToStart(context, *api, flags.yes, path, body,
                                    [&](const json::value&) { return "Fire " + flags.name; });
  if (!agreed) return Fail(agreed.error());
  if (!*agreed) return kExitInterrupted;
  const auto key = NewKey();
  const auto started = Persist(context, kPatience, [&] { return api->Post(path, body, key); });
  if (!started) return Fail(started.error());
  if (context.PrintDocument(*started)) return 0;
  const auto run = TextOf(*started, "id");
  Write(stdout, run + "\n");
  context.Say(fmt::format("{} fired: {} on {}; see: muster show {}", flags.name, run,
                          Hosts(static_cast<std::uint64_t>(NumberOf(*started, "hosts"))), run));
  return 0;
}

using Action = Result<int> (*)(const Context& context, const ActFlags& flags);

struct Act {
  CLI::App* command;
  std::shared_ptr<ActFlags> flags;
};

Act AddAct(CLI::App& triggers, Context& context, const char* examples, const char* word,
           const char* about, Action action) {
  Act act{triggers.add_subcommand(word, about), std::make_shared<ActFlags>()};
  act.command->footer(examples);
  act.command->callback([&context, flags = act.flags, action] {
    context.action = [&context, flags, action] { return action(context, *flags); };
  });
  return act;
}

void AddName(const Act& act) {
  act.command->add_option("trigger", act.flags->name, "Which")->type_name("TRIGGER")->required();
}
void AddNames(const Act& act) {
  act.command->add_option("trigger", act.flags->names, "Which")->type_name("TRIGGER")->required();
}
void AddYes(const Act& act) {
  act.command->add_flag("-y,--yes", act.flags->yes, "Do not ask, however many hosts are selected");
}
void AddReason(const Act& act) {
  act.command->add_option("--reason", act.flags->reason, "Reason, for the audit trail");
}

}  // namespace

void AddTriggerActs(CLI::App& triggers, Context& context, const char* examples) {
  const auto add = [&](const char* word, const char* about, Action action) {
    return AddAct(triggers, context, examples, word, about, action);
  };
  AddName(add("show", "Show one trigger: next times, last slots, data", Show));

  const auto pause = add("pause", "Pause triggers; open runs go on",
                         [](const Context& context_now, const ActFlags& flags) {
                           return SteerAll(context_now, flags, "pause", "paused");
                         });
  AddNames(pause);
  AddReason(pause);

  const auto resume = add("resume", "Resume triggers, also after an error",
                          [](const Context& context_now, const ActFlags& flags) {
                            return SteerAll(context_now, flags, "resume", "goes on");
                          });
  AddNames(resume);
  AddReason(resume);

  const auto fire = add("fire", "Start a run now, beside the schedule", Fire);
  AddName(fire);
  AddReason(fire);
  AddYes(fire);
  fire.command->add_flag("--despite-overlap", fire.flags->despite_overlap,
                         "Start it even if a run of it is open");
  fire.command->add_flag("--during-freeze", fire.flags->during_freeze,
                         "Start it even if runs are frozen");

  const auto skip = add("skip", "Skip one slot", SkipOne);
  AddName(skip);
  skip.command->add_option("slot", skip.flags->slot, "Its time, as 2027-03-28T01:30:00Z")
      ->type_name("TIME")
      ->required();
  AddReason(skip);

  const auto backfill = add("backfill", "Start the slots of a period in the past", Backfill);
  AddName(backfill);
  backfill.command->add_option("--from", backfill.flags->from, "Slots at or after")
      ->type_name("TIME")
      ->required();
  backfill.command->add_option("--to", backfill.flags->to, "Slots up to")
      ->type_name("TIME")
      ->required();
  AddReason(backfill);
  AddYes(backfill);
  backfill.command->add_flag("--during-freeze", backfill.flags->during_freeze,
                             "Start them even if runs are frozen");
}

}  // namespace muster::cli
