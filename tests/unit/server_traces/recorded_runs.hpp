#pragma once

#include <gtest/gtest.h>

#include "adapters/memory/memory_store.hpp"

namespace muster::server {

// A store with runs as an engine would leave them.
class RecordedRuns {
 public:
  RecordedRuns() { fence_ = *store.TakeTerm(); }

  // Ended after ten seconds, on the hosts web1, web2, …
  static Run MakeRun(std::uint64_t number, std::uint32_t hosts) {
    Run run;
    run.id = MakeRunId(0, number);
    run.state = RunState::kSucceeded;
    run.by = "ann";
    run.spec.title = "uptime";
    run.spec.targets = "all";
    run.hosts = hosts;
    run.created = {1'000'000};
    run.ended = {1'010'000};
    return run;
  }
  static StageVisit MakeVisit(std::uint32_t number, const std::string& name) {
    StageVisit visit;
    visit.visit = Visit(number);
    visit.name = name;
    visit.state = StageState::kSucceeded;
    visit.started = {1'000'000 + number};
    visit.ended = {1'009'000};
    return visit;
  }
  static TaskRecord MakeTask(const Run& run, std::uint32_t visit, std::uint32_t ordinal,
                             Duration took, TaskState state = TaskState::kSucceeded) {
    TaskRecord task;
    task.key = {run.id, Visit(visit), ordinal, HostId(ordinal + 1), Attempt(1)};
    task.state = state;
    task.sent = {1'000'100};
    task.ended = task.sent + took;
    return task;
  }

  void Put(const Run& run, const std::vector<StageVisit>& visits,
           const std::vector<TaskRecord>& tasks) {
    auto targets = std::make_shared<Targets>();
    for (std::uint32_t i = 1; i <= run.hosts; ++i)
      targets->push_back({HostId(i), fmt::format("web{}", i)});
    auto batch = std::make_shared<Batch>();
    batch->changes.emplace_back(PutRun{run});
    batch->changes.emplace_back(PutPlan{run.id, std::make_shared<const RunSpec>(run.spec)});
    batch->changes.emplace_back(PutTargets{run.id, targets});
    for (const auto& visit : visits) batch->changes.emplace_back(PutVisit{run.id, visit});
    for (const auto& task : tasks) batch->changes.emplace_back(PutTask{task});
    ++fence_.number.value;
    store.Commit(batch, fence_.term, fence_.number,
                 [](const Result<>& done) { ASSERT_TRUE(done) << done.error().message; });
  }

  MemoryStore store;

 private:
  Fence fence_;
};

}  // namespace muster::server
