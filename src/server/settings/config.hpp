#pragma once

#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <string>
#include <vector>

#include "adapters/egress/settings.hpp"
#include "adapters/net/limits.hpp"
#include "adapters/settings/settings.hpp"
#include "base/instant.hpp"
#include "base/result.hpp"
#include "domain/host.hpp"
#include "server/keeping/retention.hpp"
#include "server/traces/settings.hpp"

namespace muster::server {

// Where records and output are kept when not in the data folder.
struct StoreConfig {
  std::string postgres;  // a URL, or key=value words; "": SQLite in the data folder
  // Take an address that leads over a network without a verified certificate.
  bool let_the_network_read_and_change_records = false;
};

// This server among others. Without etcd it is alone.
struct ClusterConfig {
  std::string name;  // "": the machine's
  Labels labels;     // region, zone
  std::vector<std::string> etcd;
  std::string etcd_prefix = "/muster/";
  std::string etcd_user;
  std::string etcd_password;  // file with it
  std::string etcd_ca;        // files
  std::string etcd_cert;
  std::string etcd_key;
  Duration lease = std::chrono::seconds(2);
  Duration send_away_after = std::chrono::seconds(5);
};

// Settings of musterd: defaults, under the YAML file, under MUSTER_* variables, under flags. A new
// setting is a field here and its line in Describe; a section is a struct here and its block there.
struct Config {
  std::filesystem::path data = "/var/lib/muster";
  std::string listen = "127.0.0.1:8440";
  std::string public_url;  // what agents and people use; its name goes into the certificate
  std::string log_level = "info";
  Duration heartbeat = std::chrono::seconds(10);
  Duration order_life = std::chrono::seconds(10);
  Duration reconnect_bound = std::chrono::seconds(60);
  Duration takeover_grace = std::chrono::minutes(2);
  // certificates: {agent_life, server_life}
  Duration agent_life = std::chrono::hours(24 * 90);
  Duration server_life = std::chrono::hours(24 * 90);
  // tls: {cert, key}: the server's own instead of one of the cluster's CA
  std::string tls_cert;
  std::string tls_key;
  net::ServerLimits limits;  // `limits:` in the file; link_silence follows from the heartbeat
  std::size_t failures_per_minute = 30;  // also there: bad tokens and joins of one address
  Retention retention;                   // retention: {logs, runs, audit}
  outside::OutsideSettings outside;      // what the server may call by itself
  TraceSettings traces;                  // of ended runs
  std::string disk_floor = "5%,1GB";     // disk: {stop_runs_below}, see ParseDiskFloor
  StoreConfig store;
  ClusterConfig cluster;
};

// The table of all settings, over `config`'s fields.
settings::Table Describe(Config& config);

struct HostPort {
  std::string host;
  std::uint16_t port = 0;
};
// What is wrong by all of these, a line each. kInvalid.
Result<> AllGood(std::initializer_list<Result<>> results);

// What does not fit together: a cluster needs a store that all its servers reach, and a URL for
// each of them. kInvalid says what to write.
Result<> CheckCluster(const Config& config);

// "127.0.0.1:8440", "[::1]:8440", ":8440" (all addresses). kInvalid says what was expected.
Result<HostPort> ParseListen(const std::string& text);

// Reads `file` over `config`. Unknown keys and wrong values are errors with file, line and column,
// one line each.
Result<> ReadConfigFile(const std::filesystem::path& file, Config& config);
// The same from its text; `name` is for messages.
Result<> ReadConfigText(const std::string& text, const std::string& name, Config& config);

// MUSTER_DATA, MUSTER_LISTEN, MUSTER_PUBLIC_URL, MUSTER_LOG_LEVEL.
Result<> ReadConfigEnvironment(Config& config);

}  // namespace muster::server
