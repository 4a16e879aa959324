#include <map>

#include <CLI/CLI.hpp>
#include <boost/json.hpp>

#include "base/visible.hpp"
#include "cli/audit/check_history.hpp"
#include "cli/client/api_client.hpp"
#include "cli/client/page_guard.hpp"
#include "cli/context.hpp"
#include "cli/terminal/times.hpp"

namespace muster::cli {
namespace {

namespace json = boost::json;

constexpr const char* kCheckExamples = R"(Examples:
  muster check slots                               all triggers, the last day
  muster check slots nightly --since 30d
  muster check slots --since 2027-03-01T00:00:00Z --until 2027-04-01T00:00:00Z -o json

The due times are counted again from the documents in force, and compared with the ledger and the
runs. Exit code 1: a slot is lost, doubled, overdue, or on record without being due.)";

constexpr const char* kBothExamples = R"(Examples:
  muster check slots --since 30d                   each due slot ended exactly once
  muster check history --since 30d                 no attempt of a run is lost or doubled)";

struct CheckFlags {
  std::string trigger;
  std::string since;
  std::string until;
};

// Several answers as one.
struct Total {
  json::object first;  // the period of the first answer holds for all
  std::map<std::string, std::int64_t> numbers;
  std::map<std::string, std::int64_t> skipped;
  json::array findings;
  json::array unchecked;

  void Add(const json::value& answer) {
    if (first.empty())
      first = {{"since", FieldOf(answer, "since")}, {"until", FieldOf(answer, "until")}};
    for (const auto* name :
         {"triggers", "due", "started", "waiting", "asked", "by_hand", "newer", "more_findings"})
      numbers[name] += NumberOf(answer, name);
    if (const auto* reasons = FieldOf(answer, "skipped").if_object())
      for (const auto& [why, count] : *reasons) skipped[why] += count.to_number<std::int64_t>();
    for (const auto& finding : ListOf(answer, "findings")) findings.push_back(finding);
    for (const auto& trigger : ListOf(answer, "unchecked")) unchecked.push_back(trigger);
  }
  bool Well() const { return findings.empty() && unchecked.empty(); }
  json::object Document() const {
    json::object document = first;
    for (const auto& [name, number] : numbers) document[name] = number;
    json::object reasons;
    for (const auto& [why, count] : skipped) reasons[why] = count;
    document["skipped"] = std::move(reasons);
    document["findings"] = findings;
    document["unchecked"] = unchecked;
    return document;
  }
};

std::string Amount(std::int64_t number) { return Count(static_cast<std::uint64_t>(number)); }

void PrintCounts(const Context& context, Total& total) {
  std::int64_t skipped = 0;
  std::string reasons;
  for (const auto& [why, count] : total.skipped) {
    skipped += count;
    reasons += fmt::format("{}{} {}", reasons.empty() ? "" : ", ", Amount(count), VisibleLine(why));
  }
  auto& numbers = total.numbers;
  std::string text = fmt::format("{} trigger{}, {} to {}\n", Amount(numbers["triggers"]),
                                 numbers["triggers"] == 1 ? "" : "s",
                                 context.times.Text(TextOf(total.first, "since")),
                                 context.times.Text(TextOf(total.first, "until")));
  const auto line = [&](std::string_view name, std::int64_t number, std::string_view note) {
    text +=
        fmt::format("  {:<9} {:>12}{}{}\n", name, Amount(number), note.empty() ? "" : "  ", note);
  };
  line("due", numbers["due"], "");
  line("started", numbers["started"], "");
  line("skipped", skipped, reasons);
  if (numbers["waiting"] > 0) line("waiting", numbers["waiting"], "due, not decided yet");
  if (numbers["asked"] > 0) line("asked for", numbers["asked"], "by runs, beside the schedules");
  if (numbers["by_hand"] > 0) line("by hand", numbers["by_hand"], "fired or backfilled");
  Write(stdout, text);
}

void PrintFindings(const Context& context, Total& total) {
  if (!total.findings.empty()) {
    Table table({"TRIGGER", "WHAT", "SLOT", "COUNT", "WHY"});
    for (const auto& finding : total.findings)
      table.Add({TextOf(finding, "trigger"), TextOf(finding, "kind"),
                 context.times.Text(TextOf(finding, "first")),
                 std::to_string(NumberOf(finding, "count")), TextOf(finding, "text")});
    table.Fit(context.terminal.columns, {4});
    Write(stdout, table.Text(context.terminal.colour_out));
  }
  for (const auto& trigger : total.unchecked)
    Write(stdout, fmt::format("{}: not checked: {}\n", LineOf(trigger, "trigger"),
                              LineOf(trigger, "error")));
  if (total.numbers["newer"] > 0)
    context.Say(fmt::format("{} of them are newer than that, or on record for a part of it only",
                            Amount(total.numbers["newer"])));
  const auto wrong =
      static_cast<std::int64_t>(total.findings.size()) + total.numbers["more_findings"];
  if (wrong > 0)
    context.Say(fmt::format("{} finding{}", Amount(wrong), wrong == 1 ? "" : "s"));
  else if (total.unchecked.empty())
    context.Say("each due slot ended exactly once, or waits");
}

Result<int> CheckSlots(const Context& context, const CheckFlags& flags) {
  // The period is the same for every page.
  const auto since = Moment("--since", flags.since.empty() ? "24h" : flags.since);
  if (!since) return Fail(since.error());
  const auto until = Moment("--until", flags.until.empty() ? "0s" : flags.until);
  if (!until) return Fail(until.error());
  auto api = ApiClient::Open(context);
  if (!api) return Fail(api.error());
  Total total;
  std::string cursor;
  PageGuard guard;
  while (true) {
    const auto answer = api->Get(
        "/checks/slots",
        {{"trigger", flags.trigger}, {"since", *since}, {"until", *until}, {"cursor", cursor}});
    if (!answer) return Fail(answer.error());
    total.Add(*answer);
    cursor = TextOf(*answer, "next");
    if (cursor.empty()) break;
    if (auto ends = guard.Take(cursor, false); !ends) return Fail(ends.error());
    if (context.terminal.stderr_tty)
      context.Say(fmt::format("{} triggers, {} slots …", Amount(total.numbers["triggers"]),
                              Amount(total.numbers["due"])));
  }
  if (!context.PrintDocument(total.Document())) {
    PrintCounts(context, total);
    PrintFindings(context, total);
  }
  return total.Well() ? 0 : 1;
}

}  // namespace

void AddCheck(CLI::App& app, Context& context) {
  auto* check = app.add_subcommand("check", "Verify the records of runs and triggers");
  check->require_subcommand(1);
  check->footer(kBothExamples);
  auto* slots = check->add_subcommand("slots", "Check that each due slot ended exactly once");
  const auto flags = std::make_shared<CheckFlags>();
  slots->footer(kCheckExamples);
  slots->add_option("trigger", flags->trigger, "Only this one, also when it was deleted")
      ->type_name("TRIGGER");
  slots
      ->add_option("--since", flags->since,
                   "Slots at or after: a time, or how long ago (default: 24h)")
      ->type_name("TIME");
  slots->add_option("--until", flags->until, "Slots before (default: now)")->type_name("TIME");
  slots->callback([&context, flags] {
    context.action = [&context, flags] { return CheckSlots(context, *flags); };
  });
  AddCheckHistory(*check, context);
}

}  // namespace muster::cli
