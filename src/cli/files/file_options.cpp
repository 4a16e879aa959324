#include "cli/files/file_options.hpp"

#include <CLI/CLI.hpp>

#include "base/text.hpp"

namespace muster::cli {

void AddFileOptions(CLI::App& command, FileOptions& options) {
  RunOptions& run = options.run;
  command.add_option("-t,--target,--targets", run.targets, "Which hosts (see: muster hosts EXPR)")
      ->type_name("EXPR")
      ->required();
  command.add_option("-x,--exclude", run.exclude, "Exclude these hosts")->type_name("EXPR");
  command.add_flag("--ignore-missing", run.ignore_missing, "Ignore unknown host names");
  command.add_flag("--during-freeze", run.during_freeze, "Start it even if runs are frozen");
  command.add_flag("--include-maintenance", run.include_maintenance,
                   "Include hosts in maintenance");
  command.add_flag("--require-all", run.require_all,
                   "Start nothing if a selected host is left out: it never joined, is in "
                   "maintenance, a copy or revoked");
  command
      .add_option("-u,--user", run.user,
                  "With the rights of this user (default: what the agent is set to)")
      ->type_name("USER");
  command
      .add_option("--rate", options.rate,
                  "Bytes a second of each host at most, for example 10MB (default: no limit)")
      ->type_name("SIZE");
  command.add_option("--concurrency", run.concurrency, "Hosts at once; 0 is all")
      ->capture_default_str();
  command
      .add_option("--batches", run.batches,
                  "Batch sizes: 1,10%,100% or '20 +10' or '1 *2'; the last repeats")
      ->type_name("PLAN");
  command
      .add_option("--max-failures", run.max_failures,
                  "Failures tolerated per batch: a number or a percentage")
      ->type_name("N|N%")
      ->capture_default_str();
  command
      .add_option("--max-unreachable", run.max_unreachable,
                  "Unreachable hosts tolerated per batch (default: any, but a batch without a "
                  "success opens no other)")
      ->type_name("N|N%");
  command.add_option("--timeout", run.timeout, "End a transfer that takes longer on a host")
      ->type_name("DURATION")
      ->capture_default_str();
  command
      .add_option("--wait-offline", run.wait_offline, "Wait this long for hosts that are offline")
      ->type_name("DURATION")
      ->capture_default_str();
  command.add_option("--title", run.title, "One line for lists (default: what is moved)");
  command.add_option("--reason", run.reason, "Reason, for the audit trail");
  command.add_flag("--dry-run", options.start.dry_run, "Show which hosts, transfer nothing");
  command.add_flag("-y,--yes", options.start.yes, "Do not ask");
}

Result<std::uint64_t> RateOf(const FileOptions& options) {
  if (options.rate.empty()) return 0;
  const auto rate = ParseSize(options.rate);
  if (!rate) return Fail(ErrorCode::kInvalid, "--rate: {}", rate.error().message);
  return *rate;
}

}  // namespace muster::cli
