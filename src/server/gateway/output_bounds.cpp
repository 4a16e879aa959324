#include "server/gateway/output_bounds.hpp"

#include <algorithm>
#include <limits>
#include <optional>

namespace muster::server {
namespace {

// Of a task whose quota is known no more, as its run ended long ago, or of an older leader.
constexpr std::uint64_t kNoBound = std::numeric_limits<std::uint64_t>::max();

}  // namespace

void OutputBounds::Note(const link::ServerFrame& told) {
  if (told.welcome) {
    tasks_.clear();
    for (const auto& answer : told.welcome->answers)
      if (answer.verb != link::Verb::kForget)
        tasks_[answer.task] = {.next = answer.durable_offset,
                               .most = answer.max_output.value_or(kNoBound)};
  }
  for (const auto& order : told.orders)
    tasks_.try_emplace(order.task, Room{.next = 0, .most = order.command->max_output});
  for (const auto& task : told.forgets) tasks_.erase(task);
}

Result<> OutputBounds::Sift(HostId host, std::vector<LogChunk>& chunks) {
  std::optional<TaskKey> past_quota;
  std::erase_if(chunks, [&](const LogChunk& chunk) {
    if (chunk.task.host != host) return false;
    const Verdict verdict = Judge(chunk);
    if (verdict == Verdict::kTooMuch) past_quota = chunk.task;
    return verdict != Verdict::kTake;
  });
  if (!past_quota) return {};
  return Fail(ErrorCode::kDenied, "the node sends more output of {} than the task may have",
              FormatTaskKey(*past_quota));
}

OutputBounds::Verdict OutputBounds::Judge(const LogChunk& chunk) {
  const auto found = tasks_.find(chunk.task);
  if (found == tasks_.end()) return Verdict::kLeaveOut;
  Room& room = found->second;
  if (chunk.offset > room.next) return Verdict::kLeaveOut;
  const std::uint64_t end = chunk.offset + chunk.data.size();
  if (end > room.most) return Verdict::kTooMuch;
  room.next = std::max(room.next, end);
  return Verdict::kTake;
}

}  // namespace muster::server
