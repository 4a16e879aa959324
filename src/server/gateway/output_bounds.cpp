#include "server/gateway/output_bounds.hpp"

#include <algorithm>
#include <limits>

namespace muster::server {
namespace {

// Of a task whose quota is known no more, as its run ended long ago, or of an older leader.
constexpr std::uint64_t kNoBound = std::numeric_limits<std::uint64_t>::max();

}  // namespace

void OutputBounds::Begin(const link::Welcome& welcome) {
  tasks_.clear();
  for (const auto& answer : welcome.answers)
    if (answer.verb != link::Verb::kForget)
      tasks_[answer.task] = {.next = answer.durable_offset,
                             .most = answer.max_output.value_or(kNoBound)};
}

void OutputBounds::Add(const link::Order& order) {
  tasks_.try_emplace(order.task, Room{.next = 0, .most = order.command->max_output});
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
