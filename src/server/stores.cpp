#include "server/stores.hpp"

#include <tuple>
#include <unistd.h>

#include "adapters/etcd/etcd_coordinator.hpp"
#include "adapters/local/local_coordinator.hpp"
#include "adapters/postgres/postgres_log_store.hpp"
#include "adapters/postgres/postgres_store.hpp"
#include "adapters/sqlite/sqlite_log_store.hpp"
#include "adapters/sqlite/sqlite_store.hpp"
#include "base/text.hpp"
#include "server/certificates.hpp"

namespace muster::server {
namespace {

template <typename Records, typename Logs>
Stores Joined(std::unique_ptr<Records> records, std::unique_ptr<Logs> logs) {
  auto activities = [&records = *records, &logs = *logs] {
    auto views = records.Activities();
    views.push_back(logs.Look());
    return views;
  };
  return {{}, std::move(records), std::move(logs), std::move(activities)};
}

Result<Stores> OpenSqlite(const Config& config, const Clock& clock) {
  auto records = SqliteStore::Open(config.data);
  if (!records) return Fail(records.error());
  auto logs = SqliteLogStore::Open(config.data, clock);
  if (!logs) return Fail(logs.error());
  return Joined(std::move(*records), std::move(*logs));
}

Result<Stores> OpenPostgres(const Config& config, const Clock& clock) {
  auto records = PostgresStore::Open({.address = config.store.postgres});
  if (!records) return Fail(records.error().code, "store.postgres: {}", records.error().message);
  auto logs = PostgresLogStore::Open({.address = config.store.postgres}, clock);
  if (!logs) return Fail(logs.error());
  auto stores = Joined(std::move(*records), std::move(*logs));
  // Two servers with one folder would be one member of the cluster twice.
  auto folder = sqlite::FolderLock::Take(config.data);
  if (!folder) return Fail(folder.error());
  stores.folder = std::move(*folder);
  return stores;
}

// The content of a file that a setting names; "" when it names none.
Result<std::string> ContentOf(const char* setting, const std::string& file) {
  if (file.empty()) return std::string();
  auto content = ReadWhole(file);
  if (!content)
    return Fail(content.error().code, "cluster.{}: {}", setting, content.error().message);
  return content;
}

Result<EtcdOptions> EtcdOptionsOf(const ClusterConfig& cluster) {
  EtcdOptions options;
  options.endpoints = cluster.etcd;
  options.prefix = cluster.etcd_prefix;
  options.user = cluster.etcd_user;
  options.lease = cluster.lease;
  std::string password;
  for (const auto& [setting, file, place] :
       {std::tuple("etcd_ca", &cluster.etcd_ca, &options.ca_pem),
        std::tuple("etcd_cert", &cluster.etcd_cert, &options.cert_pem),
        std::tuple("etcd_key", &cluster.etcd_key, &options.key_pem),
        std::tuple("etcd_password", &cluster.etcd_password, &password)}) {
    auto content = ContentOf(setting, *file);
    if (!content) return Fail(content.error());
    *place = std::move(*content);
  }
  std::string trimmed(Trim(password));
  options.password = SecretText::Take(trimmed);
  SecretText::Wipe(password);
  return options;
}

}  // namespace

Result<Stores> OpenStores(const Config& config, const Clock& clock) {
  return config.store.postgres.empty() ? OpenSqlite(config, clock) : OpenPostgres(config, clock);
}

Result<std::unique_ptr<Coordinator>> OpenCoordinator(const Config& config, const Clock& clock) {
  if (config.cluster.etcd.empty()) return std::make_unique<LocalCoordinator>();
  auto options = EtcdOptionsOf(config.cluster);
  if (!options) return Fail(options.error());
  auto made = EtcdCoordinator::Make(std::move(*options), clock);
  if (!made) return Fail(made.error().code, "cluster: {}", made.error().message);
  return std::move(*made);
}

std::string NameOf(const Config& config) {
  if (!config.cluster.name.empty()) return config.cluster.name;
  char own[256] = {};
  return gethostname(own, sizeof own - 1) == 0 && own[0] != '\0' ? own : "musterd";
}

}  // namespace muster::server
