// What the running server does: its threads and its log. For whoever operates it.

#include <chrono>
#include <memory>
#include <thread>

#include <CLI/CLI.hpp>
#include <boost/json.hpp>

#include "cli/client/api_client.hpp"
#include "cli/context.hpp"

namespace muster::cli {
namespace {

namespace json = boost::json;

constexpr std::chrono::milliseconds kLook{500};
constexpr int kLooksPerRaise = 60;  // the level is raised for twice as long as it takes to renew it
constexpr std::uint64_t kRaiseMs = 60'000;

std::string CountersText(const json::value& loop) {
  std::string text;
  const auto& counters = FieldOf(loop, "counters");
  if (!counters.is_object()) return text;
  for (const auto& item : counters.get_object())
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", std::string_view(item.key()),
                        NumberOf(counters, item.key()));
  return text;
}

Result<int> Loops(const Context& context) {
  auto api = ApiClient::Open(context);
  if (!api) return Fail(api.error());
  const auto answer = api->Get("/debug/loops");
  if (!answer) return Fail(answer.error());
  if (context.PrintDocument(*answer)) return 0;
  Table table({"LOOP", "THREAD", "STATE", "WORK", "SINCE", "QUEUED", "DONE", "CPU", "LONGEST", ""});
  for (const auto& loop : ListOf(*answer, "loops")) {
    const auto number = [&](std::string_view field) {
      return static_cast<std::uint64_t>(NumberOf(loop, field));
    };
    const auto time = [&](std::string_view field) {
      return LastedExactly(Duration(NumberOf(loop, field)));
    };
    table.Add({TextOf(loop, "name"), std::to_string(number("thread")), TextOf(loop, "state"),
               TextOf(loop, "work").empty() ? "-" : TextOf(loop, "work"), time("since_ms"),
               FieldOf(loop, "queued").is_null() ? "-" : Count(number("queued")),
               Count(number("done")), time("cpu_ms"), time("longest_ms"), CountersText(loop)});
  }
  table.Fit(context.terminal.columns, {3, 9});
  Write(stdout, table.Text(context.terminal.colour_out));
  return 0;
}

struct LogOptions {
  std::string level;
  std::uint64_t lines = 50;
  bool follow = false;
};

void PrintLines(const Context& context, const json::value& page) {
  if (const auto lost = NumberOf(page, "lost"); lost > 0)
    context.Say(fmt::format("({} line{} came too fast to be kept)", lost, lost == 1 ? "" : "s"));
  for (const auto& line : ListOf(page, "lines")) {
    if (context.OutputFormat() != Format::kTable) {
      WriteCopy(stdout, JsonLine(line));
      continue;
    }
    Write(stdout, OwnLine(fmt::format("{} {:<5} {}", context.times.Stamp(TextOf(line, "time")),
                                      TextOf(line, "level"), TextOf(line, "message"))));
  }
}

Result<> Raise(ApiClient& api, const std::string& level) {
  const json::object body{{"level", level}, {"for_ms", kRaiseMs}};
  const auto raised = api.Post("/debug/log", body);
  if (!raised) return Fail(raised.error());
  return {};
}

Result<int> Log(const Context& context, const LogOptions& options) {
  auto api = ApiClient::Open(context);
  if (!api) return Fail(api.error());
  std::uint64_t after = 0;
  std::string limit = std::to_string(options.lines);
  for (int look = 0;; ++look) {
    if (!options.level.empty() && look % kLooksPerRaise == 0)
      if (const auto raised = Raise(*api, options.level); !raised) return Fail(raised.error());
    const auto page =
        api->Get("/debug/log", {{"level", options.level.empty() ? "info" : options.level},
                                {"after", std::to_string(after)},
                                {"limit", limit}});
    if (!page) return Fail(page.error());
    if (!options.follow && context.OutputFormat() != Format::kTable && context.PrintDocument(*page))
      return 0;
    PrintLines(context, *page);
    if (!options.follow) return 0;
    after = static_cast<std::uint64_t>(NumberOf(*page, "next"));
    limit = "4096";
    std::this_thread::sleep_for(kLook);
  }
}

}  // namespace

void AddDebug(CLI::App& app, Context& context) {
  auto* command = app.add_subcommand("debug", "Look into the running server");
  command->require_subcommand(1);
  command->footer(
      "Examples:\n  muster debug loops\n  muster debug log -n 200 --level warn\n"
      "  muster debug log --level debug -f");
  auto* loops = command->add_subcommand("loops", "Show what each thread of the server does now");
  loops->footer("Examples:\n  muster debug loops\n  muster debug loops -o json");
  loops->callback([&context] { context.action = [&context] { return Loops(context); }; });

  auto* log = command->add_subcommand("log", "Show the server's latest log lines");
  log->footer(
      "Examples:\n  muster debug log -n 200\n  muster debug log --level debug -f\n\n"
      "A level more detailed than the server's own is kept in its memory for a minute, or for as\n"
      "long as you follow; what it writes to its own log stays as it is.");
  const auto options = std::make_shared<LogOptions>();
  log->add_option("--level", options->level, "Lines of at least this level")
      ->check(CLI::IsMember({"debug", "info", "warn", "error"}));
  log->add_option("-n", options->lines, "How many lines")
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  log->add_flag("-f,--follow", options->follow, "Go on with new lines");
  log->callback([&context, options] {
    context.action = [&context, options] { return Log(context, *options); };
  });
}

}  // namespace muster::cli
