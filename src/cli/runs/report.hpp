#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <boost/json/value.hpp>

#include "cli/terminal/output.hpp"
#include "domain/task.hpp"

namespace muster::cli {

// Hosts that ended alike, as GET /runs/ID/groups tells them.
struct OutcomeGroup {
  std::uint64_t count = 0;
  std::string state;
  std::int64_t exit_code = 0;
  std::int64_t signal = 0;
  std::string reason;
  std::string log;  // "complete", "cut", "gap"
  std::string hosts;
  std::string sample_host;
  std::uint64_t bytes = 0;
};
std::vector<OutcomeGroup> GroupsOf(const boost::json::value& answer);

// Groups that differ in their output only, as one; the order is kept.
std::vector<OutcomeGroup> MergeOutputs(const std::vector<OutcomeGroup>& groups);

// "succeeded", "failed (exit 3)", "killed (signal 9)", "unreachable"
std::string Outcome(std::string_view state, std::int64_t exit_code, std::int64_t signal);

// "9,871 hosts succeeded: web[1-9871]", "1 host refused, user 'x' does not exist: web3"
std::string GroupHead(const OutcomeGroup& group);

// "r12 failed: 9 succeeded, 1 failed (exit 3): web3 · 1.2 s"; with the reason where there is one,
// as in GroupHead. Hosts that the run counts and the groups do not have follow: ", 12 more failed".
std::string SummaryLine(const boost::json::value& run, const std::vector<OutcomeGroup>& groups);

// "r12 goes on; follow it: muster attach r12"
std::string GoesOnText(std::string_view run);

// "r12 is paused: more than 2 failed in batch 1 · retry failed hosts: muster retry r12 · …": what a
// person may do now. `run`: as GET /runs/ID gives it.
std::string PausedText(const boost::json::value& run);
// The same; `who` stands for the id in front.
std::string PausedText(const boost::json::value& run, std::string_view who);

// Lines about output that is not whole: "output cut at the quota (--max-output): web[1-3]", "output
// with a gap: web4".
std::vector<std::string> OutputRemarks(const std::vector<OutcomeGroup>& groups);

// How many have ended otherwise than well.
std::uint64_t WithoutSuccess(const TaskCounts& counts);

// "9 succeeded, 1 failed", worst first; "" without hosts.
std::string CountsText(const TaskCounts& counts);

// "3" when all went well, "3 failed", "1 of 3 failed, 1 lost", "2 of 3 done" while it runs: for a
// narrow column.
std::string HostsCell(const TaskCounts& counts, std::uint64_t hosts);

// "[#####-----] 4,210 of 10,000 · 10 failed, 4,200 succeeded"
std::string ProgressBar(const TaskCounts& counts, std::uint64_t hosts, std::size_t width);

// "3f9a17c2d0b4": as much of an invite's id as people need.
std::string ShownInvite(const std::string& id);

// What to know of an invite that was made and could not be printed.
std::string InviteStays(const boost::json::value& invite);

// The exit code of a client that waited for `run`.
int ExitCodeOfRun(const boost::json::value& run);

// For --max-code: the largest exit code among the hosts (128 and the signal for those that died of
// one), or `ordinary` when none of them has one.
int LargestCode(const std::vector<OutcomeGroup>& groups, int ordinary);

// The first `most` lines of `output`; `left` is the number of lines left out.
std::string_view FirstLines(std::string_view output, std::size_t most, std::size_t& left);

}  // namespace muster::cli
