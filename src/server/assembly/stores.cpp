#include "server/assembly/stores.hpp"

#include <cstdio>
#include <tuple>
#include <unistd.h>

#include "adapters/crypto/pki.hpp"
#include "adapters/etcd/etcd_coordinator.hpp"
#include "adapters/local/local_coordinator.hpp"
#include "adapters/postgres/address.hpp"
#include "adapters/postgres/postgres_log_store.hpp"
#include "adapters/postgres/postgres_store.hpp"
#include "adapters/postgres/protection.hpp"
#include "adapters/sqlite/sqlite_log_store.hpp"
#include "adapters/sqlite/sqlite_store.hpp"
#include "base/text.hpp"
#include "server/certificates/certificates.hpp"

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
  const auto options = PostgresOptionsOf(config.store);
  auto records = PostgresStore::Open(options);
  if (!records) return Fail(records.error().code, "store.postgres: {}", records.error().message);
  auto logs = PostgresLogStore::Open(options, clock);
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
    return Fail(ErrorCode::kInvalid, "cluster.{}: {}", setting, content.error().message);
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

// Two settings of which one alone would be passed over in silence.
Result<> CheckPair(const char* one, const std::string& left, const char* other,
                   const std::string& right) {
  if (left.empty() == right.empty()) return {};
  return Fail(ErrorCode::kInvalid, "cluster.{}: {} is missing; one does not work without the other",
              left.empty() ? other : one, left.empty() ? one : other);
}

Result<> CheckEtcdFiles(const ClusterConfig& cluster, const EtcdOptions& options) {
  if (!options.ca_pem.empty())
    if (const auto cas = crypto::SplitCerts(options.ca_pem); !cas)
      return Fail(ErrorCode::kInvalid, "cluster.etcd_ca: {}: {}", cluster.etcd_ca,
                  cas.error().message);
  if (options.cert_pem.empty()) return {};
  const auto fits = crypto::IsCertOfKey(options.cert_pem, options.key_pem);
  if (!fits)
    return Fail(ErrorCode::kInvalid, "cluster.etcd_cert, etcd_key: {}, {}: {}", cluster.etcd_cert,
                cluster.etcd_key, fits.error().message);
  if (!*fits)
    return Fail(ErrorCode::kInvalid, "cluster.etcd_key: {} is not the key of {}", cluster.etcd_key,
                cluster.etcd_cert);
  return {};
}

Result<> CheckEtcd(const ClusterConfig& cluster) {
  auto good =
      AllGood({CheckPair("etcd_cert", cluster.etcd_cert, "etcd_key", cluster.etcd_key),
               CheckPair("etcd_user", cluster.etcd_user, "etcd_password", cluster.etcd_password)});
  if (!good || cluster.etcd.empty()) return good;
  const auto options = EtcdOptionsOf(cluster);
  if (!options) return Fail(options.error());
  if (good = EtcdCoordinator::Check(*options); !good)
    return Fail(good.error().code, "cluster.etcd: {}", good.error().message);
  return CheckEtcdFiles(cluster, *options);
}

}  // namespace

PostgresOptions PostgresOptionsOf(const StoreConfig& store) {
  return {.address = store.postgres,
          .allow_unprotected = store.let_the_network_read_and_change_records};
}

namespace {

Result<> CheckPostgres(const StoreConfig& store) {
  if (store.postgres.empty()) return {};
  const auto good = postgres::CheckProtection(PostgresOptionsOf(store));
  if (!good) return Fail(good.error().code, "store.postgres: {}", good.error().message);
  return {};
}

}  // namespace

Result<> CheckBackends(const Config& config) {
  return AllGood({CheckEtcd(config.cluster), CheckPostgres(config.store)});
}

std::vector<std::string> BackendWarnings(const Config& config) {
  std::vector<std::string> warnings;
  const auto address = postgres::KeywordsOf(config.store.postgres);
  const std::string host = address ? postgres::UnprotectedHost(*address) : "";
  if (!host.empty())
    warnings.push_back(fmt::format(
        "store.let_the_network_read_and_change_records: the connection to PostgreSQL at {} has no "
        "verified certificate; who is on the network between can read and change every record, and "
        "so run commands on every host",
        host));
  const ClusterConfig& cluster = config.cluster;
  if (EtcdCoordinator::LeavesTheMachine(cluster.etcd) && cluster.etcd_cert.empty() &&
      cluster.etcd_user.empty())
    warnings.push_back(
        "cluster.etcd: this server shows etcd neither a certificate (etcd_cert, etcd_key) nor a "
        "user "
        "(etcd_user, etcd_password); an etcd that takes that takes writes from anyone who reaches "
        "it, who can then stop the cluster");
  return warnings;
}

void WarnOfBackends(const Config& config) {
  for (const auto& warning : BackendWarnings(config))
    std::fprintf(stderr, "musterd: warning: %s\n", warning.c_str());
}

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
