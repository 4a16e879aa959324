#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "cron/zone.hpp"

namespace muster::engine {

// The time zones that triggers are in. Filled outside the engine, which reads no files: the server
// looks the system's data up and keeps what it found, a simulation has a fixed table. The same name
// gives the same zone for as long as the table lives.
class Zones {
 public:
  virtual ~Zones() = default;
  // nullptr: there is none of that name.
  virtual std::shared_ptr<const cron::Zone> Find(std::string_view name) const = 0;
};

// UTC and whatever it is given.
class FixedZones final : public Zones {
 public:
  FixedZones() { Add(cron::Zone::Utc()); }
  void Add(cron::Zone zone) {
    std::string name = zone.Name();
    zones_[std::move(name)] = std::make_shared<const cron::Zone>(std::move(zone));
  }
  std::shared_ptr<const cron::Zone> Find(std::string_view name) const override {
    const auto found = zones_.find(name);
    return found == zones_.end() ? nullptr : found->second;
  }

 private:
  std::map<std::string, std::shared_ptr<const cron::Zone>, std::less<>> zones_;
};

}  // namespace muster::engine
