#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <utility>

#include "sim/world.hpp"

namespace muster::sim {

// A running program's hold on the world: what it has planned happens while it lives, and waits
// while it is frozen. A frozen program (SIGSTOP, a machine that swaps) goes on exactly where it
// was: what came meanwhile is taken up in order, what it was about to say is said late.
class Life {
 public:
  explicit Life(World& world) : world_(world) {}

  // `work` is the program's own: a timer, a frame that arrived, an answer.
  void Later(std::int64_t delay, std::function<void()> work) {
    world_.After(delay, [state = state_, work = std::move(work)] {
      if (!state->alive) return;
      if (state->frozen)
        state->backlog.push_back(work);
      else
        work();
    });
  }

  void End() { state_->alive = false; }
  bool Alive() const { return state_->alive; }
  bool Frozen() const { return state_->frozen; }

  void Freeze() { state_->frozen = true; }
  // Freezes at the next moment the program called dangerous: between a look at its clock and what
  // it does upon it.
  void FreezeInMidst() { state_->in_midst = true; }
  // Such a moment. True: `rest` happens when the program goes on.
  bool StopsHere(std::function<void()> rest) {
    if (!std::exchange(state_->in_midst, false)) return false;
    state_->frozen = true;
    state_->backlog.push_front(std::move(rest));
    return true;
  }
  void Continue() {
    state_->in_midst = false;
    if (!std::exchange(state_->frozen, false)) return;
    for (auto& work : std::exchange(state_->backlog, {})) Later(0, std::move(work));
  }

 private:
  struct State {
    bool alive = true;
    bool frozen = false;
    bool in_midst = false;
    std::deque<std::function<void()>> backlog;
  };
  World& world_;
  std::shared_ptr<State> state_ = std::make_shared<State>();  // shared with what is planned
};

}  // namespace muster::sim
