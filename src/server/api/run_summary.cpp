#include "server/api/run_summary.hpp"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include <boost/json.hpp>

#include "base/text.hpp"
#include "domain/wrap_batched.hpp"
#include "server/api/views.hpp"

namespace muster::server::api {
namespace {

namespace json = boost::json;

constexpr std::size_t kMostShortTitle = 200;
constexpr std::size_t kMostName = 100;
constexpr std::size_t kMostShortReason = 300;

int InterestOf(StageState state) {
  switch (state) {
    case StageState::kRunning:
    case StageState::kPaused:
    case StageState::kAwaitingApproval:
      return 0;
    case StageState::kFailed:
    case StageState::kTimedOut:
    case StageState::kCancelled:
      return 1;
    case StageState::kSucceeded:
      return 2;
    case StageState::kWaiting:
    case StageState::kSkipped:
      return 3;
  }
  return 3;
}

struct Batches {
  std::uint32_t all = 0;           // 0 without batches
  std::uint32_t hosts_before = 0;  // in batches before the current one
};

// Of the last visit, as its plan has them.
Batches BatchesOf(const Run& run, std::uint32_t index) {
  const StageProgress& stage = run.stages[index];
  if (index >= run.spec.stages.size() || stage.batch == 0 || stage.visits > 1) return {};
  const BatchPlan& plan = run.spec.stages[index].batches;
  if (plan.Empty()) return {};
  Batches batches;
  for (std::uint64_t begin = 0; begin < stage.hosts; ++batches.all) {
    if (batches.all + 1 == stage.batch) batches.hosts_before = static_cast<std::uint32_t>(begin);
    begin += plan.Size(batches.all, run.hosts);
  }
  return batches;
}

// Whether another stage holds it.
bool IsInner(const Run& run, std::uint32_t index) {
  return index < run.spec.stages.size() && run.spec.stages[index].parent;
}

json::object StageLine(const Run& run, std::uint32_t index, const TaskCounts& counts,
                       RunState run_state) {
  const StageProgress& stage = run.stages[index];
  const Batches batches = BatchesOf(run, index);
  json::object line{{"name", Clipped(stage.name, kMostName)},
                    {"state", Name(ShownStage(stage, run_state))},
                    {"visits", stage.visits},
                    {"hosts", stage.hosts},
                    {"batch", stage.batch},
                    {"batches", batches.all},
                    {"hosts_before", batches.hosts_before},
                    {"started", TimeView(stage.started)},
                    {"ended", TimeView(stage.ended)},
                    {"counts", CountsView(counts)}};
  if (auto reason = ReasonOfStage(stage, run_state); !reason.empty())
    line["reason"] = Clipped(std::move(reason), kMostShortReason);
  if (IsInner(run, index))
    line["parent"] = Clipped(run.stages[*run.spec.stages[index].parent].name, kMostName);
  return line;
}

// Adds to `view` the stages that fit into what is left of the room.
void AddStages(const Run& run, const std::vector<TaskCounts>& counts, RunState state,
               json::object& view) {
  const auto shown = [&](std::uint32_t index) { return ShownStage(run.stages[index], state); };
  const auto written = StagesAsWritten(run);
  auto order = written;
  std::ranges::sort(order, {}, [&](const WrittenStage& stage) {
    return std::pair(InterestOf(shown(stage.stage)), stage.stage);
  });
  std::map<std::uint32_t, json::object> fitting;
  std::map<std::string, std::uint32_t> left_out;
  std::size_t room = kMostSummary - std::min(kMostSummary, json::serialize(view).size() + 600);
  bool full = false;
  for (const auto& [i, work] : order) {
    if (!full) {
      json::object line = StageLine(run, i, counts[work], state);
      const std::size_t size = json::serialize(line).size() + 1;
      full = size > room;
      if (!full) {
        room -= size;
        fitting.emplace(i, std::move(line));
        continue;
      }
    }
    ++left_out[std::string(Name(shown(i)))];
  }
  json::array stages;
  for (auto& [index, line] : fitting) stages.push_back(std::move(line));
  json::object rest;
  for (const auto& [name, count] : left_out) rest[name] = count;
  view["stages"] = std::move(stages);
  view["stages_total"] = written.size();
  view["stages_left_out"] = std::move(rest);
  std::uint32_t outer = 0;
  std::uint32_t ended = 0;
  for (const auto& [i, work] : written) {
    if (IsInner(run, i)) continue;
    ++outer;
    if (IsFinal(shown(i))) ++ended;
  }
  view["outer"] = json::object{{"total", outer}, {"ended", ended}};
}

// Who wished it, when and why.
template <typename Wish>
json::value WishView(const std::optional<Wish>& wish) {
  if (!wish) return nullptr;
  return json::object{{"by", Clipped(wish->by, kMostName)},
                      {"at", TimeView(wish->at)},
                      {"reason", Clipped(wish->reason, kMostShortReason)}};
}

}  // namespace

std::string Clipped(std::string text, std::size_t most) {
  CutText(text, most);
  return text;
}

json::object SummaryView(const Run& run, const std::optional<LiveView::RunView>& live,
                         std::uint32_t logs_open, CommitNumber commit) {
  const RunState state = live ? live->state : run.state;
  const TaskCounts counts = live ? live->counts : run.counts;
  TaskCounts tasks;
  std::vector<TaskCounts> by_stage;
  for (std::uint32_t i = 0; i < run.stages.size(); ++i) {
    by_stage.push_back(StageCounts(run, i, live));
    for (std::size_t k = 0; k < kTaskStates; ++k) tasks.by_state[k] += by_stage.back().by_state[k];
  }
  json::object view{{"id", FormatRunId(run.id)},
                    {"state", Name(state)},
                    {"title", Clipped(run.spec.title, kMostShortTitle)},
                    {"targets", Clipped(run.spec.targets, kMostShortReason)},
                    {"job", Clipped(run.spec.job, kMostName)},
                    {"version", run.spec.version},
                    {"pass", run.pass},
                    {"by", Clipped(run.by, kMostName)},
                    {"created", TimeView(run.created)},
                    {"ended", TimeView(run.ended)},
                    {"reason", Clipped(run.reason, kMostShortReason)},
                    {"stop", WishView(run.stop)},
                    {"pause", WishView(run.pause)},
                    {"hosts", run.hosts},
                    {"counts", CountsView(counts)},
                    {"tasks", CountsView(tasks)},
                    {"logs_open", logs_open},
                    {"exit_code", ExitCodeOf(counts)},
                    {"commit", live ? live->commit.value : commit.value}};
  AddStages(run, by_stage, state, view);
  return view;
}

}  // namespace muster::server::api
