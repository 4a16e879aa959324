#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "adapters/memory/memory_store.hpp"
#include "base/text.hpp"
#include "domain/records.hpp"
#include "server/results/run_results.hpp"

namespace muster::server {

inline constexpr RunId kRun{1};

inline std::shared_ptr<const Targets> Hosts(std::uint32_t count) {
  Targets targets;
  for (std::uint32_t i = 0; i < count; ++i)
    targets.push_back({HostId(i + 1), fmt::format("h{}", i + 1)});
  return std::make_shared<const Targets>(std::move(targets));
}

inline std::string Sha(char letter) { return std::string(32, letter); }

inline TaskKey KeyOf(std::uint32_t visit, std::uint32_t ordinal, std::uint32_t attempt = 1) {
  return {kRun, Visit(visit), ordinal, HostId(ordinal + 1), Attempt(attempt)};
}

inline TaskRecord Sent(const TaskKey& key) {
  TaskRecord row;
  row.key = key;
  row.sent = WallTime{1000};
  return row;
}

// An ended attempt; its output is known when `output` is given.
inline TaskRecord Ended(const TaskKey& key, TaskState state, int exit_code = 0, char output = 0,
                        char masked = 0) {
  TaskRecord row = Sent(key);
  row.state = state;
  row.ended = WallTime{2000};
  row.end = TaskEnd{.state = state, .exit_code = exit_code};
  if (output != 0)
    row.log = {.state = LogState::kComplete,
               .bytes = 7,
               .stdout_sha256 = Sha(output),
               .stderr_sha256 = kEmptySha256,
               .masked_sha256 = masked != 0 ? Sha(masked) : ""};
  return row;
}

inline StageVisit VisitTo(const std::string& stage, std::uint32_t number, Ordinals hosts,
                          std::uint32_t pass = 1) {
  StageVisit visit;
  visit.visit = Visit(number);
  visit.stage = stage == "two" ? 1 : 0;
  visit.name = stage;
  visit.onward = Onward::kNone;
  visit.pass = pass;
  visit.hosts = std::move(hosts);
  return visit;
}

// The same to a stage that has another one behind it.
inline StageVisit VisitOnTheWay(const std::string& stage, std::uint32_t number, Ordinals hosts,
                                std::uint32_t pass = 1) {
  StageVisit visit = VisitTo(stage, number, std::move(hosts), pass);
  visit.onward = Onward::kMore;
  return visit;
}

// A store and the results that follow its commits.
class FollowedRun {
 public:
  explicit FollowedRun(std::uint32_t hosts, RunResults::Limits limits = {})
      : results(store, [this](RunId) { return live; }, limits) {
    fence = *store.TakeTerm();
    record.id = kRun;
    record.hosts = hosts;
    for (const char* stage : {"one", "two"}) {
      record.stages.push_back({.name = stage});
      record.spec.stages.push_back({.name = stage});
    }
    Commit({PutRun{Now(RunState::kRunning)}, PutTargets{kRun, Hosts(hosts)}});
  }

  Run Now(RunState state) const {
    Run run = record;
    run.state = state;
    return run;
  }

  void Commit(std::vector<Change> changes) {
    const auto batch = std::make_shared<const Batch>(Batch{std::move(changes)});
    fence.number = CommitNumber(fence.number.value + 1);
    store.Commit(batch, fence.term, fence.number, [](const Result<>&) {});
    results.Take(*batch);
  }

  Run record;
  MemoryStore store{MakeMemoryDisk()};
  Fence fence;
  std::vector<std::uint8_t> live;
  RunResults results;
};

}  // namespace muster::server
