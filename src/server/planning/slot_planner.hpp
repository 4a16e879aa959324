#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "domain/freeze.hpp"
#include "engine/effects.hpp"
#include "server/planning/inventory.hpp"
#include "server/planning/job_book.hpp"

namespace muster::server {

// Plans the runs of slots: the trigger's job as it is now, with the trigger's parameters, and what
// its runs carry for those that it names (documents::SlotParamsOf). What slots that are due
// together share is read and resolved once. Errors for a schedule as engine::FireSlot has them, for
// a person as a start has them (kNotFound: no host matches); none is due to what the runs carry.
class SlotPlanner {
 public:
  enum class Asker : std::uint8_t { kSchedule, kPerson };
  using FreezesNow = std::function<std::vector<Freeze>()>;

  // What `inventory` is of outlives it. What it knows is of the moment it was made: use it at once.
  SlotPlanner(const Inventory& inventory, FreezesNow freezes)
      : inventory_(inventory),
        freezes_(std::move(freezes)),
        book_(std::make_unique<JobBook>(inventory.store)) {}

  Result<engine::SlotPlan> Plan(const TriggerSpec& spec,
                                const std::map<std::string, std::string>& data,
                                Asker asker = Asker::kSchedule);

  // The same, with the trigger's author when the engine does not know that.
  Result<engine::SlotPlan> Plan(const engine::PrepareSlot& slot);

 private:
  // Everything a plan is made of.
  using Key = std::tuple<std::string, std::map<std::string, std::string>, std::set<std::string>,
                         std::map<std::string, std::string>, std::string, std::string>;

  Result<engine::SlotPlan> PlanNew(const TriggerSpec& spec,
                                   const std::map<std::string, std::string>& data, Asker asker);

  const Inventory inventory_;
  const FreezesNow freezes_;
  std::unique_ptr<JobBook> book_;  // renewed when it has read much
  std::map<Key, engine::SlotPlan> plans_;
};

}  // namespace muster::server
