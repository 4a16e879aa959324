#include "cli/triggers/triggers_command.hpp"

#include <algorithm>
#include <map>

#include <CLI/CLI.hpp>
#include <boost/json.hpp>

#include "cli/client/api_client.hpp"
#include "cli/terminal/list.hpp"
#include "cli/triggers/trigger_text.hpp"

namespace muster::cli {
namespace {

namespace json = boost::json;

constexpr const char* kTriggersExamples = R"(Examples:
  muster triggers                                 all of them: state, next time, last run
  muster triggers --state error
  muster triggers show nightly                    the next times, the last slots, what it carries
  muster triggers pause nightly --reason 'storage work'
  muster triggers resume nightly                  what came due meanwhile is on record as skipped
  muster triggers fire nightly                    one run now, beside the schedule
  muster triggers skip nightly 2027-03-28T01:30:00Z
  muster triggers backfill nightly --from 2027-03-01T00:00:00Z --to 2027-03-04T00:00:00Z
  muster slots nightly                            what became of each due time

A trigger is a document: muster apply -f nightly.yaml makes it, muster delete trigger nightly ends it.)";

struct ListFlags {
  std::string state;
};

// When runs were started, of the newest ones: the slot of one that a backfill or a catch-up started
// is older than the run.
std::map<std::string, WallTime> NewestStarts(ApiClient& api) {
  std::map<std::string, WallTime> starts;
  const auto newest = api.Get("/runs", {{"limit", "500"}});
  if (!newest) return starts;
  for (const auto& run : ListOf(*newest, "runs"))
    starts[TextOf(run, "id")] = ParseTime(TextOf(run, "created"));
  return starts;
}

std::string LastText(const json::value& trigger, const std::map<std::string, WallTime>& starts) {
  const auto run = TextOf(trigger, "last_run");
  if (run.empty()) return "never";
  const auto start = starts.find(run);
  return fmt::format(
      "{}, {}", run,
      Ago(start == starts.end() ? ParseTime(TextOf(trigger, "last_slot")) : start->second,
          WallNow()));
}

std::string NoteOf(const json::value& trigger) {
  if (const auto error = TextOf(trigger, "error"); !error.empty()) return error;
  if (const auto by = TextOf(trigger, "paused_by"); !by.empty())
    return fmt::format("paused by {}{}{}", by, TextOf(trigger, "reason").empty() ? "" : ": ",
                       TextOf(trigger, "reason"));
  return TextOf(trigger, "status");
}

// Whether its next time means anything.
bool Waits(const json::value& trigger) {
  const auto state = TextOf(trigger, "state");
  return state == "runnable" || state == "running";
}

Result<int> ListTriggers(const Context& context, const ListFlags& flags) {
  auto api = ApiClient::Open(context);
  if (!api) return Fail(api.error());
  json::array list;
  Tally states;
  const auto pages =
      api->Pages("/triggers", {{"limit", "1000"}}, "triggers", [&](const json::value& trigger) {
        const auto state = TextOf(trigger, "state");
        if (!flags.state.empty() && state != flags.state) return true;
        states.Add(state);
        list.push_back(trigger);
        return true;
      });
  if (!pages) return Fail(pages.error());
  if (context.PrintDocument(json::object{{"triggers", list}})) return 0;
  const bool ran = std::ranges::any_of(
      list, [](const json::value& trigger) { return !TextOf(trigger, "last_run").empty(); });
  const auto starts = ran ? NewestStarts(*api) : std::map<std::string, WallTime>();
  const WallTime now = WallNow();
  Table table({"TRIGGER", "STATE", "SCHEDULE", "NEXT", "LAST", "JOB", "NOTE"});
  for (const auto& trigger : list) {
    const WallTime next = ParseTime(TextOf(trigger, "next"));
    table.Add({TextOf(trigger, "name"), TextOf(trigger, "state"), ScheduleText(trigger),
               next && Waits(trigger) ? Distance(next, now) : "-", LastText(trigger, starts),
               TextOf(trigger, "job"), context.times.InText(NoteOf(trigger))});
  }
  table.Fit(context.terminal.columns, {6, 2});
  return ShowList(context, table.Text(context.terminal.colour_out, 1), states.Text("trigger"));
}

}  // namespace

void AddTriggers(CLI::App& app, Context& context) {
  auto* command = app.add_subcommand("triggers", "List triggers, which start runs by schedule");
  const auto flags = std::make_shared<ListFlags>();
  command->footer(kTriggersExamples);
  command->add_option("--state", flags->state, "Only those in this state")
      ->check(CLI::IsMember({"runnable", "running", "paused", "complete", "error"}));
  AddTriggerActs(*command, context, kTriggersExamples);
  command->callback([&context, flags, command] {
    if (!command->get_subcommands().empty()) return;  // theirs comes first
    context.action = [&context, flags] { return ListTriggers(context, *flags); };
  });
}

}  // namespace muster::cli
