#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "cli/output.hpp"

namespace CLI {
class App;
}

namespace muster::cli {

// What every command shares: the global options as given, and the command to carry out.
struct Context {
  std::string server = "https://127.0.0.1:8440";
  std::string token;
  std::string token_file;
  std::string ca_file;
  std::string output = "table";
  bool quiet = false;
  bool verbose = false;

  std::vector<std::string> words;  // after the first "--", untouched
  bool has_words = false;          // there was a "--"
  Terminal terminal;
  std::function<Result<int>()> action;  // set by the command that was chosen; gives the exit code

  Format OutputFormat() const;
  // A line for the person at the keyboard, on stderr; nothing with --quiet.
  void Say(std::string_view line) const;
  // Prints `value` when a document was asked for; false for tables.
  bool PrintDocument(const boost::json::value& value) const;
};

// Exit codes: 0 well, 1 work failed, 2 usage, 3 denied, 4 not found, 5 server out of reach, 6 some
// hosts unreachable or unknown, 130 detached or interrupted.
inline constexpr int kExitUsage = 2;
inline constexpr int kExitInterrupted = 130;
int ExitCodeOfError(ErrorCode code) noexcept;

// Each adds its command (and its aliases) to `app`.
void AddRun(CLI::App& app, Context& context);
void AddShow(CLI::App& app, Context& context);
void AddRuns(CLI::App& app, Context& context);
void AddLogs(CLI::App& app, Context& context);
void AddStop(CLI::App& app, Context& context);
void AddHosts(CLI::App& app, Context& context);
void AddAgents(CLI::App& app, Context& context);
void AddWhy(CLI::App& app, Context& context);
void AddStatus(CLI::App& app, Context& context);
void AddVersion(CLI::App& app, Context& context);
void AddTokens(CLI::App& app, Context& context);
void AddAudit(CLI::App& app, Context& context);
void AddWhoAmI(CLI::App& app, Context& context);

}  // namespace muster::cli
