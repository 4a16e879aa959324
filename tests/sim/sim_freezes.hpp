#pragma once

#include "sim/servers.hpp"
#include "sim/world.hpp"

namespace muster::sim {

// A person who freezes new runs now and then, works on hosts, and later lets go of both. Knows what
// must be refused meanwhile.
class SimFreezes {
 public:
  SimFreezes(World& world, Servers& server) : world_(world), server_(server) {}

  void Plan(std::int64_t within, std::size_t hosts) {
    if (world_.Chance(0.3)) world_.After(world_.Between(0, within), [this] { Freeze(); });
    if (world_.Chance(0.3))
      world_.After(world_.Between(0, within), [this, hosts] {
        Maintain(
            HostId(static_cast<std::uint64_t>(world_.Between(1, static_cast<std::int64_t>(hosts)))),
            Maintenance{.until = {}, .reason = "sim", .by = {}, .at = {}});
      });
  }

  // A restore may have lost what was frozen.
  void Forget() { ++era_, frozen_ = false; }

  // A start that was asked for under a guard, and answered, must not have begun when Broken says
  // so.
  struct Guard {
    bool frozen = false;
    std::uint64_t era = 0;
  };
  Guard Look() const { return {frozen_, era_}; }
  bool Broken(const Guard& guard) const { return guard.frozen && guard.era == era_; }

 private:
  void Freeze() {
    const auto era = era_;
    muster::Freeze freeze;
    freeze.reason = "sim";
    server_.Ask(engine::FreezeRuns{.caller = {}, .freeze = freeze},
                [this, era](const Result<engine::FreezeAnswer>& answer) {
                  world_.Trace("freeze: {}", answer ? "done" : answer.error().message);
                  if (answer && era == era_) frozen_ = true;
                });
    world_.After(world_.Between(1000, 30'000), [this] { Thaw(); });
  }

  // Until somebody heard it.
  void Thaw() {
    Forget();
    auto done = std::make_shared<bool>(false);
    server_.Ask(engine::ThawRuns{.caller = {}, .id = 0, .reason = "sim"},
                [done](const auto& answer) { *done = answer.has_value(); });
    world_.After(2000, [this, done] {
      if (!*done) Thaw();
    });
  }

  void Maintain(HostId host, std::optional<Maintenance> maintenance) {
    auto done = std::make_shared<bool>(false);
    server_.Ask(
        engine::MaintainHosts{
            .caller = {}, .targets = "sim", .hosts = {host}, .maintenance = maintenance},
        [done](const auto& answer) { *done = answer.has_value(); });
    const bool ends = !maintenance;
    world_.After(ends ? 2000 : world_.Between(1000, 30'000), [this, host, ends, done] {
      if (!ends || !*done) Maintain(host, std::nullopt);
    });
  }

  World& world_;
  Servers& server_;
  bool frozen_ = false;    // answered, and nobody asked to thaw since
  std::uint64_t era_ = 0;  // grows with each wish to thaw and each restore
};

}  // namespace muster::sim
