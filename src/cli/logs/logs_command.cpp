#include <unistd.h>

#include <CLI/CLI.hpp>
#include <boost/json.hpp>

#include "base/text.hpp"
#include "cli/client/api_client.hpp"
#include "cli/context.hpp"
#include "cli/logs/log_grep.hpp"
#include "cli/logs/log_text.hpp"
#include "cli/logs/silent_stage.hpp"
#include "cli/runs/host_printer.hpp"
#include "cli/runs/run_choice.hpp"
#include "cli/runs/run_follow.hpp"

namespace muster::cli {
namespace {

namespace json = boost::json;

constexpr const char* kLogsExamples = R"(Examples:
  muster logs                            the output of your last run
  muster logs r12                        every host's output, as lines "host | text"
  muster logs r12 --host web3            the raw bytes of one host
  muster logs r12 --host web3 --tail 20  its last 20 lines
  muster logs r12 --stage verify         of one stage of a job
  muster logs r12 -f                     also what is still to come
  muster logs r12 --grep 'no space|EIO'  the lines of every host and stage that match
  muster logs r12 --grep timeout -i -C 2 whatever the case, with two lines around each)";

constexpr Duration kFollowQuiet = std::chrono::seconds(5);

struct LogsFlags {
  std::string run;
  std::string host;
  std::string stage;
  bool follow = false;
  bool only_stdout = false;
  bool only_stderr = false;
  bool timestamps = false;
  std::uint64_t tail = 0;
  std::uint32_t attempt = 0;
  GrepFlags grep;

  std::string StreamName() const { return only_stdout ? "stdout" : only_stderr ? "stderr" : ""; }
  Query For(const std::string& of_host, std::uint64_t from) const {
    return {{"host", of_host},
            {"stage", stage},
            {"attempt", attempt == 0 ? "" : std::to_string(attempt)},
            {"from", std::to_string(from)},
            {"stream", StreamName()}};
  }
};

// What there is to know of an output beside its bytes; "" of one that is whole.
std::string RemarkOf(std::string_view state, std::string_view missing) {
  if (state == "gap")
    return "bytes are missing from this output: its host could not keep or send them (is the disk "
           "of the host full?)";
  if (state == "cut") return "the output was cut at the quota (--max-output)";
  if (state != "expired") return "";
  if (missing == "restore")
    return "the output is missing: the server was restored from a backup without output";
  if (missing == "retention") return "the output is not kept any more: retention dropped it";
  return "the output is not kept any more";
}

// Prints what there is of one host from an offset on, and remembers how far that was.
class HostLog {
 public:
  HostLog(const Context& context, ApiClient& api, const LogsFlags& flags, std::string host,
          HostPrinter& printer)
      : context_(context), api_(api), flags_(flags), host_(std::move(host)), printer_(printer) {}

  Result<> Read() {
    if (flags_.tail > 0 && next_ == 0)
      if (auto ok = ReadTail(); !ok) return ok;
    while (true) {
      auto part = api_.GetLog(flags_.run, flags_.For(host_, next_));
      if (!part) return Fail(part.error());
      for (const auto& piece : part->pieces) Print(piece);
      Note(*part);
      if (part->next <= next_) return {};
      next_ = part->next;
    }
  }

  bool Open() const { return state_ == "open"; }
  bool Any() const { return next_ > 0; }
  const std::string& Host() const { return host_; }

  void Print(const LogPart::Piece& piece) {
    const auto stream = piece.stream == "stderr" ? Stream::kStderr : Stream::kStdout;
    if (!flags_.timestamps) return printer_.Add(host_, stream, piece.data);
    const std::string_view name = stream == Stream::kStderr ? "stderr" : "stdout";
    for (const auto& line : stamps_.Add(name, context_.times.Stamp(piece.time), piece.data))
      printer_.Add(host_, stream, line);
  }
  void Note(const LogPart& part) {
    state_ = part.state;
    missing_ = part.missing;
  }

  void Finish() {
    for (const auto& line : stamps_.Finish()) printer_.Add(host_, Stream::kStdout, line);
    printer_.Finish(host_);
    const auto remark = RemarkOf(state_, missing_);
    if (remark.empty()) return;
    printer_.FinishAll();
    context_.Say(fmt::format("{}: {}", host_, remark));
  }

 private:
  // The API counts bytes from the end, a person counts lines: takes more until there are enough.
  Result<> ReadTail() {
    constexpr std::uint64_t kMost = 8 << 20;
    for (std::uint64_t size = 64 << 10;; size *= 4) {
      const auto part = ReadEnd(std::min(size, kMost));
      if (!part) return Fail(part.error());
      const bool whole = size >= part->next || size >= kMost;
      std::vector<LogPart::Piece> kept = LastLines(part->pieces, flags_.tail);
      if (!whole && kept.size() == part->pieces.size() && !kept.empty() &&
          kept.front().data.size() == part->pieces.front().data.size())
        continue;
      for (const auto& piece : kept) Print(piece);
      Note(*part);
      next_ = part->next;
      return {};
    }
  }

  // Reads the last `size` bytes and everything after them. Very small pieces come some thousands at
  // a time.
  Result<LogPart> ReadEnd(std::uint64_t size) {
    auto query = flags_.For(host_, 0);
    query.emplace_back("tail", std::to_string(size));
    query.emplace_back("limit", std::to_string(size));
    auto whole = api_.GetLog(flags_.run, query);
    while (whole) {
      auto more = api_.GetLog(flags_.run, flags_.For(host_, whole->next));
      if (!more) return more;
      if (more->next <= whole->next) break;
      whole->pieces.insert(whole->pieces.end(), more->pieces.begin(), more->pieces.end());
      whole->next = more->next;
      whole->state = more->state;
    }
    return whole;
  }

  const Context& context_;
  ApiClient& api_;
  const LogsFlags& flags_;
  std::string host_;
  HostPrinter& printer_;
  LineStamps stamps_;
  std::uint64_t next_ = 0;
  std::string state_;
  std::string missing_;
};

// Events only say that there is something new; the bytes come from the log itself, which is also
// looked at when the events are silent for kFollowQuiet.
Result<int> FollowHost(const Context& context, const LogsFlags& flags, HostLog& log) {
  Signals signals;
  EventFeed feed(context, fmt::format("run:{0},log:{0}", flags.run));
  feed.Start("");
  bool connected = true;
  while (log.Open()) {
    if (signals.Wait(connected ? feed.Fd() : -1, connected ? kFollowQuiet : Duration(1000)))
      return kExitInterrupted;
    if (!connected || feed.Stalled()) feed.Start("", feed.Server() + (connected ? 1 : 0));
    connected = true;
    for (const auto& item : feed.Take()) connected = connected && !item.closed;
    const auto read = log.Read();
    const bool may_pass = !read && (read.error().code == ErrorCode::kUnavailable ||
                                    read.error().code == ErrorCode::kTimeout);
    if (!read && !may_pass) return Fail(read.error());
  }
  log.Finish();
  return 0;
}

// Of a stage without any output; `host` may be "".
void SayWhereItIs(const Context& context, ApiClient& api, const LogsFlags& flags) {
  if (flags.stage.empty()) return;
  const auto where = WhereOutputIs(api, flags.run, flags.stage, flags.host);
  if (!where.empty()) context.Say(where);
}

Result<int> OneHost(const Context& context, ApiClient& api, const LogsFlags& flags) {
  HostPrinter printer(context.terminal, true, true);
  HostLog log(context, api, flags, flags.host, printer);
  if (auto ok = log.Read(); !ok) return Fail(ok.error());
  if (flags.follow) return FollowHost(context, flags, log);
  log.Finish();
  if (!log.Any()) SayWhereItIs(context, api, flags);
  return 0;
}

// Of a server that has no stream of all output, or has no room for another one.
Result<int> HostByHost(const Context& context, ApiClient& api, const LogsFlags& flags,
                       HostPrinter& printer) {
  Result<> outcome;
  bool any = false;
  const auto pages = api.Pages(fmt::format("/runs/{}/tasks", Segment(flags.run)),
                               {{"stage", flags.stage}}, "tasks", [&](const json::value& task) {
                                 if (NumberOf(task, "attempt") == 0) return true;
                                 any = true;
                                 HostLog log(context, api, flags, TextOf(task, "host"), printer);
                                 outcome = log.Read();
                                 log.Finish();
                                 return outcome.has_value();
                               });
  if (!pages) return Fail(pages.error());
  if (!outcome) return Fail(outcome.error());
  if (!any) SayWhereItIs(context, api, flags);
  return 0;
}

// Prints the lines of a stream of all output as they come, host by host.
class OutputLines {
 public:
  OutputLines(const Context& context, ApiClient& api, const LogsFlags& flags, HostPrinter& printer)
      : context_(context), api_(api), flags_(flags), printer_(printer) {}

  Result<> Take(const json::value& line) {
    any_ = true;
    if (!FieldOf(line, "done").is_null()) {
      done_ = true;
      if (FlagOf(line, "timed_out"))
        return Fail(ErrorCode::kTimeout,
                    "the output took too long and was ended; what is shown is not all: name a host "
                    "with --host, or a stage with --stage");
      return {};
    }
    any_host_ = true;
    const auto host = TextOf(line, "host");
    // An output without its end, which the server should have told.
    if (log_ && log_->Host() != host) log_->Finish();
    if (!log_ || log_->Host() != host) log_.emplace(context_, api_, flags_, host, printer_);
    if (FlagOf(line, "end")) {
      LogPart end;
      end.state = TextOf(line, "state");
      end.missing = TextOf(line, "missing");
      log_->Note(end);
      log_->Finish();
      log_.reset();
      return {};
    }
    LogPart::Piece piece;
    piece.stream = TextOf(line, "stream");
    piece.time = TextOf(line, "time");
    if (const auto& text = FieldOf(line, "text"); text.is_string()) {
      piece.data = text.as_string();
    } else if (auto bytes = FromBase64(TextOf(line, "text_base64"))) {
      piece.data = std::move(*bytes);
    } else {
      return Fail(ErrorCode::kInternal, "output of {}: a line is not base64", host);
    }
    log_->Print(piece);
    return {};
  }

  bool Any() const { return any_; }
  bool AnyHost() const { return any_host_; }
  bool Done() const { return done_; }

 private:
  const Context& context_;
  ApiClient& api_;
  const LogsFlags& flags_;
  HostPrinter& printer_;
  std::optional<HostLog> log_;
  bool any_ = false;
  bool any_host_ = false;
  bool done_ = false;
};

Result<int> EveryHost(const Context& context, ApiClient& api, const LogsFlags& flags, bool single) {
  HostPrinter printer(context.terminal, single, true);
  // The last lines and an attempt are asked for host by host.
  if (flags.tail > 0 || flags.attempt > 0) return HostByHost(context, api, flags, printer);
  OutputLines lines(context, api, flags, printer);
  Result<> outcome;
  const auto read = api.Objects(fmt::format("/runs/{}/outputs", Segment(flags.run)),
                                {{"stage", flags.stage}, {"stream", flags.StreamName()}},
                                [&](const json::value& line) {
                                  outcome = lines.Take(line);
                                  return outcome.has_value();
                                });
  if (!read && !lines.Any()) return HostByHost(context, api, flags, printer);
  if (!outcome) return Fail(outcome.error());
  if (!read) return Fail(read.error());
  if (!lines.Done())
    return Fail(ErrorCode::kUnavailable, "the output was cut off; what is shown is not all");
  if (!lines.AnyHost()) SayWhereItIs(context, api, flags);
  return 0;
}

Result<int> Grep(const Context& context, ApiClient& api, const LogsFlags& flags) {
  if (flags.follow || flags.timestamps || flags.tail > 0 || flags.attempt > 0 ||
      flags.only_stdout || flags.only_stderr)
    return Fail(ErrorCode::kInvalid, "--grep goes with --host, --stage, -i, -C and --limit only");
  return GrepLogs(context, api, flags.run, flags.stage, flags.host, flags.grep);
}

Result<int> Logs(const Context& context, LogsFlags& flags) {
  if (flags.only_stdout && flags.only_stderr)
    return Fail(ErrorCode::kInvalid,
                "--stdout and --stderr exclude each other; leave both out to see both");
  auto api = ApiClient::Open(context);
  if (!api) return Fail(api.error());
  auto chosen = ChooseRun(context, *api, flags.run);
  if (!chosen) return Fail(chosen.error());
  flags.run = std::move(*chosen);
  if (!flags.grep.re.empty()) return Grep(context, *api, flags);
  if (!flags.host.empty()) return OneHost(context, *api, flags);
  const auto run = api->Get("/runs/" + Segment(flags.run));
  if (!run) return Fail(run.error());
  const auto hosts = static_cast<std::uint64_t>(NumberOf(*run, "hosts"));
  if (!flags.follow) return EveryHost(context, *api, flags, hosts == 1);
  if (flags.timestamps || flags.tail > 0 || flags.attempt > 0 || flags.only_stdout ||
      flags.only_stderr)
    return Fail(ErrorCode::kInvalid, "with -f these options need --host HOST");
  FollowOptions follow;
  follow.run = flags.run;
  follow.hosts = hosts;
  follow.live = true;
  follow.all_to_stdout = true;
  const auto left = Follower(context, *api, follow).Watch();
  if (!left) return Fail(left.error());
  return left->value_or(0);
}

}  // namespace

void AddLogs(CLI::App& app, Context& context) {
  auto* command = app.add_subcommand("logs", "Show the output of a run");
  const auto flags = std::make_shared<LogsFlags>();
  command->footer(kLogsExamples);
  command->add_option("run", flags->run, "Which run (default: your last)")->type_name("RUN");
  command->add_option("--host", flags->host, "Only this host, as raw bytes")->type_name("HOST");
  command->add_option("--stage", flags->stage, "Of this stage (default: each host's last)")
      ->type_name("STAGE");
  command->add_flag("-f,--follow", flags->follow, "Go on with new output");
  command->add_flag("--stdout", flags->only_stdout, "Only stdout");
  command->add_flag("--stderr", flags->only_stderr, "Only stderr");
  command->add_flag("--timestamps", flags->timestamps,
                    "Put the time (by the host's clock) before each line");
  command->add_option("--tail", flags->tail, "Only the last lines")
      ->type_name("N")
      ->check(CLI::Range(1, 1'000'000'000));
  command->add_option("--attempt", flags->attempt, "Of this attempt (default: the last)")
      ->type_name("N");
  auto* grep =
      command
          ->add_option("--grep", flags->grep.re, "Only lines that match, of every host and stage")
          ->type_name("RE");
  command->add_flag("-i,--ignore-case", flags->grep.ignore_case, "Ignore the case")->needs(grep);
  command->add_option("-C,--context-lines", flags->grep.context, "Lines around each match")
      ->type_name("N")
      ->check(CLI::Range(0, 20))
      ->needs(grep);
  command->add_option("--limit", flags->grep.limit, "Stop after so many matches")
      ->type_name("N")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str()
      ->needs(grep);
  command->callback(
      [&context, flags] { context.action = [&context, flags] { return Logs(context, *flags); }; });
}

}  // namespace muster::cli
