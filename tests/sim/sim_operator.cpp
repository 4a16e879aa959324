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
  const bool is_job = run.stages.size() > 1;
  for (const auto& visit : *server_.store().ListVisits(run.id, {}, 1'000'000))
    if (visit.state == StageState::kAwaitingApproval && world_.Chance(0.5))
      Wish(engine::AnswerApproval{.caller = {},
                                  .run = {},
                                  .stage = visit.name,
                                  .approved = world_.Chance(0.8),
                                  .comment = {}},
           run.id);
  if (run.state == RunState::kPaused && (finishing_ || world_.Chance(0.5))) return Steer(run);
  if (finishing_ || !is_job) return;
  if (run.state == RunState::kRunning && world_.Chance(0.08))
    Wish(engine::PauseRun{.caller = {}, .run = {}, .release = false, .reason = "sim"}, run.id);
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

void SimOperator::Steer(const Run& run) {
  if (!finishing_ && world_.Chance(0.4)) return Retry(run);
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
