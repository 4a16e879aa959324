#include "server/api/run_tasks.hpp"

#include <algorithm>

namespace muster::server::api {
namespace {

constexpr std::size_t kPage = 2000;

// A row may lag behind what is known now: running has no row of its own, and an attempt that came
// too late has ended while its task waits for the next.
TaskState ShownState(const TaskRecord* record, std::optional<TaskState> live) {
  if (record == nullptr) return live.value_or(TaskState::kWaiting);
  if (live && !IsFinal(*live))
    return IsFinal(record->state) && record->sent && *live != TaskState::kQueued ? record->state
                                                                                 : *live;
  return record->state;
}

}  // namespace

Result<> WalkTasks(Services& services, RunId run, std::uint32_t from,
                   const std::function<bool(const TaskNow&)>& visit) {
  const auto live = services.live.FindRun(run, true);
  const auto targets = live && live->targets ? Result<std::shared_ptr<const Targets>>(live->targets)
                                             : services.store.FindTargets(run);
  if (!targets) return Fail(targets.error());
  const auto hosts = static_cast<std::uint32_t>((*targets)->size());
  const auto state_of = [&](std::uint32_t ordinal) -> std::optional<TaskState> {
    if (!live || ordinal >= live->states.size()) return std::nullopt;
    return static_cast<TaskState>(live->states[ordinal]);
  };
  std::optional<TaskKey> after;
  if (from > 0) after = TaskKey{run, Visit(1), from - 1, HostId(UINT64_MAX), Attempt(UINT32_MAX)};
  std::uint32_t next = from;
  const auto show = [&](std::uint32_t ordinal, const TaskRecord* record) {
    return visit(
        {ordinal, &(**targets)[ordinal].name, ShownState(record, state_of(ordinal)), record});
  };
  while (next < hosts) {
    const auto rows = services.store.ListTasks(run, TaskFilter{}, after, kPage);
    if (!rows) return Fail(rows.error());
    for (const auto& row : *rows) {
      for (; next < row.key.ordinal && next < hosts; ++next)
        if (!show(next, nullptr)) return {};
      if (row.key.ordinal < next || row.key.ordinal >= hosts) continue;
      if (!show(next++, &row)) return {};
    }
    if (rows->size() < kPage) break;
    after = rows->back().key;
  }
  for (; next < hosts; ++next)
    if (!show(next, nullptr)) return {};
  return {};
}

}  // namespace muster::server::api
