#include <algorithm>
#include <csignal>
#include <exception>
#include <unistd.h>

#include <CLI/CLI.hpp>

#include "cli/context.hpp"
#include "cli/terminal_text.hpp"

namespace muster::cli {
namespace {

void AddGlobalOptions(CLI::App& app, Context& context) {
  app.add_option("--server", context.server, "Where the server is")
      ->envname("MUSTER_SERVER")
      ->capture_default_str();
  app.add_option("--token", context.token, "Who is calling")->envname("MUSTER_TOKEN");
  app.add_option("--token-file", context.token_file, "The token, in a file")
      ->envname("MUSTER_TOKEN_FILE");
  app.add_option("--ca", context.ca_file, "Trust servers certified by this file")
      ->envname("MUSTER_CA");
  app.add_option("-o,--output", context.output, "table, json, jsonl (run only) or yaml")
      ->check(CLI::IsMember({"table", "json", "jsonl", "yaml"}))
      ->capture_default_str();
  app.add_flag("-q,--quiet", context.quiet, "Say only what was asked for");
  app.add_flag("-v,--verbose", context.verbose, "Tell each call to the server");
}

void AddCommands(CLI::App& app, Context& context) {
  for (auto* add : {AddRun, AddShow, AddRuns, AddLogs, AddStop, AddWhy, AddHosts, AddAgents,
                    AddTokens, AddAudit, AddWhoAmI, AddStatus, AddVersion})
    add(app, context);
}

int Report(const Context& context, const Error& error) {
  const auto message = context.terminal.stderr_tty ? ForTerminal(error.message) : error.message;
  Write(stderr, fmt::format("muster: {}\n", message));
  return ExitCodeOfError(error.code);
}

// Words after "--" belong to the command on the hosts and are not looked at here.
std::vector<std::string> TakeArguments(int argc, char** argv, Context& context) {
  std::vector<std::string> all(argv + std::min(1, argc), argv + argc);
  const auto mark = std::ranges::find(all, "--");
  context.has_words = mark != all.end();
  if (context.has_words) context.words.assign(mark + 1, all.end());
  all.erase(mark, all.end());
  std::ranges::reverse(all);  // CLI11 takes them from the back
  return all;
}

int Main(int argc, char** argv) {
  // A connection that breaks while it is written to is an error of that call, not the program's
  // end.
  std::signal(SIGPIPE, SIG_IGN);
  Context context;
  context.terminal = Terminal::Detect();
  CLI::App app("Muster runs work on a fleet of hosts.", "muster");
  app.fallthrough();
  app.require_subcommand(1);
  app.footer("Start with: muster hosts; muster run -t HOST -- uptime");
  AddGlobalOptions(app, context);
  AddCommands(app, context);
  try {
    app.parse(TakeArguments(argc, argv, context));
  } catch (const CLI::ParseError& problem) {
    return app.exit(problem) == 0 ? 0 : kExitUsage;
  }
  if (context.has_words && !app.got_subcommand("run"))
    return Report(context, {ErrorCode::kInvalid, "only muster run takes words after --"});
  const auto code = context.action();
  return code ? *code : Report(context, code.error());
}

}  // namespace
}  // namespace muster::cli

int main(int argc, char** argv) {
  int code = 1;
  try {
    code = muster::cli::Main(argc, argv);
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "muster: %s\n", problem.what());
  }
  std::fflush(stdout);
  // A thread may still wait for the network (EventFeed); leaving at once is all it needs.
  _exit(code);
}
