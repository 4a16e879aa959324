#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/mutex.hpp"
#include "domain/records.hpp"
#include "ports/store.hpp"
#include "server/live/live_view.hpp"

namespace muster::server {

// The hosts that documents declare. Read from the store when they are first asked for and after a
// change. Safe from any thread.
class DeclaredHosts {
 public:
  using Hosts = std::vector<Host>;  // name and labels, by name

  explicit DeclaredHosts(Store& store) : store_(store) {}

  void Take(const Batch& committed) EXCLUDES(mutex_);
  void Forget() EXCLUDES(mutex_);  // others may have written to the store

  // Those that never joined. Cheap as long as no host comes or goes.
  Result<std::shared_ptr<const Hosts>> NeverJoined(const LiveView& live) EXCLUDES(mutex_);

 private:
  Result<std::shared_ptr<const Hosts>> All() EXCLUDES(mutex_);

  Store& store_;
  base::Mutex mutex_;
  std::shared_ptr<const Hosts> all_ GUARDED_BY(mutex_);  // nullptr: to be read
  std::uint64_t changes_ GUARDED_BY(mutex_) = 0;
  std::shared_ptr<const Hosts> missing_ GUARDED_BY(mutex_);  // of all_, by the roster of then
  std::uint64_t roster_ GUARDED_BY(mutex_) = 0;
};

}  // namespace muster::server
