#include "sim/key_watch.hpp"

#include <algorithm>

#include "sim/world.hpp"

namespace muster::sim {
namespace {

TaskKey HolderOf(RunId run) { return {run, {}, 0, {}, {}}; }

std::size_t MostOf(const std::string& key) { return std::stoul(key.substr(key.find('/') + 1)); }

std::string NameOf(const TaskKey& holder) {
  return holder.visit ? FormatTaskKey(holder) : FormatRunId(holder.run);
}

}  // namespace

void KeyWatch::Dropped(const KeyHold& hold) {
  held_[hold.key].erase(hold.task);
  dropped_.insert(hold.key);
}

// The key is held by the run or one above it, or, as that of a lost task is, by the task.
bool KeyWatch::IsCovered(const TaskKey& task, const Under& under) const {
  const auto held = held_.find(under.key);
  if (held == held_.end()) return false;
  const auto holds = [&](const TaskKey& holder) { return held->second.contains(holder); };
  if (holds(task) || holds(HolderOf(task.run))) return true;
  return std::ranges::any_of(runs_.at(task.run).above,
                             [&](RunId above) { return holds(HolderOf(above)); });
}

void KeyWatch::CheckDropped() {
  for (const auto& key : dropped_) {
    const auto at_work = at_work_.find(key);
    if (at_work == at_work_.end()) continue;
    for (const auto& [holder, tasks] : at_work->second)
      for (const TaskKey& task : tasks)
        if (!IsCovered(task, {key, holder}))
          throw Violation(fmt::format("key {} of {} was given back while {} still runs", key,
                                      NameOf(holder), FormatTaskKey(task)));
  }
  dropped_.clear();
}

std::vector<KeyWatch::Under> KeyWatch::KeysOf(const link::Order& order) const {
  std::vector<Under> keys;
  const auto add = [&](const std::vector<KeyLimit>& limits, const TaskKey& holder) {
    for (const auto& limit : limits)
      if (std::ranges::find(keys, limit.key, &Under::key) == keys.end())
        keys.push_back({limit.key, holder});
  };
  const Run& run = runs_.at(order.task.run);
  for (const RunId above : run.above)
    if (const auto found = runs_.find(above); found != runs_.end())
      add(found->second.spec.limits, HolderOf(above));
  add(run.spec.limits, HolderOf(run.id));
  const auto stage = std::ranges::find(run.spec.stages, order.stage, &StageSpec::name);
  if (stage != run.spec.stages.end()) add(stage->limits, order.task);
  return keys;
}

void KeyWatch::Starts(const link::Order& order) {
  auto keys = KeysOf(order);
  for (const auto& under : keys) {
    auto& holders = at_work_[under.key];
    holders[under.holder].insert(order.task);
    if (holders.size() > MostOf(under.key)) {
      std::string names;
      for (const auto& [holder, tasks] : holders)
        names += (names.empty() ? "" : ", ") + NameOf(holder);
      throw Violation(fmt::format("{} began under key {}, with processes of {} at once",
                                  FormatTaskKey(order.task), under.key, names));
    }
    if (!IsCovered(order.task, under))
      throw Violation(fmt::format("{} began, and nothing holds key {} for it",
                                  FormatTaskKey(order.task), under.key));
  }
  working_[order.task] = std::move(keys);
}

void KeyWatch::Ends(const TaskKey& task) {
  const auto found = working_.find(task);
  if (found == working_.end()) return;
  for (const auto& under : found->second) {
    auto& holders = at_work_[under.key];
    holders[under.holder].erase(task);
    if (holders[under.holder].empty()) holders.erase(under.holder);
  }
  working_.erase(found);
}

std::string KeyWatch::Describe() const {
  std::string text;
  for (const auto& [id, run] : runs_)
    if (!IsFinal(run.state))
      text += fmt::format("; {} below {} is {}", FormatRunId(id), FormatRunId(run.parent),
                          Name(run.state));
  for (const auto& [key, holders] : held_)
    for (const TaskKey& holder : holders) text += fmt::format("; {} has {}", NameOf(holder), key);
  return text;
}

void KeyWatch::CheckEnd() const {
  for (const auto& [key, holders] : held_)
    for (const TaskKey& holder : holders)
      throw Violation("key " + key + " is still held by " + NameOf(holder));
}

void KeyWatch::Forget() {
  runs_.clear();
  held_.clear();
  dropped_.clear();
  working_.clear();
  at_work_.clear();
}

}  // namespace muster::sim
