#include "server/leading/owed_answers.hpp"

#include <utility>

namespace muster::server {

RequestId OwedAnswers::Owe(OnAnswer on_answer, MonoTime until) {
  const RequestId request(next_++);
  waiting_[request] = {std::move(on_answer), until};
  return request;
}

OwedAnswers::OnAnswer OwedAnswers::Take(RequestId request) {
  const auto found = waiting_.find(request);
  if (found == waiting_.end()) return {};
  OnAnswer on_answer = std::move(found->second.on_answer);
  waiting_.erase(found);
  return on_answer;
}

std::vector<OwedAnswers::OnAnswer> OwedAnswers::TakeLate(MonoTime now) {
  std::vector<OnAnswer> late;
  while (!waiting_.empty() && NextLate() <= now) late.push_back(Take(waiting_.begin()->first));
  return late;
}

std::vector<OwedAnswers::OnAnswer> OwedAnswers::TakeAll() {
  std::vector<OnAnswer> all;
  for (auto& [request, waiting] : std::exchange(waiting_, {}))
    all.push_back(std::move(waiting.on_answer));
  return all;
}

MonoTime OwedAnswers::NextLate() const noexcept {
  return waiting_.empty() ? kNever : waiting_.begin()->second.until;
}

}  // namespace muster::server
