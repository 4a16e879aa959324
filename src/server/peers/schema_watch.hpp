#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/mutex.hpp"
#include "ports/coordinator.hpp"
#include "ports/store.hpp"

namespace muster::server {

// Those that run an older version than the newest of them. A version that is no number is older
// than any other.
std::vector<Member> OlderServers(const std::vector<Member>& servers);

// What the store says of its tables: whether this server can work with them, and whether the
// upgrade of the cluster waits for its last step. Safe from any thread.
class SchemaWatch {
 public:
  struct Exits {
    std::function<std::vector<Member>()> members;   // that are there now
    std::function<void(const std::string&)> unfit;  // why this server is; "" when it is not
  };
  struct View {
    SchemaState schema;
    std::vector<Member> older;  // servers that are still to be upgraded

    bool FinalizeDue() const { return !schema.unfinished.empty() && older.empty(); }
  };

  // `version` is this program's.
  SchemaWatch(Store& store, std::string version, Exits exits);

  // Asks the store, and may wait for it; what was known stays when it does not answer.
  Result<> Look() EXCLUDES(mutex_);
  View Get() const EXCLUDES(mutex_);  // as last seen; does not wait

 private:
  Store& store_;
  const std::string version_;
  const Exits exits_;
  mutable base::Mutex mutex_;
  SchemaState schema_ GUARDED_BY(mutex_);
};

}  // namespace muster::server
