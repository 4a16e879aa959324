#pragma once

#include "sim/servers.hpp"
#include "sim/world.hpp"

namespace muster::sim {

// A person who looks at runs now and then: answers what waits, resumes, retries or skips what is
// paused, pauses what runs. Toward the end of a history only what brings runs to their end.
class SimOperator {
 public:
  SimOperator(World& world, Servers& server) : world_(world), server_(server) {}

  void Work();
  void OnlyFinish() { finishing_ = true; }
  // Whether every run has ended, and whoever was to be told of it was.
  bool AllOver();

 private:
  void Look(const Run& run);
  void Steer(const Run& run);
  void Retry(const Run& run);

  template <typename Command>
  void Wish(Command command, RunId run) {
    command.run = run;
    command.caller.name = "operator";
    world_.After(world_.Delay(5, 1000), [this, command] {
      server_.Ask(command, [this, run = command.run](Result<engine::Answer> answer) {
        world_.Trace("operator, {}: {}", FormatRunId(run),
                     answer ? "done" : answer.error().message);
      });
    });
  }

  World& world_;
  Servers& server_;
  bool finishing_ = false;
};

}  // namespace muster::sim
