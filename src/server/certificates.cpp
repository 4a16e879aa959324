#include "server/certificates.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <set>
#include <sstream>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

#include "adapters/crypto/digest.hpp"
#include "base/text.hpp"

namespace muster::server {
namespace {

constexpr std::chrono::hours kCaLife{24 * 3650};
constexpr std::chrono::hours kServerLife{24 * 825};

std::string HostOfUrl(const std::string& url) {
  std::string host = url;
  if (const auto scheme = host.find("://"); scheme != std::string::npos)
    host = host.substr(scheme + 3);
  host = host.substr(0, host.find('/'));
  if (host.starts_with('[')) return host.substr(1, host.find(']') - 1);
  return host.substr(0, host.find(':'));
}

std::vector<std::string> ServerNames(const std::string& listen_host,
                                     const std::string& public_url) {
  std::set<std::string> names{"localhost", "127.0.0.1", "::1"};
  char own[256] = {};
  if (gethostname(own, sizeof own - 1) == 0 && own[0] != '\0') names.insert(own);
  if (!listen_host.empty() && listen_host != "0.0.0.0" && listen_host != "::")
    names.insert(listen_host);
  if (const auto host = HostOfUrl(public_url); !host.empty()) names.insert(host);
  return {names.begin(), names.end()};
}

std::string Joined(const std::vector<std::string>& names) {
  std::string text;
  for (const auto& name : names) text += name + "\n";
  return text;
}

Result<> LoadCa(const std::filesystem::path& data, Identity& identity) {
  if (std::filesystem::exists(data / "ca.key")) {
    auto key = ReadWhole(data / "ca.key");
    auto cert = ReadWhole(data / "ca.pem");
    if (!key) return Fail(key.error());
    if (!cert) return Fail(cert.error());
    identity.ca = {std::move(*key), std::move(*cert)};
    return {};
  }
  identity.fresh = true;
  auto ca = crypto::MakeCa("Muster CA " + ToHex(crypto::RandomBytes(4)), kCaLife);
  if (!ca) return Fail(ca.error());
  identity.ca = std::move(*ca);
  if (const auto written = WriteSecret(data / "ca.pem", identity.ca.cert_pem, true); !written)
    return written;
  return WriteSecret(data / "ca.key", identity.ca.key_pem);
}

Result<> LoadServer(const std::filesystem::path& data, const std::vector<std::string>& names,
                    Identity& identity) {
  const auto known = ReadWhole(data / "server.names");
  if (known && *known == Joined(names) && std::filesystem::exists(data / "server.key")) {
    auto key = ReadWhole(data / "server.key");
    auto cert = ReadWhole(data / "server.pem");
    if (key && cert) {
      identity.server = {std::move(*key), std::move(*cert)};
      return {};
    }
  }
  auto made = crypto::MakeServerCert(identity.ca, names, kServerLife);
  if (!made) return Fail(made.error());
  identity.server = std::move(*made);
  if (const auto key = WriteSecret(data / "server.key", identity.server.key_pem); !key) return key;
  if (const auto cert = WriteSecret(data / "server.pem", identity.server.cert_pem); !cert)
    return cert;
  return WriteSecret(data / "server.names", Joined(names));
}

Result<> LoadAdminToken(const std::filesystem::path& data, Identity& identity) {
  if (const auto known = ReadWhole(data / "admin.token")) {
    identity.admin_token = std::string(Trim(*known));
    if (identity.admin_token.size() < 16)
      return Fail(ErrorCode::kInvalid, "{} holds no usable token; remove it and a new one is made",
                  (data / "admin.token").string());
    return {};
  }
  identity.admin_token = "mst_" + ToHex(crypto::RandomBytes(24));
  return WriteSecret(data / "admin.token", identity.admin_token + "\n");
}

}  // namespace

Result<> WriteSecret(const std::filesystem::path& path, const std::string& content,
                     bool world_readable) {
  const std::string temporary = path.string() + ".new";
  const auto failed = [&] {
    return Fail(ErrorCode::kUnavailable, "cannot write {}: {}", path.string(),
                std::strerror(errno));
  };
  const int fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0) return failed();
  const bool written =
      (!world_readable || ::fchmod(fd, 0644) == 0) &&
      ::write(fd, content.data(), content.size()) == static_cast<ssize_t>(content.size()) &&
      ::fsync(fd) == 0;
  ::close(fd);
  if (!written || ::rename(temporary.c_str(), path.c_str()) != 0) return failed();
  return {};
}

Result<std::string> ReadWhole(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file)
    return Fail(ErrorCode::kNotFound, "cannot read {}: {}", path.string(), std::strerror(errno));
  std::ostringstream content;
  content << file.rdbuf();
  return content.str();
}

Result<Identity> LoadIdentity(const std::filesystem::path& data, const std::string& listen_host,
                              const std::string& public_url) {
  std::error_code problem;
  std::filesystem::create_directories(data, problem);
  if (problem)
    return Fail(ErrorCode::kUnavailable, "cannot make the data folder {}: {}", data.string(),
                problem.message());
  ::chmod(data.c_str(), 0700);
  Identity identity;
  if (const auto ca = LoadCa(data, identity); !ca) return Fail(ca.error());
  if (const auto server = LoadServer(data, ServerNames(listen_host, public_url), identity); !server)
    return Fail(server.error());
  if (const auto token = LoadAdminToken(data, identity); !token) return Fail(token.error());
  auto fingerprint = crypto::CertFingerprint(identity.ca.cert_pem);
  if (!fingerprint) return Fail(fingerprint.error());
  identity.ca_fingerprint = std::move(*fingerprint);
  return identity;
}

}  // namespace muster::server
