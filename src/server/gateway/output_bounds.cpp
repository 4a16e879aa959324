#include "server/gateway/output_bounds.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "server/gateway/frame_check.hpp"

namespace muster::server {

void OutputBounds::Expect(const OutputRooms& rooms) {
  // Those of earlier Hellos stay, as their Welcome may still be on its way.
  if (expected_.size() > 2 * kMostHeldTasks) expected_.clear();
  for (const auto& [task, room] : rooms) expected_.insert_or_assign(task, room);
}

bool OutputBounds::Note(const link::ServerFrame& told) {
  if (told.welcome) {
    tasks_.clear();
    for (const auto& answer : told.welcome->answers) {
      if (answer.verb == link::Verb::kForget) continue;
      Room room{.next = answer.durable_offset, .most = answer.max_output.value_or(0)};
      if (!answer.max_output) {
        const auto expected = expected_.find(answer.task);
        if (expected == expected_.end()) return false;
        room.wanted = expected->second.has_value();
        room.most = expected->second.value_or(0);
        room.over = true;
      }
      tasks_[answer.task] = room;
    }
  }
  for (const auto& order : told.orders)
    tasks_.try_emplace(order.task, Room{.next = 0, .most = order.command->max_output});
  for (const auto& task : told.forgets) tasks_.erase(task);
  return true;
}

Result<std::vector<link::LogAck>> OutputBounds::Sift(HostId host, std::vector<LogChunk>& chunks) {
  std::optional<TaskKey> past_quota;
  std::vector<link::LogAck> unwanted;
  std::erase_if(chunks, [&](LogChunk& chunk) {
    if (chunk.task.host != host) return false;
    const Verdict verdict = Judge(chunk);
    if (verdict == Verdict::kTooMuch) past_quota = chunk.task;
    if (verdict == Verdict::kAcknowledge) {
      if (unwanted.empty() || unwanted.back().task != chunk.task)
        unwanted.push_back({chunk.task, 0});
      unwanted.back().offset = chunk.offset + chunk.data.size();
    }
    return verdict != Verdict::kTake;
  });
  if (!past_quota) return unwanted;
  return Fail(ErrorCode::kDenied, "the node sends more output of {} than the task may have",
              FormatTaskKey(*past_quota));
}

OutputBounds::Verdict OutputBounds::Judge(LogChunk& chunk) {
  const auto found = tasks_.find(chunk.task);
  if (found == tasks_.end()) return Verdict::kLeaveOut;
  Room& room = found->second;
  if (!room.wanted) return Verdict::kAcknowledge;
  const std::uint64_t end = chunk.offset + chunk.data.size();
  if (room.over && end > room.most) return Verdict::kAcknowledge;
  if (chunk.offset > room.next) return Verdict::kLeaveOut;
  if (end > room.most) return Verdict::kTooMuch;
  // What is left may be empty: its end is acknowledged all the same.
  if (const std::uint64_t known = std::min(end, room.next) - chunk.offset; known > 0) {
    chunk.data.erase(0, known);
    chunk.offset += known;
  }
  room.next = std::max(room.next, end);
  return Verdict::kTake;
}

void OutputBounds::DropTotals(std::vector<link::Report>& reports) {
  for (auto& report : reports) {
    if (!report.log && !(report.end && report.end->log)) continue;
    const auto found = tasks_.find(report.task);
    if (found != tasks_.end() && found->second.wanted &&
        !std::exchange(found->second.totalled, true))
      continue;
    report.log.reset();
    if (report.end) report.end->log.reset();
  }
}

}  // namespace muster::server
