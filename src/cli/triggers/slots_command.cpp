#include <utility>

#include <CLI/CLI.hpp>
#include <boost/json.hpp>

#include "cli/client/api_client.hpp"
#include "cli/context.hpp"
#include "cli/terminal/list.hpp"
#include "cli/terminal/times.hpp"
#include "cli/triggers/trigger_text.hpp"

namespace muster::cli {
namespace {

namespace json = boost::json;

constexpr const char* kSlotsExamples = R"(Examples:
  muster slots nightly                     what became of its last due times
  muster slots nightly --since 30d --skipped
  muster slots nightly -n 1000 -o json
  muster check slots nightly               prove that none is missing and none is doubled

Neighbours that were skipped for one reason are one row.)";

struct SlotFlags {
  std::string name;
  std::string since;
  std::string until;
  std::uint64_t count = 50;
  bool skipped = false;
};

// "started r12" and its detail. The beginning of a schedule is too long for the first of them.
std::pair<std::string, std::string> ResultAndWhy(const json::value& slot) {
  const auto result = TextOf(slot, "result");
  if (result == "started" || result == "skipped") return {FateText(slot), TextOf(slot, "detail")};
  const auto detail = TextOf(slot, "detail");
  return {"schedule", FateText(slot) + (detail.empty() ? "" : ": " + detail)};
}

std::string CountText(const json::value& slot) {
  const auto count = NumberOf(slot, "count");
  return count > 0 ? std::to_string(count) : "";
}

std::string HowText(const json::value& slot) {
  if (FlagOf(slot, "by_hand")) return "by hand";
  return FlagOf(slot, "asked") ? "asked for" : "";
}

// How late it began, when that is worth a word.
std::string LateText(const json::value& slot) {
  if (TextOf(slot, "result") != "started" || FlagOf(slot, "by_hand")) return "";
  const Duration late = ParseTime(TextOf(slot, "at")) - ParseTime(TextOf(slot, "first"));
  return late > std::chrono::seconds(2) ? Lasted(late) + " late" : "";
}

Result<int> Slots(const Context& context, const SlotFlags& flags) {
  const auto since = Moment("--since", flags.since);
  if (!since) return Fail(since.error());
  const auto until = Moment("--until", flags.until);
  if (!until) return Fail(until.error());
  auto api = ApiClient::Open(context);
  if (!api) return Fail(api.error());
  json::array rows;
  bool more = false;
  const auto path = fmt::format("/triggers/{}", Segment(flags.name));
  const auto pages =
      api->Pages(path + "/slots", {{"since", *since}, {"until", *until}, {"limit", "1000"}},
                 "slots", [&](const json::value& slot) {
                   if (flags.skipped && TextOf(slot, "result") != "skipped") return true;
                   more = rows.size() >= flags.count;
                   if (!more) rows.push_back(slot);
                   return !more;
                 });
  if (!pages) return Fail(pages.error());
  std::reverse(rows.begin(), rows.end());
  if (context.PrintDocument(json::object{{"slots", rows}})) return 0;
  // Times are shown in the trigger's zone; a deleted one has none.
  const auto trigger = api->Get(path);
  const cron::Zone zone = trigger ? ZoneOfTrigger(context, *trigger) : cron::Zone::Utc();
  Table table({"SLOT", "COUNT", "RESULT", "HOW", "LATE", "WHY"});
  if (rows.empty()) {
    context.Say("no slots there");
    return 0;
  }
  Tally results;
  for (const auto& slot : rows) {
    const auto result = TextOf(slot, "result");
    const auto count = std::max<std::int64_t>(1, NumberOf(slot, "count"));
    if (result == "started" || result == "skipped")  // else the beginning of a schedule
      results.Add(result, static_cast<std::uint64_t>(count));
    auto [fate, why] = ResultAndWhy(slot);
    table.Add({SlotTimes(zone, slot), CountText(slot), std::move(fate), HowText(slot),
               LateText(slot), std::move(why)});
  }
  table.Fit(context.terminal.columns, {3, 5});
  return ShowList(context, table.Text(context.terminal.colour_out),
                  results.Text("slot") + (more ? "; -n N lists more" : ""));
}

}  // namespace

void AddSlots(CLI::App& app, Context& context) {
  auto* command = app.add_subcommand("slots", "Show what became of a trigger's slots (due times)");
  const auto flags = std::make_shared<SlotFlags>();
  command->footer(kSlotsExamples);
  command->add_option("trigger", flags->name, "The trigger; may be a deleted one")
      ->type_name("TRIGGER")
      ->required();
  command->add_option("--since", flags->since, "Times at or after: a time, or how long ago")
      ->type_name("TIME");
  command->add_option("--until", flags->until, "Times before")->type_name("TIME");
  command->add_option("-n,--count", flags->count, "At most N rows, the latest")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  command->add_flag("--skipped", flags->skipped, "Only skipped slots");
  command->callback(
      [&context, flags] { context.action = [&context, flags] { return Slots(context, *flags); }; });
}

}  // namespace muster::cli
