#include "server/assembly/foundation.hpp"

#include <spdlog/spdlog.h>

#include "adapters/sqlite/folder_lock.hpp"
#include "base/version.hpp"
#include "server/certificates/key_changes.hpp"
#include "server/certificates/key_set.hpp"
#include "server/keeping/backup.hpp"
#include "server/keeping/moved.hpp"

namespace muster::server {
namespace {

// What agents will be told to use must be something they can use.
// Whether this data folder is one to serve from.
Result<> CheckFolder(const Config& config) {
  if (const auto ended = CheckRestoreEnded(config.data); !ended) return ended;
  return config.store.postgres.empty() ? CheckNotMoved(config.data) : Result<>();
}

CertificateSettings CertificatesOf(const Config& config, const HostPort& listen) {
  return {.listen_host = listen.host,
          .public_url = config.public_url,
          .member = config.cluster.etcd.empty() ? "" : NameOf(config),
          .agent_life = config.agent_life,
          .server_life = config.server_life,
          .tls_cert = config.tls_cert,
          .tls_key = config.tls_key};
}

Member SelfOf(const Config& config, const HostPort& listen) {
  return {.name = NameOf(config),
          .url = config.public_url.empty() ? fmt::format("https://{}:{}", listen.host, listen.port)
                                           : config.public_url,
          .version = kVersion,
          .labels = config.cluster.labels};
}

// Puts what was made in its place, or says why not.
template <typename Place, typename T>
Result<> Put(Place& place, Result<T> made) {
  if (!made) return Fail(made.error());
  place = std::move(*made);
  return {};
}

// Two first starts at a time would each make keys. The stores take the lock again, for good.
Result<> LoadKeys(Foundation& laid, WallTime now, KeysBefore& before) {
  const std::filesystem::path& data = laid.config.data;
  const auto lock = sqlite::FolderLock::Take(data);
  if (!lock) return Fail(lock.error());
  if (auto finished = FinishKeySet(data); !finished) return finished;
  before = LookAtKeys(data);
  return Put(laid.identity, LoadIdentity(data, laid.certificates, now));
}

}  // namespace

Result<std::unique_ptr<Foundation>> Foundation::Lay(Config config) {
  const auto listen = ParseListen(config.listen);
  if (!listen) return Fail(listen.error());
  if (const auto good = CheckFolder(config); !good) return Fail(good.error());
  if (const auto good = CheckBackends(config); !good) return Fail(good.error());
  for (const auto& warning : BackendWarnings(config)) spdlog::warn("{}", warning);
  const auto disk_floor = ParseDiskFloor(config.disk_floor);
  if (!disk_floor) return Fail(disk_floor.error());
  auto made = std::make_unique<Foundation>(
      Foundation{.config = std::move(config), .listen = *listen, .disk_floor = *disk_floor});
  Foundation& laid = *made;
  const std::filesystem::path& data = laid.config.data;
  const WallTime now = laid.clock.Read().wall;
  laid.certificates = CertificatesOf(laid.config, laid.listen);
  laid.self = SelfOf(laid.config, laid.listen);
  KeysBefore keys;
  // In this order: the first start makes the keys that a cluster's settings are checked for.
  auto done = LoadKeys(laid, now, keys);
  if (done) done = CheckCluster(laid.config);
  if (done) done = Put(laid.stores, OpenStores(laid.config, laid.clock));
  if (done) done = Put(laid.coordinator, OpenCoordinator(laid.config, laid.clock));
  if (done) done = Put(laid.sealer, crypto::Sealer::Open(data / "seal.key"));
  if (done) done = Put(laid.actions, outside::CurlActions::Make(laid.config.outside, laid.clock));
  if (done) done = Put(laid.artifacts, FileArtifacts::Open(data / "artifacts", laid.clock, {}));
  if (!done) return Fail(done.error());
  laid.key_news = KeyNews(keys, *laid.identity);
  for (const auto& news : laid.key_news) spdlog::warn("{}", news);
  return made;
}

}  // namespace muster::server
