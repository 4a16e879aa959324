#include <algorithm>
#include <array>

#include <CLI/CLI.hpp>
#include <boost/json.hpp>

#include "cli/client/api_client.hpp"
#include "cli/client/retries.hpp"
#include "cli/runs/follow_commands.hpp"
#include "cli/runs/report.hpp"
#include "cli/runs/run_choice.hpp"
#include "cli/runs/run_end.hpp"
#include "cli/runs/run_result.hpp"
#include "cli/terminal/times.hpp"

namespace muster::cli {
namespace {

namespace json = boost::json;

constexpr const char* kWaitExamples = R"(Examples:
  muster wait r12                     until it has ended; its exit code
  muster wait r12 r13 --timeout 30m   until both have ended
  muster wait $(muster start nightly) && muster start report

Says how each run ended, on stderr; -o json prints the runs. The exit code is
that of muster start --wait. Of several runs the first of these counts: 124 the
timeout came first, 1 one failed, 7 one is paused or waits for an approval and
there is no terminal, 6 some hosts were unreachable or unknown.)";

struct WaitFlags {
  std::vector<std::string> runs;
  std::string timeout;
  bool wait_paused = false;
};

// Of two runs' exit codes the one that says more.
int Worse(int a, int b) {
  constexpr std::array kOrder{1, kExitPaused, 6, 0};
  return std::ranges::find(kOrder, a) < std::ranges::find(kOrder, b) ? a : b;
}

Result<json::value> RunOf(const Context& context, ApiClient& api, const std::string& id) {
  return Persist(context, kResultPatience, [&] { return api.Get("/runs/" + Segment(id)); });
}

class Waiter {
 public:
  Waiter(const Context& context, ApiClient& api, const WaitFlags& flags,
         std::optional<std::chrono::steady_clock::time_point> until)
      : context_(context), api_(api), flags_(flags), until_(until) {}

  // The exit code, of a run that ended or that is left to a person; or the program's, in `leaves`.
  Result<int> One(const std::string& id) {
    const auto run = RunOf(context_, api_, id);
    if (!run) return Fail(run.error());
    if (!HasEnded(*run)) {
      FollowOptions follow;
      follow.run = id;
      follow.hosts = static_cast<std::uint64_t>(NumberOf(*run, "hosts"));
      follow.job = !TextOf(*run, "job").empty();
      follow.stays = flags_.wait_paused || context_.CanAsk();
      follow.brief = true;
      follow.until = until_;
      const auto left = Follower(context_, api_, follow).Watch();
      if (!left) return Fail(left.error());
      if (*left) return **left;
    }
    return End(id);
  }

 private:
  Result<int> End(const std::string& id) {
    const auto run = RunOf(context_, api_, id);
    if (!run) return Fail(run.error());
    const auto outcomes = Outcomes(context_, api_, id);
    if (!outcomes) return Fail(outcomes.error());
    context_.Say(SummaryLine(*run, *outcomes));
    return ExitCodeAtEnd(*run);
  }

  const Context& context_;
  ApiClient& api_;
  const WaitFlags& flags_;
  std::optional<std::chrono::steady_clock::time_point> until_;
};

// A run that is misspelt is refused before the first one is waited for.
Result<std::vector<std::string>> KnownRuns(const Context& context, ApiClient& api,
                                           const WaitFlags& flags) {
  std::vector<std::string> ids;
  for (const auto& word : flags.runs) {
    const auto run =
        Persist(context, kPatience, [&] { return api.Get("/runs/" + Segment(RunIdOf(word))); });
    if (!run) return Fail(run.error());
    const auto id = TextOf(*run, "id");
    if (std::ranges::find(ids, id) == ids.end()) ids.push_back(id);
  }
  return ids;
}

// Runs that waited for a person when their turn came may have ended while the others were waited
// for, so they are looked at again, as long as that brings something.
Result<int> WaitForAll(Waiter& waiter, std::vector<std::string> open) {
  int code = 0;
  while (true) {
    std::vector<std::string> left;
    for (const auto& id : open) {
      const auto one = waiter.One(id);
      if (!one) return one;
      if (*one == kExitTimedOut || *one == kExitInterrupted) return one;
      if (*one == kExitPaused)
        left.push_back(id);
      else
        code = Worse(code, *one);
    }
    if (left.empty()) return code;
    if (left.size() == open.size()) return Worse(code, kExitPaused);
    open = std::move(left);
  }
}

Result<int> Wait(const Context& context, const WaitFlags& flags) {
  std::optional<std::chrono::steady_clock::time_point> until;
  if (!flags.timeout.empty()) {
    const auto timeout = Lasting("--timeout", flags.timeout, Duration(0), std::chrono::days(3650));
    if (!timeout) return Fail(timeout.error());
    until = std::chrono::steady_clock::now() + *timeout;
  }
  auto api = ApiClient::Open(context);
  if (!api) return Fail(api.error());
  const auto ids = KnownRuns(context, *api, flags);
  if (!ids) return Fail(ids.error());
  Waiter waiter(context, *api, flags, until);
  const auto code = WaitForAll(waiter, *ids);
  if (!code || context.OutputFormat() == Format::kTable) return code;
  json::array runs;
  for (const auto& id : *ids) {
    auto run = RunOf(context, *api, id);
    if (!run) return Fail(run.error());
    runs.push_back(std::move(*run));
  }
  context.PrintDocument(json::object{{"runs", std::move(runs)}});
  return code;
}

}  // namespace

void AddWait(CLI::App& app, Context& context) {
  auto* command = app.add_subcommand("wait", "Wait until runs have ended");
  const auto flags = std::make_shared<WaitFlags>();
  command->footer(kWaitExamples);
  command->add_option("run", flags->runs, "Which runs")->type_name("RUN")->required();
  command->add_option("--timeout", flags->timeout, "Wait at most so long; then exit with 124")
      ->type_name("DURATION");
  command->add_flag("--wait-paused", flags->wait_paused,
                    "Stay also while a run waits for a person, without a terminal");
  command->callback(
      [&context, flags] { context.action = [&context, flags] { return Wait(context, *flags); }; });
}

}  // namespace muster::cli
