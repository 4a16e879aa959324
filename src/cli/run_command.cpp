#include <charconv>
#include <fstream>
#include <iostream>
#include <sstream>

#include <CLI/CLI.hpp>
#include <boost/json.hpp>

#include "base/text.hpp"
#include "cli/api_client.hpp"
#include "cli/context.hpp"
#include "cli/question.hpp"
#include "cli/report.hpp"
#include "cli/run_follow.hpp"
#include "cli/run_request.hpp"
#include "cli/run_result.hpp"
#include "cli/targets_file.hpp"
#include "cli/terminal_text.hpp"

namespace muster::cli {
namespace {

namespace json = boost::json;

constexpr std::uint64_t kMostLive = 20;     // hosts whose lines are shown as they come
constexpr std::uint64_t kMostUnasked = 50;  // hosts a person need not confirm
constexpr Duration kPatience = std::chrono::seconds(30);
// Once a run has its id, its result is worth more patience.
constexpr Duration kResultPatience = std::chrono::minutes(15);

constexpr const char* kExamples = R"(Examples:
  muster run -t web1 -- uptime
  muster run -t 'web*' -- 'df -h / | tail -1'             one quoted word is a shell line
  muster run -t 'app=web' -- systemctl is-active nginx    several words need no shell
  muster run -t 'zone in (sh1,sh2)' -x web7 --batches 1,10% -- 'systemctl restart app'
  muster run -t @db --script check.py -- --verbose        words after -- are its arguments
  muster run -t run:r12.failed --dry-run -- true          which hosts, without starting
  muster run -T hosts.txt -b -- 'apt-get -y upgrade'      hosts from a file, as root
  muster run -t all -o jsonl -- 'uname -r' | jq .stdout   a line of JSON as each host ends

Exit codes: 0 all well; 1 a host failed, timed out or was killed; 2 usage; 3 denied; 4 no match;
5 server out of reach; 6 hosts unreachable or unknown; 130 detached or interrupted. With -S the
largest exit code of the hosts instead of 1.)";

struct RunFlags {
  RunOptions options;
  bool dry_run = false;
  bool detach = false;
  bool live = false;
  bool grouped = false;
  bool yes = false;
  bool become = false;
  bool largest_code = false;
  std::string targets_file;
};

Result<std::string> ReadInput(const std::string& path) {
  std::ostringstream text;
  if (path == "-") {
    text << std::cin.rdbuf();
    return text.str();
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) return Fail(ErrorCode::kInvalid, "cannot read '{}'", path);
  if (file.peek() != std::ifstream::traits_type::eof()) text << file.rdbuf();
  if (file.bad()) return Fail(ErrorCode::kInvalid, "cannot read '{}'", path);
  return text.str();
}

// What the flags stand for: hosts from a file, root.
Result<> Spell(RunFlags& flags) {
  RunOptions& options = flags.options;
  if (flags.live && flags.grouped)
    return Fail(ErrorCode::kInvalid, "--live and --grouped exclude each other");
  if (flags.become && !options.user.empty() && options.user != "root")
    return Fail(ErrorCode::kInvalid, "--become is --user root; it excludes --user {}",
                options.user);
  if (flags.become) options.user = "root";
  int readers = 0;
  for (const auto* file : {&options.script_file, &options.stdin_file, &flags.targets_file})
    readers += *file == "-" ? 1 : 0;
  if (readers > 1)
    return Fail(ErrorCode::kInvalid,
                "only one of --script -, --stdin - and --targets-file - can read stdin");
  if (flags.targets_file.empty() && options.targets.empty())
    return Fail(ErrorCode::kInvalid,
                "expected hosts: --targets EXPR or --targets-file FILE; for example: muster run -t "
                "web1 -- uptime");
  if (flags.targets_file.empty()) return {};
  const auto text = ReadInput(flags.targets_file);
  if (!text) return Fail(text.error());
  const auto targets = TargetsOfFile(*text);
  if (!targets) return Fail(targets.error());
  options.targets = EitherTargets(options.targets, *targets);
  return {};
}

Result<RunInputs> ReadInputs(const RunOptions& options) {
  RunInputs inputs;
  if (!options.script_file.empty()) {
    auto text = ReadInput(options.script_file);
    if (!text) return Fail(text.error());
    inputs.script = std::move(*text);
  }
  if (!options.stdin_file.empty()) {
    auto text = ReadInput(options.stdin_file);
    if (!text) return Fail(text.error());
    inputs.stdin_data = std::move(*text);
  }
  return inputs;
}

int PrintDryRun(const Context& context, const json::value& plan) {
  if (context.PrintDocument(plan)) return 0;
  std::string text =
      fmt::format("{}: {}\n", Hosts(static_cast<std::uint64_t>(NumberOf(plan, "hosts"))),
                  TextOf(plan, "names"));
  if (const auto offline = NumberOf(plan, "offline_count"); offline > 0) {
    std::string names;
    for (const auto& name : ListOf(plan, "offline"))
      if (name.is_string())
        names += fmt::format("{}{}", names.empty() ? "" : ",", std::string_view(name.get_string()));
    text += fmt::format("offline: {}\n", names);
  }
  std::string sizes;
  for (const auto& size : ListOf(plan, "batches"))
    sizes += (sizes.empty() ? "" : ", ") + json::serialize(size);
  if (!sizes.empty()) text += fmt::format("batches: {}\n", sizes);
  Write(stdout, context.terminal.stdout_tty ? ForTerminal(text) : text);
  return 0;
}

// True when the person means it. Only asked at a terminal, and only for `all` or many hosts.
bool Confirmed(const Context& context, const json::value& plan) {
  const auto hosts = static_cast<std::uint64_t>(NumberOf(plan, "hosts"));
  if (!FlagOf(plan, "says_all") && hosts <= kMostUnasked) return true;
  Write(stderr, fmt::format("{}\n", ForTerminal(TextOf(plan, "names"), true)));
  const auto answer =
      Ask(fmt::format("Run on {} in {}? Type {} to go on: ", Hosts(hosts), context.Where(), hosts));
  return answer && Trim(*answer) == std::to_string(hosts);
}

Result<int> Follow(const Context& context, ApiClient& api, const RunFlags& flags,
                   const json::value& started) {
  const bool table = context.OutputFormat() == Format::kTable;
  FollowOptions follow;
  follow.run = TextOf(started, "id");
  follow.hosts = static_cast<std::uint64_t>(NumberOf(started, "hosts"));
  follow.from = std::to_string(NumberOf(started, "commit"));
  follow.lines = context.OutputFormat() == Format::kJsonl;
  follow.live = table && (flags.live || (follow.hosts <= kMostLive && !flags.grouped));
  const auto left = Follower(context, api, follow).Watch();
  if (!left) return Fail(left.error());
  if (*left) return **left;

  const std::string path = "/runs/" + Segment(follow.run);
  const auto run = Persist(context, kResultPatience, [&] { return api.Get(path); });
  if (!run) return Fail(run.error());
  const auto answer = Persist(context, kResultPatience, [&] { return api.Get(path + "/groups"); });
  if (!answer) return Fail(answer.error());
  const auto groups = GroupsOf(*answer);
  if (table && !follow.live) {
    if (auto ok = PrintGroups(context, api, follow.run, groups); !ok) return Fail(ok.error());
  } else if (!table && !follow.lines) {
    const auto document =
        Persist(context, kResultPatience, [&] { return ResultDocument(api, *run); });
    if (!document) return Fail(document.error());
    context.PrintDocument(*document);
  }
  const auto summary = SummaryLine(*run, groups);
  context.Say(context.terminal.stderr_tty
                  ? Paint(ForTerminal(summary, true), ColourOf(TextOf(*run, "state")),
                          context.terminal.colour_err)
                  : summary);
  const int code = ExitCodeOfRun(*run);
  return flags.largest_code ? LargestCode(groups, code) : code;
}

Result<int> Run(const Context& context, RunFlags& flags) {
  flags.options.words = context.words;
  if (auto ok = Spell(flags); !ok) return Fail(ok.error());
  const auto inputs = ReadInputs(flags.options);
  if (!inputs) return Fail(inputs.error());
  const auto body = RunBody(flags.options, *inputs);
  if (!body) return Fail(body.error());
  auto api = ApiClient::Open(context);
  if (!api) return Fail(api.error());

  if (flags.dry_run || (!flags.yes && context.CanAsk())) {
    const auto plan = Persist(context, kPatience,
                              [&] { return api->Post("/runs", *body, "", {{"dry_run", "true"}}); });
    if (!plan) return Fail(plan.error());
    if (flags.dry_run) return PrintDryRun(context, *plan);
    if (!Confirmed(context, *plan)) {
      context.Say("nothing was started");
      return kExitInterrupted;
    }
  }
  const auto key = NewKey();
  const auto started = Persist(context, kPatience, [&] { return api->Post("/runs", *body, key); });
  if (!started) return Fail(started.error());
  const auto id = TextOf(*started, "id");
  if (flags.detach) {
    if (!context.PrintDocument(*started)) Write(stdout, id + "\n");
    return 0;
  }
  context.Say(fmt::format("run {} on {}", id,
                          Hosts(static_cast<std::uint64_t>(NumberOf(*started, "hosts")))));
  return Follow(context, *api, flags, *started);
}

void AddCommandOptions(CLI::App& command, RunOptions& options) {
  command
      .add_option("--script", options.script_file,
                  "Run this file's contents (- is stdin); words after -- are its arguments")
      ->type_name("FILE");
  command
      .add_option("--interpreter", options.interpreter,
                  "Hand the script to this program (default: its #! line, else /bin/sh)")
      ->type_name("PROGRAM");
  command
      .add_option("--stdin", options.stdin_file,
                  "Give this file to each command as its stdin (- is stdin)")
      ->type_name("FILE");
  command.add_option("--env", options.env, "Set an environment variable; may be repeated")
      ->type_name("K=V")
      ->allow_extra_args(false);
  command
      .add_option("-u,--user", options.user, "Run as this user (default: what the agent is set to)")
      ->type_name("USER");
  command.add_option("--folder", options.folder, "Run in this folder (default: the user's home)")
      ->type_name("DIR");
  command.add_option("--leftovers", options.leftovers, "Processes that outlive the command")
      ->check(CLI::IsMember({"keep", "kill"}))
      ->capture_default_str();
  command.add_option("--title", options.title, "One line for lists (default: the command)");
  command.add_option("--reason", options.reason, "Why, for the audit trail");
}

void AddLimitOptions(CLI::App& command, RunOptions& options) {
  command.add_option("--concurrency", options.concurrency, "Hosts at once; 0 is all")
      ->capture_default_str();
  command.add_option("--batches", options.batches,
                     "Batch sizes: 1,10%,100% or '20 +10' or '1 *2'; the last repeats");
  command
      .add_option("--max-failures", options.max_failures,
                  "Failures tolerated per batch: a number or a percentage")
      ->capture_default_str();
  command.add_option("--timeout", options.timeout, "End a command that takes longer")
      ->type_name("DURATION")
      ->capture_default_str();
  command.add_option("--grace", options.grace, "Time between TERM and KILL")
      ->type_name("DURATION")
      ->capture_default_str();
  command
      .add_option("--memory", options.memory,
                  "Memory of each command at most, for example 512M; past it it is ended")
      ->type_name("SIZE");
  command.add_option("--cpu", options.cpu, "Processors of each command at most, for example 1.5")
      ->type_name("NUMBER");
  command.add_option("--processes", options.processes, "Processes of each command at most")
      ->type_name("NUMBER");
  command
      .add_option("--max-output", options.max_output,
                  "Output kept per host (default: 16MB, 1GB over all hosts)")
      ->type_name("SIZE");
  command
      .add_option("--wait-offline", options.wait_offline,
                  "Wait this long for hosts that are offline")
      ->type_name("DURATION")
      ->capture_default_str();
}

}  // namespace

void AddRun(CLI::App& app, Context& context) {
  auto* command = app.add_subcommand("run",
                                     "Run a command or script on hosts and wait for it\n"
                                     "muster run -t EXPR [OPTIONS] -- COMMAND [ARGUMENT...]");
  const auto flags = std::make_shared<RunFlags>();
  command->footer(kExamples);
  command
      ->add_option("-t,--target,--targets", flags->options.targets,
                   "Which hosts (see: muster hosts EXPR)")
      ->type_name("EXPR");
  command
      ->add_option("-T,--targets-file", flags->targets_file,
                   "Also these hosts: a name or expression on each line, # begins a comment (- is "
                   "stdin)")
      ->type_name("FILE");
  command->add_option("-x,--exclude", flags->options.exclude, "Leave these hosts out")
      ->type_name("EXPR");
  command->add_flag("--ignore-missing", flags->options.ignore_missing,
                    "Let unknown host names pass");
  command->add_flag("-b,--become", flags->become, "Run as root: the same as --user root");
  AddCommandOptions(*command, flags->options);
  AddLimitOptions(*command, flags->options);
  command->add_flag("--dry-run", flags->dry_run, "Say which hosts and batches, start nothing");
  command->add_flag("-d,--detach", flags->detach, "Start it, print its id and leave");
  command->add_flag("--live", flags->live,
                    "Show every host's lines as they come, however many hosts");
  command->add_flag("--grouped", flags->grouped, "Show equal outcomes grouped, however few hosts");
  command->add_flag("-y,--yes", flags->yes, "Ask nothing");
  command->add_flag("-S,--max-code", flags->largest_code,
                    "Exit with the largest exit code of the hosts");
  command->callback([&context, flags] {
    context.takes_words = true;
    context.action = [&context, flags] { return Run(context, *flags); };
  });
}

}  // namespace muster::cli
