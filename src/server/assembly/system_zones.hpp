#pragma once

#include <map>
#include <string>

#include "base/mutex.hpp"
#include "engine/triggers/zones.hpp"

namespace muster::server {

// The system's time zones, each read when it is first asked for and kept. Safe from any thread.
class SystemZones final : public engine::Zones {
 public:
  std::shared_ptr<const cron::Zone> Find(std::string_view name) const override EXCLUDES(mutex_) {
    base::Lock lock(mutex_);
    if (const auto found = zones_.find(name); found != zones_.end()) return found->second;
    auto zone = cron::LoadZone(name);
    if (!zone) return nullptr;
    return zones_[std::string(name)] = std::make_shared<const cron::Zone>(std::move(*zone));
  }

 private:
  mutable base::Mutex mutex_;
  mutable std::map<std::string, std::shared_ptr<const cron::Zone>, std::less<>> zones_
      GUARDED_BY(mutex_);
};

}  // namespace muster::server
