#pragma once

#include <vector>

#include "engine/command.hpp"
#include "engine/effects.hpp"
#include "engine/state.hpp"

namespace muster::engine {

// Decides: commands in, changes and effects out. Pure: the clock is handed in, ids are counted,
// there is no I/O. One thread.
class Engine {
 public:
  Engine(Snapshot snapshot, Options options, Now now);

  // Everything a fresh listener must know: tokens, hosts and open runs. Not tied to any batch.
  Effects Announce() const;

  // What the trail must hold before anything else that a new leader does.
  void Begin(Now now, CommitNumber batch, std::vector<Change>& changes, Effects& effects);

  // Decides one command. `batch` is the number of the batch that `changes` will be committed in.
  void Decide(const AnyCommand& command, Now now, CommitNumber batch, std::vector<Change>& changes,
              Effects& effects);

  // Goes on with what is due or unfinished, within one decision's budget. Returns true when there
  // is more to do at once.
  bool Continue(Now now, CommitNumber batch, std::vector<Change>& changes, Effects& effects);

  // News of the runs that changed since the last call, once per batch rather than per task.
  void Summarise(CommitNumber batch, Effects& effects);

  // Until when another leader cannot have begun; orders say that they may not be begun later.
  void LeadUntil(MonoTime until) { state_.lead_until = until; }

  // When Continue should be called next, at the latest.
  MonoTime NextWake() const;

  const State& state() const { return state_; }

 private:
  State state_;
};

}  // namespace muster::engine
