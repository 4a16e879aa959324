#include "sim/triggers/words.hpp"

#include <fmt/format.h>

#include "domain/condition.hpp"

namespace muster::sim {
namespace {

std::map<std::string, std::string> WithoutConditions(std::map<std::string, std::string> data) {
  std::erase_if(data, [](const auto& item) { return item.first.starts_with(kConditionData); });
  return data;
}

}  // namespace

std::vector<std::string> Words::Take(const Batch& batch) {
  ended_.clear();
  crowded_.clear();
  std::map<std::string, Trigger> rows;
  for (const auto& change : batch.changes) {
    if (const auto* run = std::get_if<PutRun>(&change); run && !run->run.trigger.empty())
      TakeRun(run->run);
    if (const auto* task = std::get_if<PutTask>(&change); task && task->task.end)
      if (const auto open = open_.find(task->task.key.run); open != open_.end())
        for (const auto& [name, value] : task->task.end->outputs) open->second.said[name] = value;
    if (const auto* put = std::get_if<PutTrigger>(&change))
      rows[put->trigger.spec.name] = put->trigger;
  }
  // Ends come after everything that the batch says of the run.
  for (const auto& change : batch.changes) {
    const auto* run = std::get_if<PutRun>(&change);
    if (run == nullptr || !IsFinal(run->run.state)) continue;
    const auto open = open_.find(run->run.id);
    if (open == open_.end()) continue;
    End(run->run, open->second);
    open_.erase(open);
  }
  for (const auto& [name, row] : rows) Compare(name, row, ended_.contains(name));
  return std::exchange(broken_, {});
}

void Words::TakeRun(const Run& run) {
  if (IsFinal(run.state) || open_.contains(run.id)) return;
  Open made{.trigger = run.trigger, .said = {}};
  for (auto& [id, open] : open_) {
    if (open.trigger != run.trigger) continue;
    open.alone = false;
    made.alone = false;
  }
  open_.emplace(run.id, std::move(made));
}

void Words::End(const Run& run, const Open& open) {
  if (open.restored) return;
  ended_.insert(open.trigger);
  if (!open.alone) crowded_.insert(open.trigger);
  Life& life = lives_[open.trigger];
  bool spoke = false;
  for (const auto& [name, value] : open.said) {
    constexpr std::string_view kData = "muster.data.";
    if (name == "muster.status") life.status = value;
    if (name.starts_with(kData)) {
      life.data[name.substr(kData.size())] = value;
      if (value.empty()) life.data.erase(name.substr(kData.size()));
    }
    spoke = spoke || name.starts_with("muster.");
  }
  if (spoke) ++taken;
  TakeChange(run, open, life);
}

void Words::TakeChange(const Run& run, const Open& open, Life& life) {
  const auto changed = open.said.find("changed");
  if (changed == open.said.end() || changed->second != "true") return;
  if (run.state != RunState::kSucceeded) return;
  ++changes;
  if (!open.alone) return;  // what counts of several is in the row
  const bool fires = open.said.at("state") == Name(ConditionState::kFiring);
  if (fires == life.fires)
    broken_.push_back(fmt::format("{}: run {} told once more that it is {}", open.trigger,
                                  FormatRunId(run.id), fires ? "firing" : "over"));
  life.fires = fires;
}

void Words::Compare(const std::string& name, const Trigger& row, bool ended) {
  Life& life = lives_[name];
  const bool revived = life.dropped && !row.dropped;
  life.dropped = row.dropped;
  if (revived) {
    // A new life begins with nothing; what a run of the old one says at that moment may be lost.
    life.fires = false;
    for (auto& [id, open] : open_)
      if (open.trigger == name) open.alone = false;
    if (!ended) life.data.clear();
    if (!ended) life.status.clear();
  }
  if (crowded_.contains(name))
    life.fires = ReadMemory(row.data, "check").state == ConditionState::kFiring;
  const auto data = WithoutConditions(row.data);
  if (!(revived && ended) && (data != life.data || row.status != life.status))
    broken_.push_back(fmt::format("{}: carries {} names and status '{}', its runs said {} and '{}'",
                                  name, data.size(), row.status, life.data.size(), life.status));
  life.data = data;
  life.status = row.status;
}

void Words::Restore() {
  for (auto& [id, open] : open_) open.restored = true;
}

}  // namespace muster::sim
