#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "cli/client/connection.hpp"
#include "cli/terminal/output.hpp"
#include "cli/terminal/times.hpp"

namespace CLI {
class App;
}

namespace muster::cli {

// What every command shares: the global options, the server they lead to, and the command to carry
// out.
struct Context {
  ConnectionOptions flags;  // as given on the command line
  // What flags, environment and the saved context come to; see Connect.
  std::string context;  // the saved context in use; "" is none
  std::string server = kDefaultServer;
  std::string token;
  std::string token_file;
  std::string ca_file;
  bool saved_ca = false;         // the CA file is that of the saved context
  std::optional<Error> problem;  // why it comes to nothing; ApiClient::Open fails with it
  Duration call_timeout = std::chrono::seconds(30);

  std::string output = "table";
  std::string colour = "auto";
  bool quiet = false;
  bool verbose = false;
  bool utc = false;
  bool no_pager = false;

  std::vector<std::string> words;  // after the first "--", untouched
  bool has_words = false;          // there was a "--"
  bool takes_words = false;        // the chosen command knows what to do with them
  Terminal terminal;
  Times times;                          // on stdout
  Times err_times;                      // on stderr
  std::function<Result<int>()> action;  // set by the command that was chosen; gives the exit code

  // Settles the connection, the colours and the time zone, once the options are known.
  void Settle();
  // Where commands go, for a question: "context prod", or the server's URL.
  std::string Where() const;
  // True when there is a person to ask, wherever stdout and stderr lead: never with a pipe as
  // stdin.
  bool CanAsk() const { return terminal.stdin_tty; }
  Format OutputFormat() const;
  // A line for the person at the keyboard, on stderr; nothing with --quiet. A newline in it is
  // shown as a symbol.
  void Say(std::string_view line) const;
  // The same, with --quiet too: what is missing in a result.
  void Warn(std::string_view line) const;
  // The same as Say of several lines, whose parts were made visible one by one.
  void SayLines(std::string_view lines) const;
  // Prints `value` when a document was asked for; false for tables.
  bool PrintDocument(const boost::json::value& value) const;
};

// Exit codes: 0 well, 1 work failed, 2 usage, 3 denied, 4 not found, 5 server out of reach, 6 some
// hosts unreachable or unknown, 7 paused, 8 the result could not be written (kExitUnwritten in
// output.hpp), 130 detached or interrupted.
inline constexpr int kExitUsage = 2;
inline constexpr int kExitInterrupted = 130;
inline constexpr int kExitPaused = 7;  // the run waits for a person, and there is no terminal
int ExitCodeOfError(ErrorCode code) noexcept;

// Each adds its command (and its aliases) to `app`.
void AddRun(CLI::App& app, Context& context);
void AddCp(CLI::App& app, Context& context);
void AddFetch(CLI::App& app, Context& context);
void AddShow(CLI::App& app, Context& context);
void AddRuns(CLI::App& app, Context& context);
void AddLogs(CLI::App& app, Context& context);
void AddStop(CLI::App& app, Context& context);
void AddSteering(CLI::App& app, Context& context);  // pause, resume, retry, skip, set
void AddAnswers(CLI::App& app, Context& context);   // approve, reject
void AddHosts(CLI::App& app, Context& context);
void AddAgents(CLI::App& app, Context& context);
void AddInvites(CLI::App& app, Context& context);
void AddWhy(CLI::App& app, Context& context);
void AddTrace(CLI::App& app, Context& context);
void AddStatus(CLI::App& app, Context& context);
void AddVersion(CLI::App& app, Context& context);
void AddTokens(CLI::App& app, Context& context);
void AddSecrets(CLI::App& app, Context& context);
void AddAudit(CLI::App& app, Context& context);
void AddWhoAmI(CLI::App& app, Context& context);
void AddLogin(CLI::App& app, Context& context);     // login, logout
void AddContexts(CLI::App& app, Context& context);  // contexts, context use
void AddCron(CLI::App& app, Context& context);
void AddTriggers(CLI::App& app, Context& context);
void AddSlots(CLI::App& app, Context& context);
void AddCheck(CLI::App& app, Context& context);
void AddCompletion(CLI::App& app, Context& context);
void AddManual(CLI::App& app, Context& context);
void AddDebug(CLI::App& app, Context& context);
void AddFreeze(CLI::App& app, Context& context);  // and thaw
void AddServers(CLI::App& app, Context& context);
void AddChannels(CLI::App& app, Context& context);
void AddRanges(CLI::App& app, Context& context);  // fold, expand

}  // namespace muster::cli
