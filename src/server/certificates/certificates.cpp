#include "server/certificates/certificates.hpp"

#include <algorithm>
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
#include "adapters/crypto/seal.hpp"
#include "adapters/files/durable.hpp"
#include "adapters/files/fd.hpp"
#include "adapters/files/own_folder.hpp"
#include "adapters/files/owner.hpp"
#include "base/text.hpp"
#include "server/certificates/ca_rotation.hpp"
#include "server/certificates/key_set.hpp"
#include "server/commands/join_state.hpp"

namespace muster::server {
namespace {

constexpr Duration kCaWarning = std::chrono::hours(24 * 180);
constexpr Duration kServerWarning = std::chrono::hours(24 * 14);

std::chrono::seconds Seconds(Duration life) {
  return std::max(std::chrono::seconds(1), std::chrono::duration_cast<std::chrono::seconds>(life));
}

// An own certificate's names too: nodes may have been told any of them.
std::vector<std::string> ServerNames(const CertificateSettings& settings,
                                     const Identity& identity) {
  std::set<std::string> names{"localhost", "127.0.0.1", "::1"};
  if (identity.own_tls)
    if (const auto own = crypto::NamesOf(identity.own_tls->cert_pem))
      names.insert(own->begin(), own->end());
  char own[256] = {};
  if (gethostname(own, sizeof own - 1) == 0 && own[0] != '\0') names.insert(own);
  if (!settings.listen_host.empty() && settings.listen_host != "0.0.0.0" &&
      settings.listen_host != "::")
    names.insert(settings.listen_host);
  if (const auto host = HostOfUrl(settings.public_url); !host.empty()) names.insert(host);
  return {names.begin(), names.end()};
}

// What the kept certificate is for, as server.names has it.
std::string Purpose(const CertificateSettings& settings, const Identity& identity) {
  std::string text;
  for (const auto& name : ServerNames(settings, identity)) text += name + "\n";
  if (!settings.member.empty()) text += std::string(crypto::kMemberUri) + settings.member + "\n";
  return text;
}

Result<> MakeTokenKey(const std::filesystem::path& folder) {
  return WriteSecret(folder / "token.key", crypto::RandomBytes(32));
}

Result<> MakeAdminToken(const std::filesystem::path& folder) {
  return WriteSecret(folder / "admin.token", "mst_" + ToHex(crypto::RandomBytes(24)) + "\n");
}

Result<> MakeSealingKey(const std::filesystem::path& folder) {
  const auto made = crypto::Sealer::Open(folder / "seal.key");
  return made ? Result<>() : Fail(made.error());
}

// What a first start makes, as one: a folder that has a part of it looks like one that lost the
// rest. Files that the operator has put there stay.
Result<> MakeFirstKeys(const std::filesystem::path& data) {
  const auto folder = BeginKeySet(data);
  if (!folder) return Fail(folder.error());
  if (const auto made = MakeFirstCa(*folder); !made) return made;
  const std::pair<const char*, Result<> (*)(const std::filesystem::path&)> others[] = {
      {"token.key", MakeTokenKey}, {"admin.token", MakeAdminToken}, {"seal.key", MakeSealingKey}};
  for (const auto& [name, make] : others) {
    if (std::filesystem::exists(data / name)) continue;
    if (const auto made = make(*folder); !made) return made;
  }
  return PutKeySet(data);
}

// A folder without a CA gets one only if it never had one, and is to get none by a join.
Result<> CheckFirstStart(const std::filesystem::path& data) {
  for (const char* file : {"ca.state", "muster.db"})
    if (std::filesystem::exists(data / file))
      return Fail(ErrorCode::kConflict,
                  "{} is there, and ca.key and ca.pem are not: agents would be cut off by a new "
                  "CA; bring both back from a backup",
                  (data / file).string());
  if (std::filesystem::exists(data / kJoinStateFile))
    return Fail(ErrorCode::kConflict,
                "{} is there, and the keys of the cluster are not: 'musterd join' did not come to "
                "its end; run it again with the same token, or with a new one",
                (data / kJoinStateFile).string());
  return {};
}

Result<> LoadCa(const std::filesystem::path& data, Identity& identity) {
  const bool has_key = std::filesystem::exists(data / "ca.key");
  const bool has_cert = std::filesystem::exists(data / "ca.pem");
  if (has_key && !has_cert)
    return Fail(ErrorCode::kConflict,
                "{} is there without ca.pem; bring ca.pem back from a copy (or, if this server "
                "never got through its first start, remove ca.key)",
                (data / "ca.key").string());
  if (!has_key && !has_cert) {
    if (const auto first = CheckFirstStart(data); !first) return first;
    identity.fresh = true;
    if (const auto made = MakeFirstKeys(data); !made) return made;
  }
  auto cas = LoadCas(data);
  if (!cas) return Fail(cas.error());
  identity.ca = cas->signer;
  identity.trusted_pem = cas->trusted_pem;
  identity.ca_ids = cas->ids;
  auto fingerprint = crypto::CertFingerprint(identity.ca.cert_pem);
  if (!fingerprint) return Fail(fingerprint.error());
  identity.ca_fingerprint = std::move(*fingerprint);
  const auto validity = crypto::ValidityOf(identity.ca.cert_pem);
  if (!validity) return Fail(validity.error());
  identity.ca_ends = validity->ends;
  return {};
}

Result<> Take(crypto::KeyAndCert server, Identity& identity) {
  const auto validity = crypto::ValidityOf(server.cert_pem);
  if (!validity) return Fail(validity.error());
  identity.server = std::move(server);
  identity.server_validity = *validity;
  return {};
}

Result<> MakeServer(const std::filesystem::path& data, const CertificateSettings& settings,
                    Identity& identity) {
  auto made = crypto::MakeServerCert(identity.ca, ServerNames(settings, identity),
                                     Seconds(settings.server_life), settings.member);
  if (!made) return Fail(made.error());
  if (const auto key = WriteSecret(data / "server.key", made->key_pem); !key) return key;
  if (const auto cert = WriteSecret(data / "server.pem", made->cert_pem); !cert) return cert;
  if (const auto kept = WriteSecret(data / "server.names", Purpose(settings, identity)); !kept)
    return kept;
  return Take(std::move(*made), identity);
}

Result<> LoadOwnTls(const CertificateSettings& settings, Identity& identity) {
  if (!settings.OwnTls()) return {};
  auto own = ReadOwnTls(settings.tls_cert, settings.tls_key);
  if (!own) return Fail(own.error());
  const auto validity = crypto::ValidityOf(own->cert_pem);
  if (!validity) return Fail(validity.error());
  identity.own_tls = std::move(*own);
  identity.own_tls_validity = *validity;
  return {};
}

// The kept certificate, if it is still the right one.
bool LoadServer(const std::filesystem::path& data, const CertificateSettings& settings,
                WallTime now, Identity& identity) {
  const auto known = ReadWhole(data / "server.names");
  auto key = ReadWhole(data / "server.key");
  auto cert = ReadWhole(data / "server.pem");
  if (!known || !key || !cert || *known != Purpose(settings, identity)) return false;
  const auto signed_by_ca = crypto::IsSignedBy(*cert, identity.ca.cert_pem);
  const auto fits = crypto::IsCertOfKey(*cert, *key);
  if (!signed_by_ca || !*signed_by_ca || !fits || !*fits) return false;
  return Take({std::move(*key), std::move(*cert)}, identity) &&
         now < identity.server_validity.Renew();
}

Result<> LoadTokenKey(const std::filesystem::path& data, Identity& identity) {
  auto known = ReadWhole(data / "token.key");
  if (!known && known.error().code != ErrorCode::kNotFound) return Fail(known.error());
  if (!known || known->size() < 32) {
    if (const auto made = MakeTokenKey(data); !made) return made;
    known = ReadWhole(data / "token.key");
    if (!known) return Fail(known.error());
  }
  identity.token_key = std::move(*known);
  return {};
}

Result<> LoadAdminToken(const std::filesystem::path& data, Identity& identity) {
  auto known = ReadWhole(data / "admin.token");
  if (!known && known.error().code != ErrorCode::kNotFound) return Fail(known.error());
  if (!known) {
    if (const auto made = MakeAdminToken(data); !made) return made;
    known = ReadWhole(data / "admin.token");
    if (!known) return Fail(known.error());
  }
  identity.admin_token = std::string(Trim(*known));
  if (identity.admin_token.size() < 16)
    return Fail(ErrorCode::kInvalid, "{} holds no usable token; remove it and a new one is made",
                (data / "admin.token").string());
  return {};
}

}  // namespace

Result<crypto::KeyAndCert> ReadOwnTls(const std::filesystem::path& cert,
                                      const std::filesystem::path& key) {
  auto cert_pem = ReadWhole(cert);
  if (!cert_pem) return Fail(ErrorCode::kInvalid, "tls.cert: {}", cert_pem.error().message);
  auto key_pem = ReadWhole(key);
  if (!key_pem) return Fail(ErrorCode::kInvalid, "tls.key: {}", key_pem.error().message);
  const auto fits = crypto::IsCertOfKey(*cert_pem, *key_pem);
  if (!fits)
    return Fail(ErrorCode::kInvalid, "tls: {}, {}: {}", cert.string(), key.string(),
                fits.error().message);
  if (!*fits)
    return Fail(ErrorCode::kInvalid, "tls: {} is not the key of {}", key.string(), cert.string());
  return crypto::KeyAndCert{std::move(*key_pem), std::move(*cert_pem)};
}

std::string HostOfUrl(const std::string& url) {
  std::string host = url;
  if (const auto scheme = host.find("://"); scheme != std::string::npos)
    host = host.substr(scheme + 3);
  host = host.substr(0, host.find('/'));
  if (host.starts_with('[')) return host.substr(1, host.find(']') - 1);
  return host.substr(0, host.find(':'));
}

Result<> WriteSecret(const std::filesystem::path& path, const std::string& content,
                     bool world_readable) {
  const auto failed_with = [&](int error) {
    return Fail(ErrorCode::kUnavailable, "cannot write {}: {}", path.string(),
                std::strerror(error));
  };
  const auto failed = [&] { return failed_with(errno); };
  const std::string above = path.has_parent_path() ? path.parent_path().string() : ".";
  const files::Fd folder(::open(above.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const std::string name = path.filename().string();
  const std::string temporary = name + ".new";
  if (!folder) return failed();
  // A new file: what is there may be a link, or open in another process.
  ::unlinkat(folder.Get(), temporary.c_str(), 0);
  const files::Fd fd(::openat(folder.Get(), temporary.c_str(),
                              O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!fd) return failed();
  if (world_readable && ::fchmod(fd.Get(), 0644) != 0) return failed();
  if (const int error = files::WriteAll(fd.Get(), content)) return failed_with(error);
  if (!files::GiveToOwner(fd.Get(), folder.Get()) || ::fsync(fd.Get()) != 0) return failed();
  if (const int error = files::RenameSynced(folder.Get(), temporary, name))
    return failed_with(error);
  return {};
}

Result<std::string> ReadWhole(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file && errno == EACCES) return files::MayNotRead(path);
  if (!file)
    return Fail(errno == ENOENT ? ErrorCode::kNotFound : ErrorCode::kUnavailable,
                "cannot read {}: {}", path.string(), std::strerror(errno));
  std::ostringstream content;
  content << file.rdbuf();
  return content.str();
}

Result<Identity> LoadIdentity(const std::filesystem::path& data,
                              const CertificateSettings& settings, WallTime now) {
  if (auto made = files::MakeOwnFolder(data, 0700); !made) return Fail(made.error());
  ::chmod(data.c_str(), 0700);
  if (auto finished = FinishKeySet(data); !finished) return Fail(finished.error());
  Identity identity;
  if (const auto ca = LoadCa(data, identity); !ca) return Fail(ca.error());
  if (const auto own = LoadOwnTls(settings, identity); !own) return Fail(own.error());
  if (!LoadServer(data, settings, now, identity))
    if (const auto made = MakeServer(data, settings, identity); !made) return Fail(made.error());
  if (const auto token = LoadAdminToken(data, identity); !token) return Fail(token.error());
  if (const auto key = LoadTokenKey(data, identity); !key) return Fail(key.error());
  return identity;
}

Result<bool> RenewServer(const std::filesystem::path& data, const CertificateSettings& settings,
                         WallTime now, Identity& identity) {
  const net::ServerTls before = identity.Tls();
  if (const auto own = LoadOwnTls(settings, identity); !own) return Fail(own.error());
  if (!LoadServer(data, settings, now, identity))
    if (const auto made = MakeServer(data, settings, identity); !made) return Fail(made.error());
  const net::ServerTls after = identity.Tls();
  return after.chain_pem != before.chain_pem || after.cluster_chain_pem != before.cluster_chain_pem;
}

net::ServerTls Identity::Tls() const {
  const std::string chain = server.cert_pem + ca.cert_pem;
  if (!own_tls)
    return {.key_pem = server.key_pem, .chain_pem = chain, .client_ca_pem = trusted_pem};
  return {.key_pem = own_tls->key_pem,
          .chain_pem = own_tls->cert_pem,
          .client_ca_pem = trusted_pem,
          .cluster_key_pem = server.key_pem,
          .cluster_chain_pem = chain};
}

Result<std::string> SignForNode(const Identity& identity, const std::string& request_pem,
                                const std::string& key, const std::string& host, Duration life) {
  const auto asked = crypto::KeyIdOfRequest(request_pem);
  if (!asked) return Fail(asked.error());
  if (*asked != key)
    return Fail(ErrorCode::kInvalid, "certificate request of '{}': it is for another key", host);
  return crypto::SignRequest(identity.ca, request_pem, host, Seconds(life));
}

std::vector<std::string> EndingSoon(const Identity& identity, WallTime now) {
  std::vector<std::string> warnings;
  if (identity.ca_ends - now < kCaWarning)
    warnings.push_back(fmt::format(
        "the CA ends at {}, and every agent with it; change it now: see 'musterd ca --help'",
        FormatTime(identity.ca_ends)));
  // One of our own making renews itself long before.
  if (identity.own_tls && identity.own_tls_validity.ends - now < kServerWarning)
    warnings.push_back(fmt::format("the server's certificate (tls) ends at {}; replace its files",
                                   FormatTime(identity.own_tls_validity.ends)));
  return warnings;
}

}  // namespace muster::server
