#include "engine/runs/why.hpp"

#include <algorithm>
#include <map>

#include "domain/approvers.hpp"
#include "domain/host_ranges.hpp"
#include "engine/limiter/limiter.hpp"
#include "engine/runs/approvals.hpp"
#include "engine/runs/dispatch.hpp"

namespace muster::engine {
namespace {

constexpr std::size_t kMostLines = 100;

// "2 min 5 s": two units are enough for a person, and never less than is left.
std::string InWords(Duration left) {
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(std::max(Duration(0), left)).count();
  const auto two = [](auto big, std::string_view big_name, auto small,
                      std::string_view small_name) {
    return small == 0 ? fmt::format("{} {}", big, big_name)
                      : fmt::format("{} {} {} {}", big, big_name, small, small_name);
  };
  if (seconds < 60) return fmt::format("{} s", seconds);
  if (seconds < 3600) return two(seconds / 60, "min", seconds % 60, "s");
  if (seconds < 86'400) return two(seconds / 3600, "h", seconds % 3600 / 60, "min");
  return two(seconds / 86'400, "d", seconds % 86'400 / 3600, "h");
}

std::string WhyPaused(const OpenRun& run) {
  const Pause& pause = *run.run.pause;
  const std::string why = pause.reason.empty() ? "" : ": " + pause.reason;
  return pause.by == kByLimit
             ? fmt::format("the run paused itself{}; resume, retry or stop it", why)
             : fmt::format("{} paused the run{}", pause.by, why);
}

// The outermost run that the pause of this one was put on with it: resuming that one resumes both.
const Run& PausedFrom(const State& state, const OpenRun& run) {
  const auto above = state.runs.open.find(run.run.parent);
  if (above == state.runs.open.end() || !above->second.run.pause) return run.run;
  const Pause& pause = *above->second.run.pause;
  const bool together = run.run.pause->by != kByLimit && pause.by == run.run.pause->by &&
                        pause.at == run.run.pause->at;
  return together ? PausedFrom(state, above->second) : run.run;
}

// Of a whole run, with the way on.
std::string PausedLine(const State& state, const OpenRun& run) {
  if (run.run.pause->by == kByLimit) return WhyPaused(run);
  const Run& from = PausedFrom(state, run);
  const std::string with =
      from.id == run.run.id ? "" : fmt::format(" with {}", FormatRunId(from.id));
  return fmt::format("{}{}; tasks that run go on to their end; to resume it: muster resume {}",
                     WhyPaused(run), with, FormatRunId(from.id));
}

// The run that a stage started, and what holds it back.
std::string WhyChild(const State& state, const StageVisit& record) {
  const std::string line =
      fmt::format("stage {} waits for run {}", record.name, FormatRunId(record.child));
  const auto child = state.runs.open.find(record.child);
  if (child == state.runs.open.end()) return line;
  if (child->second.run.pause) return fmt::format("{}: {}", line, PausedLine(state, child->second));
  const bool asks = std::ranges::any_of(child->second.visits, [](const auto& item) {
    return item.second.record.state == StageState::kAwaitingApproval;
  });
  return asks ? fmt::format("{}, which waits for an approval", line) : line;
}

std::string WhoMayAnswer(const State& state, const OpenRun& run, const OpenVisit& visit) {
  const ApproveAction* wanted = WantedAnswer(run.SpecOf(visit));
  if (wanted == nullptr) return ApproversText({}, {});
  return ApproversText(wanted->by,
                       wanted->not_starter ? StartersOf(state, run) : std::vector<std::string>());
}

// What a stage without tasks of its own waits for; "" when one of its stages says it.
std::string WhyStage(const State& state, const OpenRun& run, const OpenVisit& visit, Now now) {
  const StageVisit& record = visit.record;
  const auto left = [&] { return visit.due ? InWords(*visit.due - now.mono) : std::string("?"); };
  if (record.state == StageState::kAwaitingApproval)
    return fmt::format("stage {} waits for an approval ({}) by {}; rejected in {}", record.name,
                       record.message, WhoMayAnswer(state, run, visit), left());
  if (run.run.pause) return {};  // said of the whole run
  if (record.phase == VisitPhase::kWait)
    return fmt::format("stage {} waits {} before batch {}", record.name, left(), record.batch + 2);
  if (visit.due) return fmt::format("stage {} waits {}", record.name, left());
  if (record.child) return WhyChild(state, record);
  return {};
}

std::string WhyWaiting(const State& state, const OpenRun& run, const OpenVisit& visit,
                       std::uint32_t ordinal, Now now) {
  const Slot& slot = visit.At(ordinal);
  const auto host = state.hosts.entries.find((*run.targets)[ordinal].host);
  const bool online = host != state.hosts.entries.end() && host->second.Online();
  const auto left = [&](MonoTime until) { return InWords(until - now.mono); };
  if (run.restored && slot.state == TaskState::kQueued)
    return fmt::format(
        "the server was restored from a backup; its host must say whether it ran, else it is lost "
        "in {}",
        left(slot.wait_until));
  switch (slot.state) {
    case TaskState::kWaiting:
      if (visit.winding_up)
        return run.run.stop ? "the run is being stopped" : "too many hosts failed; the run ends";
      if (run.run.pause) return WhyPaused(run);
      if (visit.PlaceOf(ordinal) >= visit.record.batch_end)
        return fmt::format("its batch comes after batch {}, which has {} to go",
                           visit.record.batch + 1, HostsText(visit.batch_left));
      return fmt::format("concurrency {} is reached", ConcurrencyOf(run, visit));
    case TaskState::kQueued:
      if (!online)
        return fmt::format("the host is offline; it becomes unreachable in {}",
                           left(slot.wait_until));
      if (run.run.pause) return WhyPaused(run);
      if (auto key = WhyNoKey(state, {run.run.id, visit.record.visit, ordinal}); !key.empty())
        return key;
      if (slot.retry_at > now.mono && slot.retries > 0)
        return fmt::format("it failed; attempt {} follows in {}", slot.attempt + 1,
                           left(slot.retry_at));
      if (slot.retry_at > now.mono && slot.attempt == 0)
        return fmt::format("its moment within spread comes in {}", left(slot.retry_at));
      if (slot.retry_at > now.mono)
        return "the last order reached the host too late; it is sent again soon";
      return fmt::format("concurrency {} is reached", ConcurrencyOf(run, visit));
    case TaskState::kSent:
      return online ? "the order is on its way to the host"
                    : fmt::format(
                          "the order was sent and the host went offline; lost in {} unless it "
                          "comes back",
                          left(slot.deadline));
    case TaskState::kRunning:
      if (run.run.stop) return "its stop was requested; it has not ended yet";
      return online
                 ? "running"
                 : fmt::format("it ran when the host went offline; lost in {} unless it comes back",
                               left(slot.deadline));
    case TaskState::kSucceeded:
    case TaskState::kFailed:
    case TaskState::kTimedOut:
    case TaskState::kKilled:
    case TaskState::kLost:
    case TaskState::kUnreachable:
    case TaskState::kRefused:
    case TaskState::kSkipped:
      return fmt::format("it ended as {}", Name(slot.state));
  }
  return {};
}

}  // namespace

void Decide(Turn& turn, const AskWhy& command) {
  const auto found = turn.state.runs.open.find(command.run);
  if (found == turn.state.runs.open.end())
    return turn.Answer(command,
                       Fail(ErrorCode::kNotFound, "run {} is not open", FormatRunId(command.run)));
  const OpenRun& run = found->second;
  WhyAnswer answer;
  if (run.run.pause) answer.summary.push_back(PausedLine(turn.state, run));
  if (run.run.state == RunState::kQueued)
    answer.summary.push_back(WhyNoKey(turn.state, {run.run.id, {}, 0}));
  std::map<std::string, std::uint32_t> reasons;
  for (const auto& [id, visit] : run.visits) {
    if (visit.slots.empty()) {
      if (auto because = WhyStage(turn.state, run, visit, turn.now); !because.empty())
        answer.summary.push_back(std::move(because));
      continue;
    }
    for (std::size_t i = 0; i < visit.slots.size(); ++i) {
      const Target& target = (*run.targets)[visit.hosts[i]];
      const TaskState state = visit.slots[i].state;
      const bool asked = command.host && target.host == *command.host;
      if ((command.host && !asked) || (IsFinal(state) && !asked)) continue;
      std::string because = WhyWaiting(turn.state, run, visit, visit.hosts[i], turn.now);
      if (answer.waiting.size() < kMostLines)
        answer.waiting.push_back({target.name, state, because});
      ++reasons[std::move(because)];
    }
  }
  for (const auto& [reason, count] : reasons)
    answer.summary.push_back(fmt::format("{}: {}", HostsText(count), reason));
  turn.Answer(command, std::move(answer));
}

}  // namespace muster::engine
