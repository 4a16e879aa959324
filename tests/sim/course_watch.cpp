#include "sim/course_watch.hpp"

#include <algorithm>

namespace muster::sim {
namespace {

// An order that was on its way is begun up to `start_by` later, by clocks that may be a little
// fast.
constexpr std::int64_t kOnItsWay = 10'000 + 100;
// An act that was not answered reaches nobody after this.
constexpr std::int64_t kActLives = 60'000;

}  // namespace

void CourseWatch::RunWritten(const Run& run) {
  const auto before = runs_.find(run.id);
  const bool is_new = before == runs_.end();
  const bool next_pass = !is_new && run.pass > before->second.pass;
  const bool paused_before = !is_new && before->second.pause && !next_pass;
  const bool stopped_before = !is_new && before->second.stop && !next_pass;
  if (is_new && stopped_.contains(run.parent))
    throw Violation(fmt::format("{} was started by {} after that was stopped", FormatRunId(run.id),
                                FormatRunId(run.parent)));
  if (next_pass) stopped_.erase(run.id);
  if (next_pass) still_.erase(run.id);
  const bool other_pause = !is_new && before->second.pause != run.pause;
  runs_[run.id] = run;
  if (other_pause)
    world_.Trace("on record: {} is {}", FormatRunId(run.id),
                 run.pause ? fmt::format("paused by {} at {}", run.pause->by, run.pause->at.ms)
                           : "not paused");
  if (run.stop && !stopped_before) Stop(run);
  if (run.pause && run.pause->by == kByLimit && !paused_before) StandsStill(run.id);
}

// Itself and all that is open below it, whether it waits for that or not.
void CourseWatch::Stop(const Run& run) {
  stopped_.try_emplace(run.id, world_.Now());
  for (const auto& [id, other] : runs_)
    if (!IsFinal(other.state) && std::ranges::find(other.above, run.id) != other.above.end())
      stopped_.try_emplace(id, world_.Now());
}

void CourseWatch::StandsStill(RunId run) {
  auto& open = acts_[run];
  std::erase_if(open, [&](const auto& act) { return act.second + kActLives < world_.Now(); });
  if (open.empty()) still_.try_emplace(run, world_.Now());
}

void CourseWatch::Starts(const TaskKey& task) {
  const auto check = [&](const std::map<RunId, std::int64_t>& since, const char* what) {
    const auto found = since.find(task.run);
    if (found != since.end() && world_.Now() > found->second + kOnItsWay)
      throw Violation(fmt::format("{} began {} ms after {}", FormatTaskKey(task),
                                  world_.Now() - found->second, what));
  };
  check(stopped_, "its run, or one above it, was stopped");
  check(still_, "its run was paused for a reason of its own; nobody has steered it since");
}

CourseWatch::Act CourseWatch::ActsOn(RunId run) {
  still_.erase(run);
  acts_[run][next_act_] = world_.Now();
  return next_act_++;
}

void CourseWatch::Answered(RunId run, Act act) { acts_[run].erase(act); }

// Paused together with a run above it, it goes on with that one.
void CourseWatch::PauseAnswered(RunId id) {
  const auto found = runs_.find(id);
  if (found == runs_.end() || !found->second.pause) return;
  const Pause& pause = *found->second.pause;
  const bool with_another = std::ranges::any_of(found->second.above, [&](RunId above) {
    const auto run = runs_.find(above);
    return run != runs_.end() && run->second.pause && run->second.pause->by == pause.by &&
           run->second.pause->at == pause.at;
  });
  if (!with_another) StandsStill(id);
}

std::optional<std::int64_t> CourseWatch::StoppedSince(RunId run) const {
  const auto found = stopped_.find(run);
  if (found == stopped_.end()) return std::nullopt;
  return found->second;
}

void CourseWatch::Forget() {
  runs_.clear();
  stopped_.clear();
  still_.clear();
  acts_.clear();
}

}  // namespace muster::sim
