#include "cli/runs/report.hpp"

#include <algorithm>
#include <array>

#include <boost/json/array.hpp>

#include "domain/host_ranges.hpp"
#include "domain/run.hpp"

namespace muster::cli {
namespace {

constexpr std::size_t kSummaryHosts = 200;  // characters

// Folds two lists of hosts; one that was cut short is just appended.
std::string JoinHosts(const std::string& a, const std::string& b) {
  auto names = ExpandHostRanges(a + "," + b);
  const bool cut = a.find("…") != std::string::npos || b.find("…") != std::string::npos;
  return names && !cut ? FoldHostNames(*names, 2 * kSummaryHosts) : a + "," + b;
}

std::string Shortened(std::string text, std::size_t most) {
  if (text.size() <= most) return text;
  const auto comma = text.rfind(',', most);
  text.resize(comma == std::string::npos ? most : comma);
  return text + ",…";
}

// Of these the output does not tell why: a command past its memory, a user that does not exist.
bool TellsReason(const OutcomeGroup& group) {
  constexpr std::array kStates{TaskState::kFailed, TaskState::kTimedOut, TaskState::kRefused,
                               TaskState::kLost};
  const auto state = ParseTaskState(group.state);
  return !group.reason.empty() && state && std::ranges::find(kStates, *state) != kStates.end();
}

// The hosts that the run counts and the groups do not have: an answer that is cut has not all.
std::vector<std::pair<TaskState, std::uint64_t>> HostsLeftOut(
    const boost::json::value& run, const std::vector<OutcomeGroup>& groups) {
  std::vector<std::pair<TaskState, std::uint64_t>> left;
  const TaskCounts counts = CountsOf(FieldOf(run, "counts"));
  for (std::size_t i = 0; i < kTaskStates; ++i) {
    const auto state = static_cast<TaskState>(i);
    std::uint64_t shown = 0;
    for (const auto& group : groups)
      if (group.state == Name(state)) shown += group.count;
    if (counts[state] > shown) left.emplace_back(state, counts[state] - shown);
  }
  return left;
}

}  // namespace

std::vector<OutcomeGroup> GroupsOf(const boost::json::value& answer) {
  std::vector<OutcomeGroup> groups;
  for (const auto& item : ListOf(answer, "groups")) {
    groups.push_back({static_cast<std::uint64_t>(NumberOf(item, "count")), TextOf(item, "state"),
                      NumberOf(item, "exit_code"), NumberOf(item, "signal"), TextOf(item, "reason"),
                      TextOf(item, "log"), TextOf(item, "hosts"), TextOf(item, "sample_host"),
                      static_cast<std::uint64_t>(NumberOf(item, "bytes"))});
  }
  return groups;
}

std::vector<OutcomeGroup> MergeOutputs(const std::vector<OutcomeGroup>& groups) {
  std::vector<OutcomeGroup> merged;
  for (const auto& group : groups) {
    const auto same = std::ranges::find_if(merged, [&](const OutcomeGroup& other) {
      return other.state == group.state && other.exit_code == group.exit_code &&
             other.signal == group.signal;
    });
    if (same == merged.end()) {
      merged.push_back(group);
      continue;
    }
    same->count += group.count;
    // Only hosts with trouble are named in a summary, and only the first of them.
    if (same->hosts.size() < 2 * kSummaryHosts) same->hosts = JoinHosts(same->hosts, group.hosts);
    if (same->reason != group.reason) same->reason.clear();
  }
  return merged;
}

std::string Outcome(std::string_view state, std::int64_t exit_code, std::int64_t signal) {
  if (signal != 0) return fmt::format("{} (signal {})", state, signal);
  if (state == "failed" && exit_code != 0) return fmt::format("failed (exit {})", exit_code);
  return std::string(state);
}

std::string GroupHead(const OutcomeGroup& group) {
  const std::string reason = group.reason.empty() ? "" : fmt::format(", {}", group.reason);
  const std::string_view log = group.log == "cut"   ? ", output cut"
                               : group.log == "gap" ? ", output with a gap"
                                                    : "";
  return fmt::format("{} {}{}{}: {}", Hosts(group.count),
                     Outcome(group.state, group.exit_code, group.signal), reason, log, group.hosts);
}

std::string SummaryLine(const boost::json::value& run, const std::vector<OutcomeGroup>& groups) {
  std::string parts;
  const auto merged = MergeOutputs(groups);
  for (const bool well : {true, false}) {
    for (const auto& group : merged) {
      if ((group.state == "succeeded") != well) continue;
      if (!parts.empty()) parts += ", ";
      parts += Count(group.count) + " " + Outcome(group.state, group.exit_code, group.signal);
      if (well) continue;
      if (TellsReason(group)) parts += ", " + group.reason;
      parts += ": " + Shortened(group.hosts, kSummaryHosts);
    }
  }
  for (const auto& [state, count] : HostsLeftOut(run, merged))
    parts += fmt::format("{}{} more {}", parts.empty() ? "" : ", ", Count(count), Name(state));
  const auto created = ParseTime(TextOf(run, "created"));
  const auto ended = ParseTime(TextOf(run, "ended"));
  const std::string took = created && ended ? " · " + Lasted(ended - created) : "";
  const auto reason = TextOf(run, "reason");
  const auto& stop = FieldOf(run, "stop");
  std::string why = reason.empty() ? "" : fmt::format(" · {}", reason);
  if (why.empty() && stop.is_object()) why = fmt::format(" · stopped by {}", TextOf(stop, "by"));
  return fmt::format("{} {}: {}{}{}", TextOf(run, "id"), TextOf(run, "state"), parts, why, took);
}

std::string GoesOnText(std::string_view run) {
  return fmt::format("{0} goes on; follow it: muster attach {0}", run);
}

std::string PausedText(const boost::json::value& run) { return PausedText(run, TextOf(run, "id")); }

std::string PausedText(const boost::json::value& run, std::string_view who) {
  const auto id = TextOf(run, "id");
  const auto& pause = FieldOf(run, "pause");
  const auto reason = TextOf(pause, "reason");
  const bool failures = ExitCodeOf(CountsOf(FieldOf(run, "counts"))) != 0;
  return fmt::format("{} is paused{}{}{} · {}: muster resume {} · end it: muster stop {}", who,
                     reason.empty() ? " by " + TextOf(pause, "by") : ": ", reason,
                     failures ? fmt::format(" · retry failed hosts: muster retry {}", id) : "",
                     failures ? "accept the failures and go on" : "go on", id, id);
}

std::vector<std::string> OutputRemarks(const std::vector<OutcomeGroup>& groups) {
  std::vector<std::string> remarks;
  const auto add = [&](std::string_view log, std::string_view what) {
    std::string hosts;
    for (const auto& group : groups)
      if (group.log == log) hosts = hosts.empty() ? group.hosts : JoinHosts(hosts, group.hosts);
    if (!hosts.empty())
      remarks.push_back(fmt::format("{}: {}", what, Shortened(hosts, kSummaryHosts)));
  };
  add("cut", "output cut at the quota (--max-output)");
  add("gap", "output with a gap");
  return remarks;
}

std::string CountsText(const TaskCounts& counts) {
  constexpr std::array kOrder{TaskState::kFailed,  TaskState::kTimedOut,  TaskState::kKilled,
                              TaskState::kLost,    TaskState::kRefused,   TaskState::kUnreachable,
                              TaskState::kSkipped, TaskState::kSucceeded, TaskState::kRunning,
                              TaskState::kSent,    TaskState::kQueued,    TaskState::kWaiting};
  std::string text;
  for (const auto state : kOrder) {
    if (counts[state] == 0) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", Count(counts[state]), Name(state));
  }
  return text;
}

std::uint64_t WithoutSuccess(const TaskCounts& counts) {
  return counts.Ended() - counts[TaskState::kSucceeded];
}

std::string HostsCell(const TaskCounts& counts, std::uint64_t hosts) {
  std::string trouble;
  for (std::size_t i = 0; i < kTaskStates; ++i) {
    const auto state = static_cast<TaskState>(i);
    if (!IsFinal(state) || state == TaskState::kSucceeded || counts[state] == 0) continue;
    if (counts[state] == hosts) return fmt::format("{} {}", Count(hosts), Name(state));
    trouble += trouble.empty()
                   ? fmt::format("{} of {} {}", Count(counts[state]), Count(hosts), Name(state))
                   : fmt::format(", {} {}", Count(counts[state]), Name(state));
  }
  if (!trouble.empty()) return trouble;
  if (counts.Ended() >= hosts) return Count(hosts);
  return fmt::format("{} of {} done", Count(counts.Ended()), Count(hosts));
}

std::string ProgressBar(const TaskCounts& counts, std::uint64_t hosts, std::size_t width) {
  constexpr std::size_t kBar = 20;
  const std::uint64_t ended = counts.Ended();
  const std::size_t full = hosts == 0 ? 0 : std::min<std::uint64_t>(kBar, ended * kBar / hosts);
  std::string text =
      fmt::format("[{}{}] {} of {} · {}", std::string(full, '#'), std::string(kBar - full, '-'),
                  Count(ended), Count(hosts), CountsText(counts));
  // Two bytes more than columns, for the dot. A bar that wraps could not be redrawn.
  if (text.size() > width + 1) text.resize(std::max<std::size_t>(width, kBar) - 1);
  return text;
}

std::string ShownInvite(const std::string& id) {
  constexpr std::size_t kShownDigits = 12;
  return id.substr(0, kShownDigits);
}

std::string InviteStays(const boost::json::value& invite) {
  return fmt::format("invite {0} was made all the same; withdraw it: muster invites revoke {0}",
                     ShownInvite(TextOf(invite, "id")));
}

int ExitCodeOfRun(const boost::json::value& run) {
  const auto code = static_cast<int>(NumberOf(run, "exit_code"));
  if (code != 0) return code;
  const TaskCounts counts = CountsOf(FieldOf(run, "counts"));
  const int by_counts = ExitCodeOf(counts);
  if (by_counts != 0) return by_counts;
  if (TextOf(run, "state") == "succeeded") return 0;
  // A command that was stopped before it began on some hosts has not failed on any.
  return TextOf(run, "job").empty() && counts[TaskState::kSkipped] > 0 ? 6 : 1;
}

int LargestCode(const std::vector<OutcomeGroup>& groups, int ordinary) {
  std::int64_t largest = 0;
  for (const auto& group : groups)
    largest = std::max(largest, group.signal != 0 ? 128 + group.signal : group.exit_code);
  return largest == 0 ? ordinary : static_cast<int>(std::min<std::int64_t>(largest, 255));
}

std::string_view FirstLines(std::string_view output, std::size_t most, std::size_t& left) {
  std::size_t end = 0;
  for (std::size_t lines = 0; lines < most && end < output.size(); ++lines) {
    const auto newline = output.find('\n', end);
    end = newline == std::string_view::npos ? output.size() : newline + 1;
  }
  const auto rest = output.substr(end);
  left = static_cast<std::size_t>(std::ranges::count(rest, '\n')) +
         (!rest.empty() && rest.back() != '\n' ? 1 : 0);
  return output.substr(0, end);
}

}  // namespace muster::cli
