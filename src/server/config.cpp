#include "server/config.hpp"

#include <charconv>
#include <cstdlib>
#include <functional>
#include <map>

#include <yaml-cpp/yaml.h>

namespace muster::server {
namespace {

using Setter = std::function<Result<>(const std::string&)>;

Setter Text(std::string& field) {
  return [&field](const std::string& value) -> Result<> {
    field = value;
    return {};
  };
}

Setter Time(Duration& field) {
  return [&field](const std::string& value) -> Result<> {
    const auto parsed = ParseDuration(value);
    if (!parsed) return Fail(parsed.error());
    field = *parsed;
    return {};
  };
}

Setter Life(Duration& field) {
  return [&field](const std::string& value) -> Result<> {
    const auto parsed = ParseDuration(value);
    if (!parsed) return Fail(parsed.error());
    if (*parsed < std::chrono::seconds(3) || *parsed > std::chrono::hours(24 * 3650))
      return Fail(ErrorCode::kInvalid, "a certificate lives from 3 s to 3650 days");
    field = *parsed;
    return {};
  };
}

std::map<std::string, Setter> Keys(Config& config) {
  return {
      {"data",
       [&](const std::string& value) -> Result<> {
         config.data = value;
         return {};
       }},
      {"listen", Text(config.listen)},
      {"public_url", Text(config.public_url)},
      {"log_level", Text(config.log_level)},
      {"heartbeat", Time(config.heartbeat)},
      {"order_life", Time(config.order_life)},
      {"reconnect_bound", Time(config.reconnect_bound)},
      {"takeover_grace", Time(config.takeover_grace)},
      {"certificates.agent_life", Life(config.agent_life)},
      {"certificates.server_life", Life(config.server_life)},
      {"tls.cert", Text(config.tls_cert)},
      {"tls.key", Text(config.tls_key)},
  };
}

std::string Known(const std::map<std::string, Setter>& keys) {
  std::string names;
  for (const auto& [name, setter] : keys) names += (names.empty() ? "" : ", ") + name;
  return names;
}

Result<> SetOne(const std::filesystem::path& file, const std::map<std::string, Setter>& keys,
                const std::string& name, const YAML::Node& key, const YAML::Node& value) {
  const auto where =
      fmt::format("{}:{}:{}", file.string(), key.Mark().line + 1, key.Mark().column + 1);
  const auto setter = keys.find(name);
  if (setter == keys.end())
    return Fail(ErrorCode::kInvalid, "{}: unknown key '{}'; known are {}", where, name,
                Known(keys));
  if (!value.IsScalar())
    return Fail(ErrorCode::kInvalid, "{}: '{}' takes a single value", where, name);
  if (const auto set = setter->second(value.as<std::string>()); !set)
    return Fail(ErrorCode::kInvalid, "{}: {}: {}", where, name, set.error().message);
  return {};
}

}  // namespace

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
  try {
    const YAML::Node root = YAML::LoadFile(file.string());
    if (root.IsNull()) return {};
    if (!root.IsMap())
      return Fail(ErrorCode::kInvalid, "{}: expected 'key: value' lines", file.string());
    const auto keys = Keys(config);
    for (const auto& item : root) {
      const auto name = item.first.as<std::string>();
      if (!item.second.IsMap()) {
        if (const auto set = SetOne(file, keys, name, item.first, item.second); !set) return set;
        continue;
      }
      for (const auto& inner : item.second) {
        const auto whole = name + "." + inner.first.as<std::string>();
        if (const auto set = SetOne(file, keys, whole, inner.first, inner.second); !set) return set;
      }
    }
    if (config.tls_cert.empty() != config.tls_key.empty())
      return Fail(ErrorCode::kInvalid, "{}: tls needs both cert and key", file.string());
    return {};
  } catch (const YAML::BadFile&) {
    return Fail(ErrorCode::kNotFound, "cannot read the config file {}", file.string());
  } catch (const YAML::Exception& problem) {
    return Fail(ErrorCode::kInvalid, "{}:{}:{}: {}", file.string(), problem.mark.line + 1,
                problem.mark.column + 1, problem.msg);
  }
}

Result<> ReadConfigEnvironment(Config& config) {
  const auto keys = Keys(config);
  for (const auto& [variable, key] :
       std::map<std::string, std::string>{{"MUSTER_DATA", "data"},
                                          {"MUSTER_LISTEN", "listen"},
                                          {"MUSTER_PUBLIC_URL", "public_url"},
                                          {"MUSTER_LOG_LEVEL", "log_level"}}) {
    const char* value = std::getenv(variable.c_str());
    if (value == nullptr || *value == '\0') continue;
    if (const auto set = keys.at(key)(value); !set)
      return Fail(ErrorCode::kInvalid, "{}: {}", variable, set.error().message);
  }
  return {};
}

}  // namespace muster::server
