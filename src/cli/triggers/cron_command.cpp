#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>

#include <CLI/CLI.hpp>
#include <boost/json.hpp>

#include "base/text.hpp"
#include "cli/context.hpp"
#include "cron/describe.hpp"
#include "cron/local_text.hpp"
#include "cron/next.hpp"

namespace muster::cli {
namespace {

namespace json = boost::json;

constexpr const char* kCronExamples = R"(Examples:
  muster cron next '30 2 * * *' --tz Europe/Berlin -n 5
  muster cron next '0 3 30 * sat' --days both          the 30th, and only if it is a Saturday
  muster cron next 'H H(0-5) * * *' --seed backup      the hour and minute that 'backup' gets
  muster cron next '30 2 * * *' --tz Europe/Berlin --from 2027-03-27T00:00:00Z -n 3
  muster cron explain '*/15 9-17 * * 1-5'
  muster cron check schedules.txt                      an expression on each line

No server is needed. Fields: [second] minute hour day month weekday; docs/cron.md has all.)";

struct CronFlags {
  std::string expression;
  std::string file;
  std::string tz = "UTC";
  std::string from;
  int count = 1;
  std::string days = "either";
  std::string gap = "first";
  std::string fold = "once";
  std::string seed;
};

cron::ParseOptions OptionsOf(const CronFlags& flags) {
  return {.seed = flags.seed,
          .both_days = flags.days == "both",
          .gap = flags.gap == "skip" ? cron::GapRule::kSkip : cron::GapRule::kFirst,
          .fold = flags.fold == "both" ? cron::FoldRule::kBoth : cron::FoldRule::kOnce};
}

// The error shows where in the expression it is.
Result<cron::Schedule> ParseOrPoint(const CronFlags& flags) {
  const auto schedule = cron::Parse(flags.expression, OptionsOf(flags));
  if (schedule) return *schedule;
  const auto& problem = schedule.error();
  return Fail(ErrorCode::kInvalid, "column {}: {}\n  {}\n  {:>{}}", problem.column, problem.message,
              flags.expression, '^', problem.column);
}

Result<WallTime> StartOf(const CronFlags& flags, const cron::Zone& zone) {
  if (flags.from.empty()) return WallNow();
  auto from = cron::ParseLocal(zone, flags.from);
  if (!from) return Fail(ErrorCode::kInvalid, "--from: {}", from.error().message);
  return *from;
}

std::string_view ReasonOf(cron::SlotKind kind) {
  switch (kind) {
    case cron::SlotKind::kDue:
      return "";
    case cron::SlotKind::kShifted:
    case cron::SlotKind::kGap:
      return "gap";
    case cron::SlotKind::kFold:
      return "fold";
  }
  return "";
}

json::object SlotDocument(const cron::Slot& slot, const cron::Zone& zone) {
  json::object document{{"at", cron::FormatLocal(zone, slot.at)}};
  if (slot.kind == cron::SlotKind::kDue) return document;
  document["reason"] = ReasonOf(slot.kind);
  document["nominal"] = cron::FormatReading(slot.nominal);
  if (slot.count == 1) return document;
  document["last_nominal"] = cron::FormatReading(slot.last_nominal);
  document["count"] = slot.count;
  return document;
}

// What a person should know about a slot beside its time.
std::string NoteOn(const cron::Slot& slot, const cron::Zone& zone) {
  const auto nominal = cron::FormatReading(slot.nominal);
  const auto more = slot.count > 1 ? fmt::format(" and {} more", slot.count - 1) : "";
  switch (slot.kind) {
    case cron::SlotKind::kShifted:
      return fmt::format("{}{}: not on the clock of {}, so at {}", nominal, more, zone.Name(),
                         cron::FormatLocal(zone, slot.at));
    case cron::SlotKind::kGap:
      return fmt::format("{}{}: not on the clock of {}, so not due", nominal, more, zone.Name());
    case cron::SlotKind::kFold:
      return fmt::format("{}: the second time that day, so not due", nominal);
    case cron::SlotKind::kDue:
      break;
  }
  return "";
}

// The next slots up to the `count`-th that is due, with those between that are not.
std::vector<cron::Slot> Upcoming(const cron::Schedule& schedule, const cron::Zone& zone,
                                 WallTime from, int count) {
  std::vector<cron::Slot> slots;
  for (int found = 0; found < count; ++found) {
    const auto next = cron::Next(schedule, zone, from);
    if (!next) break;
    cron::VisitSlots(schedule, zone, from, *next, [&slots](const cron::Slot& slot) {
      slots.push_back(slot);
      return true;
    });
    from = *next;
  }
  return slots;
}

Result<int> PrintNext(const Context& context, const CronFlags& flags) {
  const auto schedule = ParseOrPoint(flags);
  if (!schedule) return Fail(schedule.error());
  const auto zone = cron::LoadZone(flags.tz);
  if (!zone) return Fail(zone.error());
  const auto from = StartOf(flags, *zone);
  if (!from) return Fail(from.error());
  const auto slots = Upcoming(*schedule, *zone, *from, flags.count);
  json::array times;
  json::array skipped;
  std::string lines;
  for (const auto& slot : slots) {
    (IsDue(slot.kind) ? times : skipped).push_back(SlotDocument(slot, *zone));
    if (IsDue(slot.kind)) lines += cron::FormatLocal(*zone, slot.at) + "\n";
  }
  const json::object document{
      {"expression", flags.expression}, {"tz", flags.tz}, {"times", times}, {"skipped", skipped}};
  if (context.PrintDocument(document)) return 0;
  Write(stdout, lines);
  for (const auto& slot : slots)
    if (slot.kind != cron::SlotKind::kDue) context.Say(NoteOn(slot, *zone));
  if (times.empty()) context.Say("never: no year has such a time");
  return 0;
}

Result<int> Explain(const Context& context, const CronFlags& flags) {
  const auto schedule = ParseOrPoint(flags);
  if (!schedule) return Fail(schedule.error());
  const auto words = cron::Describe(*schedule);
  const json::object document{
      {"expression", flags.expression}, {"description", words}, {"never", schedule->never}};
  if (!context.PrintDocument(document)) Write(stdout, words + "\n");
  return 0;
}

Result<std::string> ReadAll(const std::string& path) {
  if (path == "-") return std::string(std::istreambuf_iterator<char>(std::cin), {});
  std::error_code ignored;
  std::ifstream file(path, std::ios::binary);
  if (!file || std::filesystem::is_directory(path, ignored))
    return Fail(ErrorCode::kNotFound, "cannot read {}", path);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

struct Finding {
  std::size_t line = 0;
  std::size_t column = 1;
  std::string message;
};

std::vector<Finding> FindingsIn(std::string_view text, const CronFlags& flags,
                                std::size_t& checked) {
  std::vector<Finding> findings;
  auto options = OptionsOf(flags);
  if (options.seed.empty()) options.seed = "check";  // whether H is right does not depend on it
  std::size_t number = 0;
  for (auto line : Split(text, '\n')) {
    ++number;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (Trim(line).empty() || Trim(line).starts_with('#')) continue;
    ++checked;
    const auto schedule = cron::Parse(line, options);
    if (!schedule)
      findings.push_back({number, schedule.error().column, schedule.error().message});
    else if (schedule->never)
      findings.push_back({number, 1, "never due: no year has such a day"});
  }
  return findings;
}

Result<int> Check(const Context& context, const CronFlags& flags) {
  const auto text = ReadAll(flags.file);
  if (!text) return Fail(text.error());
  std::size_t checked = 0;
  const auto findings = FindingsIn(*text, flags, checked);
  json::array problems;
  std::string lines;
  for (const auto& finding : findings) {
    problems.push_back(json::object{
        {"line", finding.line}, {"column", finding.column}, {"message", finding.message}});
    lines +=
        fmt::format("{}:{}:{}: {}\n", flags.file, finding.line, finding.column, finding.message);
  }
  const json::object document{{"file", flags.file}, {"checked", checked}, {"problems", problems}};
  if (!context.PrintDocument(document)) {
    Write(stdout, lines);
    context.Say(
        fmt::format("{}: {} of {} expressions are wrong", flags.file, findings.size(), checked));
  }
  return findings.empty() ? 0 : 1;
}

void AddLanguageOptions(CLI::App& command, CronFlags& flags) {
  command.add_option("--days", flags.days, "When both day fields are restricted")
      ->check(CLI::IsMember({"either", "both"}))
      ->capture_default_str();
  command.add_option("--seed", flags.seed, "The name that H and ? are hashed from")
      ->type_name("NAME");
}

void AddNext(CLI::App& cron, Context& context, const std::shared_ptr<CronFlags>& flags) {
  auto* next = cron.add_subcommand("next", "Print the next times, one on each line");
  next->footer(kCronExamples);
  next->add_option("expression", flags->expression, "The expression, in quotes")
      ->type_name("CRON")
      ->required();
  next->add_option("--tz", flags->tz, "The time zone")->type_name("ZONE")->capture_default_str();
  next->add_option("--from", flags->from,
                   "Times after this one: 2027-03-27T00:00:00Z, or 2027-03-27 02:30 in the zone "
                   "(default: now)")
      ->type_name("TIME");
  next->add_option("-n,--count", flags->count, "How many")
      ->check(CLI::Range(1, 100'000))
      ->capture_default_str();
  next->add_option("--gap", flags->gap,
                   "A fixed time the clock jumps over: at the first moment "
                   "after, or skipped")
      ->check(CLI::IsMember({"first", "skip"}))
      ->capture_default_str();
  next->add_option("--fold", flags->fold, "A fixed time the clock shows twice: once, or both times")
      ->check(CLI::IsMember({"once", "both"}))
      ->capture_default_str();
  AddLanguageOptions(*next, *flags);
  next->callback([&context, flags] {
    context.action = [&context, flags] { return PrintNext(context, *flags); };
  });
}

}  // namespace

void AddCron(CLI::App& app, Context& context) {
  auto* cron = app.add_subcommand("cron", "Ask about cron expressions, without a server");
  const auto flags = std::make_shared<CronFlags>();
  cron->require_subcommand(1);
  cron->footer(kCronExamples);
  AddNext(*cron, context, flags);

  auto* explain = cron->add_subcommand("explain", "Explain an expression in plain words");
  explain->footer(kCronExamples);
  explain->add_option("expression", flags->expression, "The expression, in quotes")
      ->type_name("CRON")
      ->required();
  AddLanguageOptions(*explain, *flags);
  explain->callback([&context, flags] {
    context.action = [&context, flags] { return Explain(context, *flags); };
  });

  auto* check = cron->add_subcommand("check", "Find mistakes in a file of expressions");
  check->footer(kCronExamples);
  check
      ->add_option("file", flags->file,
                   "An expression on each line, # begins a comment; - is stdin")
      ->type_name("FILE")
      ->required();
  AddLanguageOptions(*check, *flags);
  check->callback(
      [&context, flags] { context.action = [&context, flags] { return Check(context, *flags); }; });
}

}  // namespace muster::cli
