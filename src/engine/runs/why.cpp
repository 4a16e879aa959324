#include "engine/runs/why.hpp"

#include <map>

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

std::string WhyWaiting(const State& state, const OpenRun& run, std::uint32_t ordinal, Now now) {
  const Slot& slot = run.slots[ordinal];
  const auto host = state.hosts.find((*run.targets)[ordinal].host);
  const bool online = host != state.hosts.end() && host->second.Online();
  const auto left = [&](MonoTime until) { return InWords(until - now.mono); };
  if (run.restored && slot.state == TaskState::kQueued)
    return fmt::format(
        "the server was restored from a backup; its host must say whether it ran, else it is lost "
        "in {}",
        left(slot.wait_until));
  switch (slot.state) {
    case TaskState::kWaiting:
      if (run.winding_up)
        return run.run.stop ? "the run is being stopped" : "too many hosts failed; the run ends";
      if (ordinal >= run.batch_end)
        return fmt::format("its batch comes after batch {}, which has {} hosts to go",
                           run.batch + 1, run.batch_left);
      return fmt::format("concurrency {} is reached", run.Spec().concurrency);
    case TaskState::kQueued:
      if (!online)
        return fmt::format("the host is offline; it becomes unreachable in {}",
                           left(slot.wait_until));
      if (slot.retry_at > now.mono)
        return "the last order reached the host too late; it is sent again soon";
      return fmt::format("concurrency {} is reached", run.Spec().concurrency);
    case TaskState::kSent:
      return online ? "the order is on its way to the host"
                    : fmt::format(
                          "the order was sent and the host went offline; lost in {} unless it "
                          "comes back",
                          left(slot.deadline));
    case TaskState::kRunning:
      if (run.run.stop) return "it was told to stop and has not ended yet";
      return online
                 ? "it runs"
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
  const auto found = turn.state.runs.find(command.run);
  if (found == turn.state.runs.end())
    return turn.Answer(command.caller,
                       Fail(ErrorCode::kNotFound, "run {} is not open", FormatRunId(command.run)));
  const OpenRun& run = found->second;
  WhyAnswer answer;
  std::map<std::string, std::uint32_t> reasons;
  for (std::uint32_t i = 0; i < run.slots.size(); ++i) {
    const bool asked = command.host && (*run.targets)[i].host == *command.host;
    if (command.host && !asked) continue;
    if (IsFinal(run.slots[i].state) && !asked) continue;
    std::string because = WhyWaiting(turn.state, run, i, turn.now);
    if (answer.waiting.size() < kMostLines)
      answer.waiting.push_back({(*run.targets)[i].name, run.slots[i].state, because});
    ++reasons[std::move(because)];
  }
  for (const auto& [reason, count] : reasons)
    answer.summary.push_back(
        fmt::format("{} {}: {}", count, count == 1 ? "host" : "hosts", reason));
  turn.Answer(command.caller, std::move(answer));
}

}  // namespace muster::engine
