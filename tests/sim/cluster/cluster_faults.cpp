#include "sim/cluster/cluster_faults.hpp"

namespace muster::sim {

void ClusterFaults::Begin() {
  for (std::size_t i = 0; i < cluster_.Count(); ++i) cluster_.StartServer(i);
  world_.RunUntil(world_.Now() + 8000);
}

std::size_t ClusterFaults::Some() {
  if (world_.Chance(0.6))
    for (std::size_t i = 0; i < cluster_.Count(); ++i)
      if (cluster_.program(i) != nullptr && cluster_.program(i)->engine().Leads()) return i;
  return static_cast<std::size_t>(
      world_.Between(0, static_cast<std::int64_t>(cluster_.Count()) - 1));
}

void ClusterFaults::Break() {
  const std::int64_t kind = world_.Between(0, 107);
  const std::size_t i = Some();
  if (kind < 16) return Crash(i);
  if (kind < 42) return Freeze(i);
  if (kind < 50) return Isolate(i, true, false, false);
  if (kind < 52) return LoseCoordinator();
  if (kind < 60) return Isolate(i, false, true, false);
  if (kind < 66) return Isolate(i, false, false, true);
  if (kind < 72) return Isolate(i, true, true, true);
  if (kind < 80) return IllCoordinator(i);
  if (kind < 91) return IllStore(i);
  if (kind < 95) return IllPeers();
  if (kind < 103) return LateFollowers();
  JumpWall(i);
}

void ClusterFaults::Crash(std::size_t i) {
  cluster_.CrashServer(i);
  world_.After(world_.Delay(2000, 40'000), [this, i, era = era_] {
    if (era == era_) cluster_.StartServer(i);
  });
}

// Long enough for another to be elected, or just short of it.
void ClusterFaults::Freeze(std::size_t i) {
  SimMusterd* program = cluster_.program(i);
  if (program == nullptr) return;
  const bool in_midst = world_.Chance(0.6);
  world_.Trace("{} is frozen{}", cluster_.machine(i).name, in_midst ? " at its next turn" : "");
  if (in_midst)
    program->life().FreezeInMidst();
  else
    program->life().Freeze();
  world_.After(world_.Chance(0.5) ? world_.Between(500, 4000) : world_.Between(1000, 20'000),
               [this, program, i] {
                 world_.Trace("{} goes on", cluster_.machine(i).name);
                 program->life().Continue();
               });
}

void ClusterFaults::Isolate(std::size_t i, bool coordinator, bool store, bool peers) {
  auto& machine = cluster_.machine(i);
  world_.Trace("{} is cut off from{}{}{}", machine.name, coordinator ? " the coordinator" : "",
               store ? " the store" : "", peers ? " the others" : "");
  const auto set = [this, i, coordinator, store, peers](bool cut) {
    if (coordinator) cluster_.machine(i).seat.cut = cut;
    if (store) cluster_.machine(i).disk.cut = cut;
    for (std::size_t j = 0; peers && j < cluster_.Count(); ++j)
      if (j != i) cluster_.Between(i, j).cut = cut;
  };
  set(true);
  world_.After(world_.Between(500, 20'000), [set] { set(false); });
}

// Nobody reaches the coordinator: whoever leads has to stop, and nobody follows.
void ClusterFaults::LoseCoordinator() {
  world_.Trace("the coordinator is away");
  const auto set = [this](bool cut) {
    for (std::size_t i = 0; i < cluster_.Count(); ++i) cluster_.machine(i).seat.cut = cut;
  };
  set(true);
  world_.After(world_.Between(500, 15'000), [set] { set(false); });
}

void ClusterFaults::IllCoordinator(std::size_t i) {
  SeatMood& mood = cluster_.machine(i).seat;
  mood.lost = world_.Chance(0.5) ? 0.3 : 0;
  mood.rare = world_.Chance(0.5) ? 1500 : 200;
  mood.usual = world_.Chance(0.3) ? 150 : 3;
  mood.news = world_.Chance(0.5) ? 10'000 : 50;
  mood.told_late = world_.Chance(0.5) ? 5000 : 20;
  world_.After(world_.Between(1000, 20'000), [&mood] { mood = {.cut = mood.cut}; });
}

void ClusterFaults::IllStore(std::size_t i) {
  DiskMood& mood = cluster_.machine(i).disk;
  mood.lost_answer = world_.Chance(0.4) ? 0.3 : 0;
  mood.refused = world_.Chance(0.3) ? 0.3 : 0;
  mood.vanished = world_.Chance(0.4) ? 0.3 : 0;
  mood.late = world_.Chance(0.5) ? 0.3 : 0;
  mood.rare = world_.Chance(0.4) ? 15'000 : 400;
  world_.After(world_.Between(1000, 20'000), [&mood] {
    const bool cut = mood.cut;
    mood = {};
    mood.cut = cut;
  });
}

void ClusterFaults::IllPeers() {
  for (std::size_t i = 0; i < cluster_.Count(); ++i)
    for (std::size_t j = i + 1; j < cluster_.Count(); ++j) {
      PeerMood& mood = cluster_.Between(i, j);
      mood.usual = world_.Chance(0.5) ? 300 : 2;
      mood.rare = world_.Chance(0.5) ? 5000 : 200;
      world_.After(world_.Between(1000, 20'000), [&mood] { mood = {.cut = mood.cut}; });
    }
}

// What nodes say reaches the leader long after they said it, and perhaps went elsewhere; the
// servers themselves hear each other in time.
void ClusterFaults::LateFollowers() {
  for (std::size_t i = 0; i < cluster_.Count(); ++i) {
    if (world_.Chance(0.3)) continue;
    cluster_.machine(i).late = world_.Chance(0.5) ? 3000 : 15'000;
    world_.After(world_.Between(1000, 30'000), [this, i] { cluster_.machine(i).late = 0; });
  }
}

void ClusterFaults::JumpWall(std::size_t i) {
  cluster_.machine(i).clock.JumpWall(world_.Between(-7'200'000, 7'200'000));
  world_.After(world_.Between(1000, 30'000), [this, i] { cluster_.machine(i).clock.SetRight(); });
}

void ClusterFaults::Mend() {
  ++era_;
  for (std::size_t i = 0; i < cluster_.Count(); ++i) {
    auto& machine = cluster_.machine(i);
    machine.clock.SetRight();
    machine.disk = {};
    machine.seat = {};
    machine.late = 0;
    for (std::size_t j = i + 1; j < cluster_.Count(); ++j) cluster_.Between(i, j) = {};
    if (cluster_.program(i) != nullptr) cluster_.program(i)->life().Continue();
    cluster_.StartServer(i);
  }
  if (cluster_.Count() > 2 && world_.Chance(0.3)) cluster_.CrashServer(Some());
}

void ClusterFaults::CheckEnd() {
  int leaders = 0;
  for (std::size_t i = 0; i < cluster_.Count(); ++i)
    if (cluster_.program(i) != nullptr && cluster_.program(i)->engine().Leads()) ++leaders;
  if (leaders != 1) throw Violation(fmt::format("{} servers lead at the end", leaders));
}

}  // namespace muster::sim
