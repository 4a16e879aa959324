#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "engine/effects.hpp"
#include "server/api/job_book.hpp"
#include "server/api/services.hpp"
#include "server/worker_pool.hpp"

namespace muster::server::api {

// The plan of a slot's run: its job as it is now, with the trigger's parameters, and what its runs
// carry for those that it names (documents::SlotParamsOf). Errors for a schedule as
// engine::FireSlot has them, for a person as a start has them (kNotFound: no host matches); none is
// due to what the runs carry.
enum class SlotAsker : std::uint8_t { kSchedule, kPerson };
Result<engine::SlotPlan> PlanSlot(Services& services, JobBook& book, const TriggerSpec& spec,
                                  const std::map<std::string, std::string>& data,
                                  SlotAsker asker = SlotAsker::kSchedule);

// The same for slots that are due together: what they share is read and resolved once.
class SlotPlanner {
 public:
  // `services` outlives it. What it knows is of the moment it was made: use it at once.
  explicit SlotPlanner(Services& services)
      : services_(services), book_(std::make_unique<JobBook>(services.store)) {}

  Result<engine::SlotPlan> Plan(const TriggerSpec& spec,
                                const std::map<std::string, std::string>& data);

  // The same, with the trigger's author when the engine does not know that.
  Result<engine::SlotPlan> Plan(const engine::PrepareSlot& slot);

 private:
  // Everything a plan is made of.
  using Key = std::tuple<std::string, std::map<std::string, std::string>, std::set<std::string>,
                         std::map<std::string, std::string>, std::string, std::string>;

  Services& services_;
  std::unique_ptr<JobBook> book_;  // renewed when it has read much
  std::map<Key, engine::SlotPlan> plans_;
};

// Answers the engine's questions about triggers, on the workers. Called on the engine's thread;
// never blocks. What finds the workers' queue full is dropped: the engine asks again.
class TriggerPlanner {
 public:
  // Both outlive it.
  TriggerPlanner(Services& services, WorkerPool& workers)
      : services_(services), workers_(workers) {}

  void Prepare(std::vector<engine::PrepareSlot> slots);
  void Fetch(std::vector<engine::FetchTriggers> fetches);

 private:
  Services& services_;
  WorkerPool& workers_;
};

}  // namespace muster::server::api
