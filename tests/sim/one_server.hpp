#pragma once

#include <functional>

#include "sim/servers.hpp"
#include "sim/sim_server.hpp"
#include "sim/world.hpp"

namespace muster::sim {

// What happens to a server that is alone, its clock and its disk.
class OneServerFaults final : public ServerFaults {
 public:
  // `restored` is called when the records became those of a backup.
  OneServerFaults(World& world, SimServer& server, DiskMood& disk, std::function<void()> restored)
      : world_(world), server_(server), disk_(disk), restored_(std::move(restored)) {}

  void Begin() override { server_.Start(); }
  void Plan(std::int64_t within) override {
    for (std::int64_t backups = world_.Between(0, 3); backups > 0; --backups)
      world_.After(world_.Between(0, within), [this] { server_.TakeBackup(); });
  }
  bool Breaks() override { return world_.Chance(0.37); }
  void Break() override {
    const std::int64_t kind = world_.Between(0, 38);
    if (kind < 3) {
      server_.Restore();
      restored_();
      StartLater();
    } else if (kind < 25) {
      server_.Crash();
      StartLater();
    } else if (kind < 32) {
      server_.JumpWall(world_.Between(-7'200'000, 7'200'000));
    } else {
      disk_.lost_answer = world_.Chance(0.5) ? 0.3 : 0;
      disk_.refused = world_.Chance(0.5) ? 0.3 : 0;
      disk_.rare = world_.Chance(0.3) ? 15'000 : 400;
      world_.After(world_.Between(1000, 20'000), [this] { disk_ = {}; });
    }
  }
  void Replace() override {
    if (world_.Chance(0.5)) server_.JumpWall(world_.Between(-7'200'000, 7'200'000));
    server_.Crash();
    world_.After(world_.Between(100, 2000), [this] { server_.Start(); });
  }
  void Mend() override {
    disk_ = {};
    server_.Start();
  }
  void CheckEnd() override {}

 private:
  void StartLater() {
    world_.After(world_.Delay(500, 40'000), [this] { server_.Start(); });
  }

  World& world_;
  SimServer& server_;
  DiskMood& disk_;
  std::function<void()> restored_;
};

}  // namespace muster::sim
