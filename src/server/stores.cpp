#include "server/stores.hpp"

#include <unistd.h>

#include "adapters/local/local_coordinator.hpp"
#include "adapters/sqlite/sqlite_log_store.hpp"
#include "adapters/sqlite/sqlite_store.hpp"

namespace muster::server {
namespace {

Result<Stores> OpenSqlite(const Config& config, const Clock& clock) {
  auto records = SqliteStore::Open(config.data);
  if (!records) return Fail(records.error());
  auto logs = SqliteLogStore::Open(config.data, clock);
  if (!logs) return Fail(logs.error());
  Stores stores;
  stores.activities = [&records = **records, &logs = **logs] {
    auto views = records.Activities();
    views.push_back(logs.Look());
    return views;
  };
  stores.records = std::move(*records);
  stores.logs = std::move(*logs);
  return stores;
}

}  // namespace

Result<Stores> OpenStores(const Config& config, const Clock& clock) {
  return OpenSqlite(config, clock);
}

Result<std::unique_ptr<Coordinator>> OpenCoordinator(const Config& config, const Clock&) {
  if (config.cluster.etcd.empty()) return std::make_unique<LocalCoordinator>();
  return Fail(ErrorCode::kInvalid, "cluster.etcd: this musterd was built without it");
}

std::string NameOf(const Config& config) {
  if (!config.cluster.name.empty()) return config.cluster.name;
  char own[256] = {};
  return gethostname(own, sizeof own - 1) == 0 && own[0] != '\0' ? own : "musterd";
}

}  // namespace muster::server
