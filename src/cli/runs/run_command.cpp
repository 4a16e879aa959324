#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>
#include <sstream>

#include <CLI/CLI.hpp>
#include <boost/json.hpp>

#include "base/text.hpp"
#include "cli/client/api_client.hpp"
#include "cli/context.hpp"
#include "cli/hosts/targets_file.hpp"
#include "cli/runs/run_request.hpp"
#include "cli/runs/run_start.hpp"

namespace muster::cli {
namespace {

namespace json = boost::json;

constexpr const char* kRunExamples = R"(Examples:
  muster run -t web1 -- uptime
  muster run -t 'web*' -- 'df -h / | tail -1'             one quoted word is a shell line
  muster run -t 'app=web' -- systemctl is-active nginx    several words need no shell
  muster run -t 'zone in (sh1,sh2)' -x web7 --batches 1,10% -- 'systemctl restart app'
  muster run -t @db --script check.py -- --verbose        words after -- are its arguments
  muster run -t run:r12.failed --dry-run -- true          which hosts, without starting
  muster run -T hosts.txt -b -- 'apt-get -y upgrade'      hosts from a file, as root
  muster run -t all -o jsonl -- 'uname -r' | jq .stdout   a line of JSON as each host ends

Exit codes: 0 all well; 1 a host failed, timed out or was killed; 2 usage; 3 denied; 4 no match;
5 server out of reach; 6 hosts unreachable or unknown; 8 the result could not be
written; 130 detached or interrupted. With -S the
largest exit code of the hosts instead of 1.)";

struct RunFlags {
  RunOptions options;
  StartOptions start;
  bool become = false;
  std::string targets_file;
};

Result<std::string> ReadInput(const std::string& path) {
  std::ostringstream text;
  if (path == "-") {
    text << std::cin.rdbuf();
    return text.str();
  }
  std::ifstream file(path, std::ios::binary);
  const auto fail = [&] {
    return Fail(ErrorCode::kInvalid, "cannot read '{}': {}", path, std::strerror(errno));
  };
  if (!file) return fail();
  if (file.peek() != std::ifstream::traits_type::eof()) text << file.rdbuf();
  if (file.bad()) return fail();
  return text.str();
}

// What the flags stand for: hosts from a file, root.
Result<> Spell(RunFlags& flags) {
  RunOptions& options = flags.options;
  if (flags.start.live && flags.start.grouped)
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

Result<int> Run(const Context& context, RunFlags& flags) {
  flags.options.words = context.words;
  if (auto ok = Spell(flags); !ok) return Fail(ok.error());
  const auto inputs = ReadInputs(flags.options);
  if (!inputs) return Fail(inputs.error());
  const auto body = RunBody(flags.options, *inputs);
  if (!body) return Fail(body.error());
  auto api = ApiClient::Open(context);
  if (!api) return Fail(api.error());
  return StartAndFollow(context, *api, *body, flags.start);
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
      .add_option("--secret", options.secrets,
                  "Set a variable to the value of a secret (see: muster secrets); may be repeated")
      ->type_name("VAR=NAME")
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
  command.add_option("--reason", options.reason, "Reason, for the audit trail");
}

void AddLimitOptions(CLI::App& command, RunOptions& options) {
  command.add_option("--concurrency", options.concurrency, "Hosts at once; 0 is all")
      ->capture_default_str();
  command
      .add_option("--batches", options.batches,
                  "Batch sizes: 1,10%,100% or '20 +10' or '1 *2'; the last repeats")
      ->type_name("PLAN");
  command
      .add_option("--max-failures", options.max_failures,
                  "Failures tolerated per batch: a number or a percentage")
      ->type_name("N|N%")
      ->capture_default_str();
  command
      .add_option("--max-unreachable", options.max_unreachable,
                  "Unreachable hosts tolerated per batch (default: any, but a batch without a "
                  "success opens no other)")
      ->type_name("N|N%");
  command
      .add_option("--timeout", options.timeout, "End a command that takes longer; 0 is no limit")
      ->type_name("DURATION")
      ->capture_default_str();
  command.add_option("--grace", options.grace, "Time between TERM and KILL")
      ->type_name("DURATION")
      ->capture_default_str();
  command
      .add_option(
          "--memory", options.memory,
          "Memory limit of each command, for example 512M; above it the command is ended as failed")
      ->type_name("SIZE");
  command.add_option("--cpu", options.cpu, "Processor limit of each command, for example 1.5")
      ->type_name("NUMBER");
  command.add_option("--processes", options.processes, "Process limit of each command")
      ->type_name("NUMBER")
      ->check(CLI::Range(1, 4'194'304));
  command
      .add_option("--max-output", options.max_output,
                  "Output kept per host (default: 16MB, 1GB over all hosts)")
      ->type_name("SIZE");
  command
      .add_option("--wait-offline", options.wait_offline,
                  "Wait this long for hosts that are offline; 0 is not at all")
      ->type_name("DURATION")
      ->capture_default_str();
}

}  // namespace

void AddRun(CLI::App& app, Context& context) {
  auto* command = app.add_subcommand("run",
                                     "Run a command or script on hosts and wait for it\n"
                                     "muster run -t EXPR [OPTIONS] -- COMMAND [ARGUMENT...]");
  const auto flags = std::make_shared<RunFlags>();
  command->footer(kRunExamples);
  command
      ->add_option("-t,--target,--targets", flags->options.targets,
                   "Which hosts (see: muster hosts EXPR)")
      ->type_name("EXPR");
  command
      ->add_option("-T,--targets-file", flags->targets_file,
                   "Also these hosts: a name or expression on each line, # begins a comment (- is "
                   "stdin)")
      ->type_name("FILE");
  command->add_option("-x,--exclude", flags->options.exclude, "Exclude these hosts")
      ->type_name("EXPR");
  command->add_flag("--ignore-missing", flags->options.ignore_missing, "Ignore unknown host names");
  command->add_flag("--during-freeze", flags->options.during_freeze,
                    "Start it even if runs are frozen");
  command->add_flag("--include-maintenance", flags->options.include_maintenance,
                    "Include hosts in maintenance");
  command->add_flag("--require-all", flags->options.require_all,
                    "Start nothing if a selected host is left out: it never joined, is in "
                    "maintenance, a copy or revoked");
  command->add_flag("-b,--become", flags->become, "Run as root: the same as --user root");
  AddCommandOptions(*command, flags->options);
  AddLimitOptions(*command, flags->options);
  command->add_flag("--dry-run", flags->start.dry_run, "Show hosts and batches, start nothing");
  command->add_flag("-d,--detach", flags->start.detach, "Start it, print its id and leave");
  command->add_flag("--live", flags->start.live,
                    "Show lines of hosts as they arrive (default: up to 20 hosts)");
  command->add_flag("--grouped", flags->start.grouped,
                    "Group equal outcomes (default: above 20 hosts)");
  command->add_flag("-y,--yes", flags->start.yes, "Do not ask");
  command->add_flag("-S,--max-code", flags->start.largest_code,
                    "Exit with the largest exit code of the hosts");
  command->callback([&context, flags] {
    context.takes_words = true;
    context.action = [&context, flags] { return Run(context, *flags); };
  });
}

}  // namespace muster::cli
