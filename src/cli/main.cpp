#include <algorithm>
#include <csignal>
#include <exception>
#include <sstream>
#include <unistd.h>
#include <utility>

#include <CLI/CLI.hpp>

#include "base/arguments.hpp"
#include "cli/command_groups.hpp"
#include "cli/context.hpp"
#include "cli/documents/document_commands.hpp"
#include "cli/imports/import_command.hpp"
#include "cli/runs/follow_commands.hpp"
#include "cli/usage.hpp"

namespace muster::cli {
namespace {

constexpr const char* kMainExamples = R"(Examples:
  muster login https://muster.example:8440     once; then:
  muster hosts                                 who is there
  muster run -t 'web*' -- uptime               do something
  muster logs                                  what the last run said
  muster run --help                            examples of each command)";

void AddGlobalOptions(CLI::App& app, Context& context) {
  app.add_option("--server", context.flags.server,
                 fmt::format("URL of the server (MUSTER_SERVER; default: {})", kDefaultServer))
      ->type_name("URL");
  app.add_option("--context", context.flags.context,
                 "Context to use (MUSTER_CONTEXT; see: muster contexts)")
      ->type_name("CONTEXT");
  app.add_option("--token", context.flags.token, "Token of the caller (MUSTER_TOKEN)")
      ->type_name("TOKEN");
  app.add_option("--token-file", context.flags.token_file,
                 "File with the token (MUSTER_TOKEN_FILE)")
      ->type_name("FILE");
  app.add_option("--ca", context.flags.ca_file, "File with the CA of the server (MUSTER_CA)")
      ->type_name("FILE");
  app.add_option("-o,--output", context.output, "Output format; jsonl is a line for each item")
      ->check(CLI::IsMember({"table", "json", "jsonl", "yaml"}))
      ->capture_default_str();
  app.add_option("--color", context.colour, "When to use colours; NO_COLOR turns auto off")
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->capture_default_str();
  app.add_flag("--utc", context.utc,
               "Show times in UTC (MUSTER_UTC; default: local time at a terminal)");
  app.add_flag("--no-pager", context.no_pager,
               "Do not show long lists in a pager (MUSTER_PAGER, PAGER; default: less)");
  app.add_flag("-q,--quiet", context.quiet, "Print only results and errors");
  app.add_flag("-v,--verbose", context.verbose, "Log each call to the server");
}

void AddCommands(CLI::App& app, Context& context) {
  for (auto* add :
       {AddRun,     AddApply,  AddGet,     AddDelete,  AddStart,    AddCp,         AddFetch,
        AddShow,    AddRuns,   AddLogs,    AddStop,    AddSteering, AddAnswers,    AddWhy,
        AddTrace,   AddHosts,  AddAgents,  AddInvites, AddTokens,   AddSecrets,    AddAudit,
        AddWhoAmI,  AddStatus, AddVersion, AddLogin,   AddContexts, AddCompletion, AddManual,
        AddDebug,   AddFreeze, AddImport,  AddCron,    AddTriggers, AddSlots,      AddCheck,
        AddServers, AddWait,   AddAttach,  AddRerun,   AddRanges,   AddJobs,       AddChannels})
    add(app, context);
}

// Further lines are indented: none of them, with a name of others in it, passes for one of ours.
int Report(const Error& error, const Times& times) {
  std::string text = "muster: ";
  for (const char c : times.InText(error.message)) {
    if (text.ends_with('\n') && c != ' ') text += "  ";
    text += c;
  }
  WriteMessage(text + "\n");
  return ExitCodeOfError(error.code);
}

// `start JOB --version 3`, where the command has no such option: not the program's own version.
bool IsVersionOfAnother(const CLI::App& app, const CLI::ParseError& asked,
                        const std::vector<std::string>& words) {
  if (asked.get_name() != "CallForVersion" || app.get_subcommands().empty()) return false;
  const auto command = std::ranges::find(words, app.get_subcommands().front()->get_name());
  const auto option = std::ranges::find_if(
      command, words.end(), [](const auto& word) { return word.starts_with("--version"); });
  if (option == words.end()) return false;
  const auto value = std::next(option);
  return option->contains('=') || (value != words.end() && !value->starts_with('-'));
}

// Help and the version, which CLI11 would print itself.
int PrintHelp(const CLI::App& app, const CLI::ParseError& asked) {
  std::ostringstream out;
  const int code = app.exit(asked, out, out);
  Write(stdout, out.str());
  return code;
}

// `muster help hosts label` is `muster hosts label --help`.
void TakeHelp(std::vector<std::string>& words) {
  if (words.empty() || words.front() != "help") return;
  words.erase(words.begin());
  words.emplace_back("--help");
}

// Help that was asked for of a command that there is not; or `muster run -t web1 df -h`, where -h
// was meant for another program.
bool IsAstray(const CLI::App& app) {
  const auto chosen = app.get_subcommands();
  if (chosen.empty()) return !app.remaining().empty();
  return chosen.front()->get_name() == "run" && !app.remaining(true).empty();
}

// Words after "--" belong to the command on the hosts and are not looked at here.
std::vector<std::string> TakeArguments(int argc, char** argv, Context& context) {
  std::vector<std::string> all(argv + std::min(1, argc), argv + argc);
  const auto mark = std::ranges::find(all, "--");
  context.has_words = mark != all.end();
  if (context.has_words) context.words.assign(mark + 1, all.end());
  all.erase(mark, all.end());
  TakeHelp(all);
  std::ranges::reverse(all);  // CLI11 takes them from the back
  return all;
}

int Main(int argc, char** argv) {
  // A connection that breaks while it is written to is an error of that call, not the program's
  // end.
  std::signal(SIGPIPE, SIG_IGN);
  Context context;
  context.terminal = Terminal::Detect(context.colour);
  CLI::App app("Muster runs work on a fleet of hosts.", "muster");
  app.fallthrough();
  app.require_subcommand(1);
  app.formatter(std::make_shared<GroupedHelp>());  // commands take it over from here
  app.footer(kMainExamples);
  AddGlobalOptions(app, context);
  AddCommands(app, context);
  GroupCommands(app);
  // Reads the command line and does nothing, for tests of documentation; in no help.
  bool parse_only = false;
  app.add_flag("--parse-only", parse_only)->group("");
  auto words = TakeArguments(argc, argv, context);
  const std::vector<std::string> in_order(words.rbegin(), words.rend());
  HideArgument(argc, argv, "--token");
  try {
    app.parse(std::move(words));
  } catch (const CLI::ParseError& problem) {
    if (IsVersionOfAnother(app, problem, in_order)) {
      WriteMessage(ExplainVersion(app));
      return kExitUsage;
    }
    if (problem.get_exit_code() == 0 && !IsAstray(app)) return PrintHelp(app, problem);
    WriteMessage(ExplainUsage(app, problem));
    return kExitUsage;
  }
  if (const auto empty = ExplainEmpty(app)) {
    WriteMessage(*empty);
    return kExitUsage;
  }
  context.Settle();
  if (context.has_words && !context.takes_words)
    return Report({ErrorCode::kInvalid, "only muster run takes words after --"}, context.err_times);
  if (parse_only) return 0;
  const auto code = context.action();
  return code ? *code : Report(code.error(), context.err_times);
}

}  // namespace
}  // namespace muster::cli

int main(int argc, char** argv) {
  muster::cli::HoldStandardStreams();
  int code = 1;
  try {
    code = muster::cli::Main(argc, argv);
  } catch (const std::exception& problem) {
    muster::cli::WriteMessage(fmt::format("muster: {}\n", problem.what()));
  }
  std::fflush(stdout);
  // A thread may still wait for the network (EventFeed); leaving at once is all it needs.
  _exit(code);
}
