#pragma once

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "adapters/etcd/etcd_coordinator.hpp"
#include "adapters/system/system_clock.hpp"
#include "base/mutex.hpp"
#include "base/text.hpp"
#include "support/eventually.hpp"
#include "support/private_etcd.hpp"
#include "support/tcp_forwarder.hpp"

namespace muster {

using Told = std::vector<std::string>;

// What candidates were told, in order.
class EtcdTest : public testing::Test {
 protected:
  static EtcdOptions To(std::vector<std::string> endpoints) {
    return {.endpoints = std::move(endpoints)};
  }
  std::unique_ptr<EtcdCoordinator> Make(EtcdOptions options) {
    auto made = EtcdCoordinator::Make(std::move(options), clock_);
    return made ? std::move(*made) : nullptr;
  }
  bool Campaign(Coordinator& coordinator, const std::string& name) {
    return coordinator
        .Campaign(
            name, [this, name] { Note(name + " elected"); }, [this, name] { Note(name + " lost"); })
        .has_value();
  }

  void Note(const std::string& what) EXCLUDES(mutex_) {
    base::Lock lock(mutex_);
    told_.push_back(what);
  }
  Told All() const EXCLUDES(mutex_) {
    base::Lock lock(mutex_);
    return told_;
  }
  Told Await(std::size_t count) const {
    Eventually([&] { return All().size() >= count; });
    return All();
  }
  MonoTime Time() const { return clock_.Read().mono; }
  // Its leadership was renewed after this call.
  bool AwaitRenewal(const Coordinator& coordinator,
                    Duration lease = std::chrono::seconds(2)) const {
    const MonoTime from = Time() + lease;
    return Eventually([&] { return coordinator.LeadUntil() > from; });
  }

  SystemClock clock_;

 private:
  mutable base::Mutex mutex_;
  Told told_ GUARDED_BY(mutex_);
};

}  // namespace muster
