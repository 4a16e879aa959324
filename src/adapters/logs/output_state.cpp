#include "adapters/logs/output_state.hpp"

namespace muster::logs {

void OutputState::Extend(const LogChunk& chunk) {
  if (chunk.offset > end_) {
    ahead = true;
    return;
  }
  const std::uint64_t known = end_ - chunk.offset;
  if (known >= chunk.data.size()) return;
  auto& hash = chunk.stream == Stream::kStdout ? out_ : err_;
  if (!hash) hash.emplace();
  hash->Add(std::string_view(chunk.data).substr(known));
  end_ = chunk.offset + chunk.data.size();
}

OutputState* OutputStates::Find(const TaskKey& task) {
  const auto found = entries_.find(task);
  return found == entries_.end() ? nullptr : &found->second.state;
}

std::pair<OutputState*, bool> OutputStates::Take(const TaskKey& task) {
  const auto found = entries_.find(task);
  if (found != entries_.end()) {
    order_.splice(order_.begin(), order_, found->second.place);
    return {&found->second.state, false};
  }
  if (entries_.size() >= most_) Drop(TaskKey(order_.back()));
  order_.push_front(task);
  auto [added, made] = entries_.emplace(task, Entry{{}, order_.begin()});
  return {&added->second.state, true};
}

void OutputStates::Drop(const TaskKey& task) {
  const auto found = entries_.find(task);
  if (found == entries_.end()) return;
  order_.erase(found->second.place);
  entries_.erase(found);
}

}  // namespace muster::logs
