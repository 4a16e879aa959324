#pragma once

#include <string_view>
#include <type_traits>

#include "sim/servers.hpp"
#include "sim/truth.hpp"
#include "sim/world.hpp"

namespace muster::sim {

// A person who looks at runs now and then: answers what waits, resumes, retries or skips what is
// paused, pauses and stops what runs, the runs of stages by themselves too. Toward the end of a
// history only what brings runs to their end.
class SimOperator {
 public:
  SimOperator(World& world, Truth& truth, Servers& server)
      : world_(world), truth_(truth), server_(server) {}

  void Work();
  void OnlyFinish() { finishing_ = true; }
  // Whether every run has ended, and whoever was to be told of it was.
  bool AllOver();

 private:
  void Look(const Run& run);
  void Interfere(const Run& run);
  void Pause(const Run& run);
  void Stop(const Run& run);
  void Steer(const Run& run);
  void Retry(const Run& run);

  template <typename Command>
  void Wish(Command command, RunId run) {
    command.run = run;
    command.caller.name = "operator";
    world_.After(world_.Delay(5, 1000), [this, command] {
      const auto act = truth_.courses().ActsOn(command.run);
      server_.Ask(command,
                  [this, act, run = command.run, name = NameOf(command)](const auto& answer) {
                    truth_.courses().Answered(run, act);
                    if (answer && std::is_same_v<Command, engine::PauseRun>)
                      truth_.courses().PauseAnswered(run);
                    if (answer && std::is_same_v<Command, engine::StopRun>)
                      truth_.StopAnswered(run);
                    world_.Trace("operator, {}: {} {}", FormatRunId(run), name,
                                 answer ? "done" : answer.error().message);
                  });
    });
  }
  static std::string_view NameOf(const engine::PauseRun&) { return "pause"; }
  static std::string_view NameOf(const engine::ResumeRun&) { return "resume"; }
  static std::string_view NameOf(const engine::StopRun&) { return "stop"; }
  static std::string_view NameOf(const engine::RetryRun&) { return "retry"; }
  static std::string_view NameOf(const engine::SkipStage&) { return "skip"; }
  static std::string_view NameOf(const engine::AnswerApproval&) { return "answer"; }

  World& world_;
  Truth& truth_;
  Servers& server_;
  bool finishing_ = false;
};

}  // namespace muster::sim
