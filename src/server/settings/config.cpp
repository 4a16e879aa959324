#include "server/settings/config.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <utility>

#include "adapters/net/client.hpp"
#include "base/text.hpp"
#include "server/keeping/disk_watch.hpp"

namespace muster::server {
namespace {

Result<> CheckLife(const std::string& text) {
  const auto life = ParseDuration(text);
  if (!life) return Fail(life.error());
  if (*life >= std::chrono::seconds(3) && *life <= std::chrono::hours(24 * 3650)) return {};
  return Fail(ErrorCode::kInvalid, "a certificate lives from 3 s to 3650 days");
}

// Shorter ones stop work instead of hurrying it: no order arrives in no time.
constexpr Duration kSecond = std::chrono::seconds(1);
constexpr Duration kShortestBeat = std::chrono::milliseconds(100);
constexpr std::uint64_t kMostBytes = 1 << 30;
constexpr std::uint64_t kMostOfThem = 1'000'000;

settings::Setting Bytes(std::string name, std::size_t& field, std::string help) {
  return settings::Size(std::move(name), field, std::move(help))
      .Checked([](const std::string& text) -> Result<> {
        const auto size = ParseSize(text);
        if (!size) return Fail(size.error());
        if (*size > 0 && *size <= kMostBytes) return {};
        return Fail(ErrorCode::kInvalid, "expected a size from 1 to {}", FormatSize(kMostBytes));
      });
}

settings::Setting Kept(std::string name, Duration& field, std::string help) {
  settings::Setting setting;
  setting.name = std::move(name);
  setting.help = std::move(help);
  setting.set = [&field](const std::vector<std::string>& words) -> Result<> {
    const auto kept =
        words.front() == "forever" ? Result<Duration>(0) : ParseDuration(words.front());
    if (!kept) return Fail(kept.error());
    if (*kept == Duration::zero() && words.front() != "forever")
      return Fail(ErrorCode::kInvalid, "'{}' would keep nothing; to keep all, write forever",
                  words.front());
    field = *kept;
    return {};
  };
  setting.get = [&field]() -> std::vector<std::string> {
    return {field.count() == 0 ? "forever" : FormatDuration(field)};
  };
  return setting;
}

Result<> CheckPublicUrl(const std::string& url) {
  if (url.empty()) return {};
  const auto endpoint = net::ParseEndpoint(url);
  if (!endpoint) return Fail(endpoint.error());
  if (endpoint->tls) return {};
  return Fail(ErrorCode::kInvalid, "'{}': agents speak TLS only; write https://…", url);
}

Result<> CheckDataFolder(const std::string& path) {
  if (!path.empty()) return {};
  return Fail(ErrorCode::kInvalid, "say the folder; without the key it is /var/lib/muster");
}

Result<> CheckDiskFloor(const std::string& text) {
  const auto floor = ParseDiskFloor(text);
  if (!floor) return Fail(floor.error());
  return {};
}

settings::Table Limits(Config& config) {
  using namespace settings;
  net::ServerLimits& limits = config.limits;
  const auto count = [](std::string name, std::size_t& field, std::string help) {
    return Number(std::move(name), field, std::move(help), 1, kMostOfThem);
  };
  return {
      count("max_connections", limits.max_connections, "Open at once, links included."),
      count("max_connections_per_address", limits.max_connections_per_address,
            "Of one address; links do not count."),
      count("max_handshakes", limits.max_handshakes, "Without a first request."),
      Bytes("max_url", limits.max_url, "Of a request."),
      Bytes("max_header", limits.max_header, "All lines of a request's head."),
      count("max_header_fields", limits.max_header_fields, "Lines of a request's head."),
      Bytes("max_body", limits.max_body, "Of a request."),
      Bytes("max_open_body", limits.max_open_body, "Of a request that needs no token, as a join."),
      Bytes("max_buffered", limits.max_buffered, "Bodies of all requests at one time."),
      Bytes("max_stream_unsent", limits.max_stream_unsent,
            "An event stream further behind its reader is cut."),
      Bytes("max_unsent", limits.max_unsent,
            "Answers that wait for their readers, all together; past it the longest are cut."),
      Bytes("max_open_unsent", limits.max_open_unsent,
            "The same of callers without a token or certificate."),
      Bytes("max_frame", limits.max_frame, "Of a link."),
      Bytes("max_link_unsent", limits.max_link_unsent,
            "A node that reads so little of what it is sent is cut off."),
      Time("header_timeout", limits.header_timeout, "Handshake; then a request's head.", kSecond),
      Time("crowded_timeout", limits.crowded_timeout, "The same at max_handshakes.", kSecond),
      Time("body_timeout", limits.body_timeout, "To send a request's body.", kSecond),
      Time("idle_timeout", limits.idle_timeout, "A kept-alive connection without a request.",
           kSecond),
      Time("write_timeout", limits.write_timeout, "To read an answer, at least_rate.", kSecond),
      Bytes("least_rate", limits.least_rate, "Bytes a second of a reader."),
      count("failures_per_minute", config.failures_per_minute,
            "Bad tokens and joins of one address before it is slowed."),
  };
}

settings::Table ClusterTable(ClusterConfig& cluster) {
  using namespace settings;
  return {
      Text("name", cluster.name, "This server's name; empty is the machine's."),
      Pairs("labels", cluster.labels, "Where it stands: region, zone."),
      List("etcd", cluster.etcd,
           "Endpoints of etcd, https://…; http:// on loopback only; none: alone."),
      Text("etcd_prefix", cluster.etcd_prefix, "Of the cluster's keys in etcd."),
      Text("etcd_user", cluster.etcd_user, "Who this server is to etcd."),
      Text("etcd_password", cluster.etcd_password, "File with the user's password."),
      Text("etcd_ca", cluster.etcd_ca, "File with the CAs that etcd's certificates are of."),
      Text("etcd_cert", cluster.etcd_cert, "File with a certificate for etcd."),
      Text("etcd_key", cluster.etcd_key, "File with its key."),
      Time("lease", cluster.lease, "A silent leader is replaced after that long.")
          .Checked([](const std::string& text) -> Result<> {
            const auto lease = ParseDuration(text);
            if (!lease) return Fail(lease.error());
            if (*lease >= std::chrono::seconds(1) && *lease <= std::chrono::minutes(1)) return {};
            return Fail(ErrorCode::kInvalid, "a lease is from 1s to 1m");
          }),
      Time("send_away_after", cluster.send_away_after,
           "Without a way to a leader for so long it sends its nodes to other servers.")
          .Checked([](const std::string& text) -> Result<> {
            const auto after = ParseDuration(text);
            if (!after) return Fail(after.error());
            if (*after >= std::chrono::seconds(1) && *after <= std::chrono::minutes(1)) return {};
            return Fail(ErrorCode::kInvalid, "nodes are sent away after 1s to 1m");
          }),
  };
}

}  // namespace

Result<> AllGood(std::initializer_list<Result<>> results) {
  std::string lines;
  for (const auto& result : results)
    if (!result) lines += (lines.empty() ? "" : "\n") + result.error().message;
  if (lines.empty()) return {};
  return Fail(ErrorCode::kInvalid, "{}", lines);
}

Result<> CheckCluster(const Config& config) {
  if (config.cluster.etcd.empty()) return {};
  // It goes into a certificate.
  const auto fits = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '-';
  };
  Result<> name;
  if (!std::ranges::all_of(config.cluster.name, fits))
    name = Fail(ErrorCode::kInvalid,
                "cluster.name: '{}' is not a name of a server: letters, digits, '.', '-'",
                config.cluster.name);
  Result<> store;
  if (config.store.postgres.empty())
    store = Fail(ErrorCode::kInvalid,
                 "cluster.etcd: servers of a cluster share one store; set store.postgres");
  Result<> url;
  if (config.public_url.empty())
    url = Fail(ErrorCode::kInvalid,
               "cluster.etcd: the other servers must reach this one; set public_url");
  return AllGood({name, store, url});
}

settings::Table Describe(Config& config) {
  using namespace settings;
  return {
      Path("data", config.data, "The data folder: records, logs, keys.").Checked(CheckDataFolder),
      Text("listen", config.listen, "Address and port; ':8440' is every IPv4 address.")
          .Checked([](const std::string& text) -> Result<> {
            const auto parsed = ParseListen(text);
            if (!parsed) return Fail(parsed.error());
            return {};
          }),
      Text("public_url", config.public_url,
           "What agents and people use; its name goes into the certificate.")
          .Checked(CheckPublicUrl),
      Choice("log_level", config.log_level, "How much is logged.",
             {"debug", "info", "warn", "error"})
          .Live(),
      Time("heartbeat", config.heartbeat, "Of agents; three of them and 5s close a silent link.",
           kShortestBeat),
      Time("order_life", config.order_life, "How long an order may take to reach its host.",
           kSecond),
      Time("reconnect_bound", config.reconnect_bound, "A cut link is expected back within.",
           kSecond),
      Time("takeover_grace", config.takeover_grace,
           "After a start, before any task is called lost.", kSecond),
      settings::Section(
          "certificates", "How long certificates of the cluster's CA live.",
          {Time("agent_life", config.agent_life, "Agents'.").Checked(CheckLife),
           Time("server_life", config.server_life, "The server's.").Checked(CheckLife)}),
      settings::Section("tls", "The server's own certificate instead of one of the cluster's CA.",
                        {Text("cert", config.tls_cert, "File with the chain, leaf first."),
                         Text("key", config.tls_key, "File with its key.")}),
      settings::Section("retention", "How long things are kept; 'forever' keeps all.",
                        {Kept("logs", config.retention.logs, "Output of tasks, by whole days."),
                         Kept("runs", config.retention.runs, "Ended runs with their tasks."),
                         Kept("audit", config.retention.audit, "Entries of the audit trail."),
                         Kept("files", config.retention.files,
                              "Files that nothing names any more, after their last use.")}),
      settings::Section(
          "store", "Where records and output are kept, if not in the data folder.",
          {Text("postgres", config.store.postgres,
                "PostgreSQL: postgresql://user@host/muster, or key=value words; off "
                "this machine with sslmode=verify-full.")
               .Shown(WithoutPassword),
           Flag("let_the_network_read_and_change_records",
                config.store.let_the_network_read_and_change_records,
                "Take an address of another machine without a verified certificate.")}),
      settings::Section("cluster", "This server among others.", ClusterTable(config.cluster)),
      settings::Section(
          "disk", "The disk of the data folder.",
          {Text("stop_runs_below", config.disk_floor,
                "No new runs with less room: a share, a size, or the smaller of both.")
               .Checked(CheckDiskFloor)}),
      outside::Describe(config.outside),
      Describe(config.traces),
      settings::Section("limits", "What is taken from outside before the answer is no.",
                        Limits(config)),
  };
}

Result<HostPort> ParseListen(const std::string& text) {
  const auto colon = text.rfind(':');
  HostPort parsed;
  if (colon != std::string::npos) {
    parsed.host = text.substr(0, colon);
    const char* begin = text.data() + colon + 1;
    const auto [end, problem] = std::from_chars(begin, text.data() + text.size(), parsed.port);
    if (parsed.host.starts_with('[') && parsed.host.ends_with(']'))
      parsed.host = parsed.host.substr(1, parsed.host.size() - 2);
    if (parsed.host.empty()) parsed.host = "0.0.0.0";
    if (problem == std::errc{} && end == text.data() + text.size() && begin != end) return parsed;
  }
  return Fail(ErrorCode::kInvalid,
              "'{}' is not an address to listen on; write for example 127.0.0.1:8440", text);
}

namespace {

// Adds what is wrong between settings to what is wrong in one of them.
Result<> CheckWhole(Result<> read, const Config& config, const std::string& name) {
  if (config.tls_cert.empty() == config.tls_key.empty()) return read;
  return AllGood({read, Fail(ErrorCode::kInvalid, "{}: tls needs both cert and key", name)});
}

}  // namespace

Result<> ReadConfigFile(const std::filesystem::path& file, Config& config) {
  return CheckWhole(settings::ReadFile(file, Describe(config)), config, file.string());
}

Result<> ReadConfigText(const std::string& text, const std::string& name, Config& config) {
  return CheckWhole(settings::ReadText(text, name, Describe(config)), config, name);
}

Result<> ReadConfigEnvironment(Config& config) {
  return settings::ReadEnvironment(Describe(config), {{"MUSTER_DATA", "data"},
                                                      {"MUSTER_LISTEN", "listen"},
                                                      {"MUSTER_PUBLIC_URL", "public_url"},
                                                      {"MUSTER_LOG_LEVEL", "log_level"}});
}

}  // namespace muster::server
