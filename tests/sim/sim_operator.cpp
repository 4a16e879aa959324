#include "sim/sim_operator.hpp"

namespace muster::sim {

bool SimOperator::AllOver() {
  for (const auto& run : *server_.store().ListRuns({}, {}, 1000))
    if (!IsFinal(run.state)) return false;
  // A channel that failed several times is tried again a quarter of an hour later.
  const auto now = server_.store().Load(server_.store().ReadFence()->term);
  return now && now->notices.empty();
}

void SimOperator::Work() {
  for (const auto& run : *server_.store().ListRuns({}, {}, 1000)) Look(run);
  world_.After(world_.Between(2000, 9000), [this] { Work(); });
}

void SimOperator::Look(const Run& run) {
  const bool is_job = !run.spec.job.empty();
  for (const auto& visit : *server_.store().ListVisits(run.id, {}, 1'000'000))
    if (visit.state == StageState::kAwaitingApproval && world_.Chance(0.5))
      Wish(engine::AnswerApproval{.caller = {},
                                  .run = {},
                                  .stage = visit.name,
                                  .approved = world_.Chance(0.8),
                                  .comment = {}},
           run.id);
  // A run that a stage started is often left as it is, also while the one above it goes on.
  const double resumes = run.parent ? 0.15 : 0.5;
  if (run.state == RunState::kPaused && (finishing_ || world_.Chance(resumes))) return Steer(run);
  if (finishing_ || !is_job) return;
  if (run.state == RunState::kRunning) Interfere(run);
  if (run.state == RunState::kRunning && world_.Chance(0.03))
    Wish(engine::SkipStage{.caller = {},
                           .run = {},
                           .stage =
                               run.stages[static_cast<std::size_t>(world_.Between(
                                              0, static_cast<std::int64_t>(run.stages.size()) - 1))]
                                   .name,
                           .reason = {}},
         run.id);
  if (IsFinal(run.state) && run.state != RunState::kSucceeded && run.pass < 4 &&
      world_.Chance(0.15))
    Retry(run);
}

void SimOperator::Interfere(const Run& run) {
  if (world_.Chance(0.08)) Pause(run);
  if (world_.Chance(0.02)) Stop(run);
  if (!run.parent || !world_.Chance(0.1)) return;
  // The run, then the one above it; which soon goes on.
  const auto parent = server_.store().FindRun(run.parent);
  if (!parent->value || parent->value->state != RunState::kRunning) return;
  Pause(run);
  world_.After(world_.Between(1500, 4000), [this, above = *parent->value] { Pause(above); });
  world_.After(world_.Between(6000, 20'000),
               [this, above = run.parent] { Wish(engine::ResumeRun{}, above); });
}

void SimOperator::Pause(const Run& run) {
  const bool release = !run.spec.limits.empty() && world_.Chance(0.5);
  Wish(engine::PauseRun{.caller = {}, .run = {}, .release = release, .reason = "sim"}, run.id);
}

void SimOperator::Stop(const Run& run) {
  Wish(engine::StopRun{.caller = {},
                       .run = {},
                       .host = {},
                       .grace = Duration(world_.Between(0, 3000)),
                       .reason = "sim",
                       .known = *server_.store().FindRun(run.id)},
       run.id);
}

void SimOperator::Steer(const Run& run) {
  if (!finishing_ && world_.Chance(0.4)) return Retry(run);
  // Of two that gave a key back, each may have what the other one needs.
  if (finishing_ && world_.Chance(0.03)) return Stop(run);
  Wish(engine::ResumeRun{}, run.id);
}

void SimOperator::Retry(const Run& run) {
  engine::RetryRun retry;
  retry.known = *server_.store().ReadWholeRun(run.id);
  if (world_.Chance(0.2)) retry.from_start = true;
  if (world_.Chance(0.2)) retry.all_hosts = true;
  Wish(std::move(retry), run.id);
}

}  // namespace muster::sim
