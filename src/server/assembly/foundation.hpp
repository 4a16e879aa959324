#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "adapters/artifacts/file_artifacts.hpp"
#include "adapters/crypto/seal.hpp"
#include "adapters/egress/curl_actions.hpp"
#include "adapters/system/system_clock.hpp"
#include "ports/coordinator.hpp"
#include "server/assembly/stores.hpp"
#include "server/certificates/certificates.hpp"
#include "server/keeping/disk_watch.hpp"
#include "server/settings/config.hpp"

namespace muster::server {

// What a server stands on before it does anything: its settings, checked; its identity; where it
// keeps things and by what it finds the others.
struct Foundation {
  Config config;
  HostPort listen;
  DiskFloor disk_floor;
  SystemClock clock = {};
  CertificateSettings certificates = {};
  std::optional<Identity> identity = {};
  std::vector<std::string> key_news = {};  // what changed of its keys since the last start
  Stores stores = {};
  std::unique_ptr<Coordinator> coordinator = {};
  Member self = {};  // as the others shall see it
  std::optional<crypto::Sealer> sealer = {};
  std::unique_ptr<outside::CurlActions> actions = {};
  std::unique_ptr<FileArtifacts> artifacts = {};

  bool Clustered() const { return !config.cluster.etcd.empty(); }

  static Result<std::unique_ptr<Foundation>> Lay(Config config);
};

}  // namespace muster::server
