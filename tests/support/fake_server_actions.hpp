#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "adapters/egress/answer.hpp"
#include "adapters/egress/destinations.hpp"
#include "adapters/egress/places.hpp"
#include "adapters/egress/request.hpp"
#include "adapters/egress/rules.hpp"
#include "ports/server_actions.hpp"

namespace muster {

// ServerActions without a network: answers come from a function, and nothing happens but in Step.
// Judges answers as the real adapter does.
class FakeServerActions final : public ServerActions {
 public:
  // The answer to a request; nothing: it never comes.
  using World = std::function<std::optional<outside::Answer>(const outside::Request&)>;

  // `address` is what every name resolves to.
  FakeServerActions(World world, outside::Rules rules, outside::Address address)
      : world_(std::move(world)), rules_(std::move(rules)), address_(address) {}
  ~FakeServerActions() override { Stop(); }

  void Start(const TaskKey& task, ServerAction action, Done done) override {
    Open open{.task = task,
              .destination = outside::DestinationOf(action),
              .action = std::move(action),
              .done = std::move(done)};
    if (stopped_) return End(std::move(open), {.state = TaskState::kSkipped, .reason = "stopping"});
    destinations_.Expect(open.destination);
    open_.push_back(std::move(open));
  }

  void Cancel(const TaskKey& task) override {
    if (auto open = Take(task)) {
      const TaskState state = open->sent ? TaskState::kKilled : TaskState::kSkipped;
      End(std::move(*open), {.state = state, .reason = "stopped"});
    }
  }

  void Stop() override {
    stopped_ = true;
    while (!open_.empty()) {
      const TaskState state = open_.front().sent ? TaskState::kLost : TaskState::kSkipped;
      Open open = std::move(open_.front());
      open_.pop_front();
      End(std::move(open), {.state = state, .reason = "the server stopped"});
    }
  }

  // Sends the one whose turn it is, and ends it if its answer comes. False: there is none.
  bool Step() {
    outside::NextPlace next(destinations_);
    for (const auto& open : open_)
      if (open.sent) next.AddUnderWay(outside::UseOf(open.task, open.action), open.destination);
    Open* chosen = nullptr;
    for (auto& open : open_)
      if (!open.sent && next.Offer(outside::UseOf(open.task, open.action), open.destination))
        chosen = &open;
    if (chosen == nullptr) return false;
    chosen->sent = true;
    destinations_.Begin(chosen->destination);
    Send(chosen->task);
    return true;
  }
  // Runs out the time of the oldest that was sent and not answered. False: there is none.
  bool Expire() {
    const auto found = std::ranges::find(open_, true, &Open::sent);
    if (found == open_.end()) return false;
    destinations_.End(found->destination, outside::Destinations::kSlow, false);
    End(*Take(found->task), {.state = TaskState::kTimedOut, .reason = "timed out"});
    return true;
  }

  std::vector<TaskKey> UnderWay() const {
    std::vector<TaskKey> tasks;
    for (const auto& open : open_)
      if (open.sent) tasks.push_back(open.task);
    return tasks;
  }

 private:
  struct Open {
    TaskKey task;
    std::string destination;
    ServerAction action;
    Done done;
    bool sent = false;
  };

  void Send(const TaskKey& task) {
    const Open& open = *std::ranges::find(open_, task, &Open::task);
    const auto request = outside::MakeRequest(task, open.action, {});
    Result<> allowed = request ? rules_.Check(request->url, address_) : Fail(request.error());
    if (!allowed)
      return End(*Take(task), {.state = TaskState::kRefused, .reason = allowed.error().message});
    auto answer = world_(*request);
    if (!answer) return;
    ServerOutcome outcome;
    if (answer->body.size() > ServerOutcome::kMostAnswer)
      outcome = {.reason = "the answer is too large", .status = answer->status};
    else
      outcome = Judge(open.action, *request, answer->status, std::move(answer->body));
    End(*Take(task), std::move(outcome));
  }

  std::optional<Open> Take(const TaskKey& task) {
    const auto found = std::ranges::find(open_, task, &Open::task);
    if (found == open_.end()) return std::nullopt;
    Open open = std::move(*found);
    open_.erase(found);
    return open;
  }

  static void End(Open open, ServerOutcome outcome) {
    outside::Clean(outcome, open.action.masks);
    open.done(std::move(outcome));
  }

  World world_;
  outside::Rules rules_;
  outside::Address address_;
  std::deque<Open> open_;
  outside::Destinations destinations_;
  bool stopped_ = false;
};

}  // namespace muster
