#pragma once

#include <vector>

#include "engine/effects.hpp"
#include "server/leading/engine_thread.hpp"
#include "server/planning/slot_planner.hpp"
#include "server/runtime/worker_pool.hpp"

namespace muster::server {

// Answers the engine's questions about triggers, on the workers. Called on the engine's thread;
// never blocks. What finds the workers' queue full is dropped: the engine asks again.
class TriggerPlanner {
 public:
  // All outlive it.
  TriggerPlanner(const Inventory& inventory, EngineThread& engine, WorkerPool& workers)
      : inventory_(inventory), engine_(engine), workers_(workers) {}

  void Prepare(std::vector<engine::PrepareSlot> slots);
  void Fetch(std::vector<engine::FetchTriggers> fetches);

 private:
  const Inventory inventory_;
  EngineThread& engine_;
  WorkerPool& workers_;
};

}  // namespace muster::server
