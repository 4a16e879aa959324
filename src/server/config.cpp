#include "server/config.hpp"

#include <charconv>

namespace muster::server {
namespace {

Result<> CheckLife(const std::string& text) {
  const auto life = ParseDuration(text);
  if (!life) return Fail(life.error());
  if (*life >= std::chrono::seconds(3) && *life <= std::chrono::hours(24 * 3650)) return {};
  return Fail(ErrorCode::kInvalid, "a certificate lives from 3 s to 3650 days");
}

}  // namespace

settings::Table Describe(Config& config) {
  using namespace settings;
  return {
      Path("data", config.data, "The data folder: records, logs, keys."),
      Text("listen", config.listen, "Address and port; ':8440' is every IPv4 address.")
          .Checked([](const std::string& text) -> Result<> {
            const auto parsed = ParseListen(text);
            if (!parsed) return Fail(parsed.error());
            return {};
          }),
      Text("public_url", config.public_url,
           "What agents and people use; its name goes into the certificate."),
      Choice("log_level", config.log_level, "How much is logged.",
             {"debug", "info", "warn", "error"})
          .Live(),
      Time("heartbeat", config.heartbeat, "Of agents; three of them and 5s close a silent link."),
      Time("order_life", config.order_life, "How long an order may take to reach its host."),
      Time("reconnect_bound", config.reconnect_bound, "A cut link is expected back within."),
      Time("takeover_grace", config.takeover_grace,
           "After a start, before any task is called lost."),
      Section("certificates", "How long certificates of the cluster's CA live.",
              {Time("agent_life", config.agent_life, "Agents'.").Checked(CheckLife),
               Time("server_life", config.server_life, "The server's.").Checked(CheckLife)}),
      Section("tls", "The server's own certificate instead of one of the cluster's CA.",
              {Text("cert", config.tls_cert, "File with the chain, leaf first."),
               Text("key", config.tls_key, "File with its key.")}),
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

Result<> ReadConfigFile(const std::filesystem::path& file, Config& config) {
  if (const auto read = settings::ReadFile(file, Describe(config)); !read) return read;
  if (config.tls_cert.empty() != config.tls_key.empty())
    return Fail(ErrorCode::kInvalid, "{}: tls needs both cert and key", file.string());
  return {};
}

Result<> ReadConfigEnvironment(Config& config) {
  return settings::ReadEnvironment(Describe(config), {{"MUSTER_DATA", "data"},
                                                      {"MUSTER_LISTEN", "listen"},
                                                      {"MUSTER_PUBLIC_URL", "public_url"},
                                                      {"MUSTER_LOG_LEVEL", "log_level"}});
}

}  // namespace muster::server
