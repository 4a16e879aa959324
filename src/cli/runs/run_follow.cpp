#include "cli/runs/run_follow.hpp"

#include <algorithm>
#include <utility>

#include <boost/json.hpp>

#include "base/text.hpp"
#include "base/visible.hpp"
#include "cli/runs/follow_commands.hpp"
#include "cli/runs/report.hpp"
#include "cli/runs/waiting_for.hpp"
#include "cli/terminal/question.hpp"
#include "domain/host_ranges.hpp"
#include "domain/run.hpp"

namespace muster::cli {
namespace {

namespace json = boost::json;

constexpr int kMostFailures = 20;
// Between two looks at a run whose stream stays silent.
constexpr auto kAskEvery = std::chrono::seconds(10);
// Between two looks at the stages of a job.
constexpr auto kLookAtStages = std::chrono::seconds(1);
// And at runs that it started, whether they wait for a person.
constexpr auto kLookAtChildren = std::chrono::seconds(2);
constexpr Duration kFirstBackoff{200};
constexpr Duration kLongestBackoff{5'000};
// How long an ended run's output may be on its way before the program no longer waits for it.
constexpr auto kLogPatience = std::chrono::seconds(60);

bool MayPass(const Error& error) {
  return error.code == ErrorCode::kUnavailable || error.code == ErrorCode::kTimeout;
}

std::string Topics(const FollowOptions& options) {
  const std::string run = "run:" + options.run;
  return options.live ? run + ",log:" + options.run : run;
}

}  // namespace

Follower::Follower(const Context& context, ApiClient& api, FollowOptions options)
    : context_(context),
      api_(api),
      options_(std::move(options)),
      feed_(context, Topics(options_)),
      printer_(context.terminal, options_.hosts == 1, options_.all_to_stdout),
      live_(api, options_.run, printer_),
      lines_(api, options_.run),
      progress_(context, options_.run, options_.hosts,
                !options_.live && (!options_.brief || context.terminal.stderr_tty)),
      last_id_(options_.from) {}

Result<std::optional<int>> Follower::Watch() {
  resync_ = options_.from.empty();
  feed_.Start(last_id_, api_.Server());
  if (resync_)
    if (auto ok = Refresh(); !ok) return Fail(ok.error());
  while (!Done()) {
    if (for_a_person_ && !options_.stays) return LeaveToPerson();
    if (options_.until && Clock::now() >= *options_.until) return LeaveLate();
    LookAtStages();
    progress_.Draw();
    if (const auto signal = signals_.Wait(feed_.Fd(), UntilNext()))
      if (const auto code = OnSignal(*signal)) return code;
    for (auto& item : feed_.Take())
      if (auto ok = Handle(std::move(item)); !ok) return Fail(ok.error());
    ReconnectIfDue();
    if (auto ok = DoubtSilence(); !ok) return Fail(ok.error());
    if (refresh_at_ && Clock::now() >= *refresh_at_)
      if (auto ok = Refresh(); !ok) return Fail(ok.error());
    if (auto ok = PrintLines(); !ok) return Fail(ok.error());
    if (connected_ && person_at_ && Clock::now() >= *person_at_) LookForPerson();
  }
  return FetchTheRest();
}

Result<> Follower::Handle(EventFeed::Item item) {
  if (item.closed) return Lost(item.error);
  if (!connected_) progress_.Say("connected again");
  connected_ = true;
  backoff_ = Duration(0);
  if (!item.event.id.empty()) last_id_ = item.event.id;
  if (auto ok = HandleEvent(item.event); !ok) return ok;
  return resync_ ? Refresh() : Result<>();
}

Result<> Follower::HandleEvent(const SseEvent& event) {
  if (event.name == "gap" || event.name == "reset") {
    resync_ = true;
    return {};
  }
  boost::system::error_code problem;
  const auto data = json::parse(event.data, problem);
  if (problem) return Fail(ErrorCode::kInternal, "the server sent an event that is not JSON");
  if (event.name == "run" && TextOf(data, "id") == options_.run) TakeRun(data);
  if (event.name == "task" && TextOf(data, "run") == options_.run) return HandleTask(data);
  if (event.name == "log" && options_.live && TextOf(data, "run") == options_.run) {
    logs_deadline_.reset();
    return Patiently(live_.Add(data));
  }
  return {};
}

void Follower::TakeRun(const json::value& run) {
  state_ = TextOf(run, "state");
  const auto state = ParseRunState(state_);
  if (state && !IsFinal(*state)) StaysDone(GoesOnText(options_.run), !context_.quiet);
  if (state && IsFinal(*state))
    StaysDone(fmt::format("{0} has {1}; see it with: muster show {0}", options_.run,
                          state == RunState::kSucceeded ? "succeeded" : "ended, " + state_));
  if (const auto open = NumberOf(run, "logs_open"); open != logs_open_) {
    logs_open_ = open;
    logs_deadline_.reset();
  }
  const auto counts = CountsOf(FieldOf(run, "counts"));
  progress_.Update(counts);
  if (counts[TaskState::kQueued] > 0) NameOffline();
  if (options_.job && !options_.live && !stages_at_ && !context_.quiet)
    stages_at_ = looked_at_ + kLookAtStages;
  const auto busy = counts[TaskState::kSent] + counts[TaskState::kRunning];
  for_a_person_ = false;
  person_at_.reset();
  if (busy == 0 && (state_ == "paused" || (options_.job && state_ == "running"))) LookForPerson();
}

// Events tell of a run as a whole; its stages are asked for now and then, after one, and before
// something is said of them.
void Follower::LookAtStages() {
  if (!stages_at_ || !connected_) return;
  const bool says_now = !context_.terminal.stderr_tty && progress_.UntilDraw() == Duration(0);
  if (!says_now && Clock::now() < *stages_at_) return;
  stages_at_.reset();
  auto summary = api_.Get(fmt::format("/runs/{}/summary", Segment(options_.run)));
  looked_at_ = Clock::now();
  if (summary) progress_.SetStages(std::move(*summary));
}

// A run that waits for a person would look like one that hangs. Runs that it started send no events
// here, so they are looked at now and then.
void Follower::LookForPerson() {
  person_at_.reset();
  const auto run = api_.Get(fmt::format("/runs/{}/summary", Segment(options_.run)));
  if (!run) return;
  const auto found = WaitsForPerson(api_, *run, [this] { return !signals_.Pending(); });
  for (const auto& wait : found.waits)
    if (waits_named_.insert(KeyOf(wait)).second) progress_.Say(WaitText(wait));
  for_a_person_ = !found.waits.empty() && !found.busy;
  if (found.children) person_at_ = Clock::now() + kLookAtChildren;
}

// Named as soon as they are known, so that nobody wonders what the run waits for.
void Follower::NameOffline() {
  if (offline_named_ || context_.quiet) return;
  std::vector<std::string> names;
  const auto answer =
      api_.Pages(fmt::format("/runs/{}/tasks", Segment(options_.run)),
                 {{"state", "queued"}, {"limit", "500"}}, "tasks", [&](const json::value& task) {
                   names.push_back(TextOf(task, "host"));
                   return names.size() < 500;
                 });
  if (!answer || names.empty()) return;
  offline_named_ = true;
  progress_.Say(
      fmt::format("waiting for {} offline: {}", Hosts(names.size()), FoldHostNames(names, 500)));
}

// A retry of what failed has a later attempt; another stage, such as a cleanup, begins again at 1.
void Follower::SayRecovered(const std::string& host, std::uint32_t attempt) {
  const auto failed = failed_shown_.find(host);
  if (failed == failed_shown_.end()) return;
  if (attempt > failed->second)
    progress_.Say(fmt::format("{} succeeded at attempt {}", host, attempt));
  failed_shown_.erase(failed);
}

Result<> Follower::HandleTask(const json::value& task) {
  const auto host = TextOf(task, "host");
  const auto state = TextOf(task, "state");
  const auto attempt = static_cast<std::uint32_t>(NumberOf(task, "attempt"));
  if (options_.live) {
    if (attempt == 0) return {};
    const auto closed = live_.CatchUp(host, attempt);
    if (!closed) return Patiently(Fail(closed.error()));
    return {};
  }
  if (const auto known = ParseTaskState(state); options_.lines && known && IsFinal(*known))
    lines_.Ended(host);
  if (state == "succeeded") SayRecovered(host, attempt);
  if (state == "succeeded" || options_.brief || failures_shown_ > kMostFailures) return {};
  if (++failures_shown_ > kMostFailures) {
    progress_.Say("more hosts did not succeed; they are listed at the end");
    return {};
  }
  const auto reason = TextOf(task, "reason");
  failed_shown_[host] = attempt;
  progress_.Say(fmt::format("{} {}{}{}{}", host,
                            Outcome(state, NumberOf(task, "exit_code"), NumberOf(task, "signal")),
                            attempt > 1 ? fmt::format(" at attempt {}", attempt) : "",
                            reason.empty() ? "" : ": ", reason));
  return {};
}

Result<> Follower::Refresh() {
  resync_ = false;
  refresh_at_.reset();
  const auto run = api_.Get("/runs/" + Segment(options_.run));
  if (!run) return Patiently(Fail(run.error()));
  TakeRun(*run);
  if (options_.lines) return Patiently(lines_.FindEnded());
  return options_.live ? Patiently(live_.CatchUpAll()) : Result<>();
}

// Lines of hosts that have ended. While the server is away they wait for it to come back.
Result<> Follower::PrintLines() {
  if (!connected_ || !lines_.Due() || Clock::now() < *lines_.Due()) return {};
  progress_.Clear();
  return Patiently(lines_.Print());
}

// A server that is away for a moment is no reason to give up; what was missed is fetched later.
Result<> Follower::Patiently(const Result<>& outcome) {
  if (outcome || !MayPass(outcome.error())) return outcome;
  refresh_at_ = Clock::now() + std::chrono::seconds(1);
  return {};
}

Result<> Follower::Lost(const Error& error) {
  if (!MayPass(error)) return Fail(error);
  if (connected_ && !Done())
    progress_.Say(fmt::format("connection lost, trying again ({}); {} goes on meanwhile",
                              error.message, options_.run));
  connected_ = false;
  resync_ = true;
  backoff_ = std::clamp(backoff_ * 2, kFirstBackoff, kLongestBackoff);
  reconnect_at_ = Clock::now() + backoff_;
  return {};
}

void Follower::ReconnectIfDue() {
  if (!reconnect_at_ || Clock::now() < *reconnect_at_) return;
  reconnect_at_.reset();
  feed_.Start(last_id_, feed_.Server());
}

Follower::Clock::time_point Follower::AsksAgainAt() const {
  return std::max(feed_.Heard() + kQuiet, asked_at_ + kAskEvery);
}

// A server that is cut off from the others, or stands still, leaves its streams open. So the state
// of the run is asked for, and the stream begins again at the server that answered.
Result<> Follower::DoubtSilence() {
  if (reconnect_at_ || Clock::now() < AsksAgainAt()) return {};
  const auto run = api_.Get(fmt::format("/runs/{}/summary", Segment(options_.run)));
  asked_at_ = Clock::now();
  if (!run && (connected_ || !MayPass(run.error()))) return Lost(run.error());
  if (run) TakeRun(*run);
  const bool elsewhere = run && api_.Server() != feed_.Server();
  if (Done() || (!elsewhere && !feed_.Stalled())) return {};
  const auto next = elsewhere ? api_.Server() : (feed_.Server() + 1) % api_.Servers();
  resync_ = true;
  feed_.Start(last_id_, next);
  return {};
}

bool Follower::Done() {
  const auto state = ParseRunState(state_);
  if (!state || !IsFinal(*state)) return false;
  if (logs_open_ == 0) return true;
  if (!logs_deadline_) logs_deadline_ = Clock::now() + kLogPatience;
  return Clock::now() >= *logs_deadline_;
}

Duration Follower::UntilNext() const {
  Duration least = progress_.UntilDraw();
  const auto lines_at = connected_ ? lines_.Due() : std::nullopt;
  const auto stages_at = connected_ ? stages_at_ : std::nullopt;
  const auto doubt_at = reconnect_at_ ? std::nullopt : std::optional(AsksAgainAt());
  const auto person_at = connected_ ? person_at_ : std::nullopt;
  for (const auto& moment : {reconnect_at_, refresh_at_, logs_deadline_, lines_at, doubt_at,
                             stages_at, person_at, options_.until}) {
    if (!moment) continue;
    const auto left = std::max(Duration(0), std::chrono::ceil<Duration>(*moment - Clock::now()));
    least = least < Duration(0) ? left : std::min(least, left);
  }
  return least;
}

std::optional<int> Follower::OnSignal(int signal) {
  if (!options_.asks || signal != SIGINT || !context_.terminal.stdin_tty ||
      !context_.terminal.stderr_tty)
    return Detach();
  progress_.Clear();
  // The terminal has echoed ^C; hosts' output pauses while the question stands. A whole line
  // answers: the keys of a command that was meant for the shell must not stop a run.
  Write(stderr, "\n");
  while (true) {
    Write(stderr, fmt::format("{} in {}: [s]top, [d]etach or [c]ontinue, then Enter: ",
                              VisibleLine(options_.run), context_.Where()));
    const auto line = WaitForLine(signals_);
    if (!line) Write(stderr, "\n");
    const std::string typed = line.value_or("d");
    const auto answer = Trim(typed);
    if (answer == "d" || answer == "detach") return Detach();
    if (answer == "s" || answer == "stop") Stop();
    if (answer == "s" || answer == "stop" || answer == "c" || answer == "continue")
      return std::nullopt;
  }
}

void Follower::Stop() {
  const auto stopped =
      api_.Post(fmt::format("/runs/{}/stop", Segment(options_.run)), json::object());
  progress_.Say(stopped ? fmt::format("stopping {}", options_.run)
                        : fmt::format("{} was not stopped: {}; press Ctrl-C to try again",
                                      options_.run, stopped.error().message));
}

std::optional<int> Follower::Detach() {
  progress_.Clear();
  printer_.FinishAll();
  const auto run = VisibleLine(options_.run);
  const auto state = ParseRunState(state_);
  const bool ended = state && IsFinal(*state);
  WriteMessage(fmt::format("detached; {}\n  watch it: muster attach {}\n{}", StandingText(), run,
                           ended ? "" : fmt::format("  end it:   muster stop {}\n", run)));
  return kExitInterrupted;
}

std::optional<int> Follower::LeaveToPerson() {
  progress_.Clear();
  printer_.FinishAll();
  context_.Say(
      options_.brief
          ? fmt::format("{} waits for an answer (--wait-paused waits for that, too)", options_.run)
          : fmt::format("there is no terminal, so this command ends; {} waits for an "
                        "answer (--wait-paused makes it stay)",
                        options_.run));
  return kExitPaused;
}

// "r12 goes on", or what else is true of it.
std::string Follower::StandingText() const {
  const auto state = ParseRunState(state_);
  if (state && IsFinal(*state))
    return fmt::format("{} has ended ({}), but its output is not complete yet", options_.run,
                       state_);
  if (state == RunState::kPaused) return fmt::format("{} is still paused", options_.run);
  if (for_a_person_) return fmt::format("{} still waits for an answer", options_.run);
  return fmt::format("{} goes on", options_.run);
}

std::optional<int> Follower::LeaveLate() {
  progress_.Clear();
  context_.Say(fmt::format("the time is up; {}", StandingText()));
  return kExitTimedOut;
}

// After the end: whatever of the output the events did not bring.
Result<std::optional<int>> Follower::FetchTheRest() {
  progress_.Clear();
  if (logs_open_ > 0)
    context_.Warn(fmt::format(
        "the output of {} is still on its way and not all shown; see it later with: muster logs {}",
        Hosts(static_cast<std::uint64_t>(logs_open_)), options_.run));
  while (options_.live || options_.lines) {
    const auto fetched = options_.lines ? lines_.PrintRest() : live_.CatchUpAll();
    if (fetched) break;
    if (!MayPass(fetched.error())) return Fail(fetched.error());
    if (signals_.Wait(-1, kLongestBackoff)) return Detach();
  }
  printer_.FinishAll();
  return std::optional<int>();
}

}  // namespace muster::cli
