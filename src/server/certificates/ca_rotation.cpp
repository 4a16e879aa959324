#include "server/certificates/ca_rotation.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <optional>

#include "adapters/crypto/digest.hpp"
#include "adapters/files/durable.hpp"
#include "adapters/files/fd.hpp"
#include "base/text.hpp"
#include "link/certificates.hpp"
#include "server/certificates/certificates.hpp"

namespace muster::server {
namespace {

constexpr std::chrono::hours kCaLife{24 * 3650};

Result<crypto::KeyAndCert> NewCa() {
  return crypto::MakeCa("Muster CA " + ToHex(crypto::RandomBytes(4)), kCaLife);
}

Result<std::vector<std::string>> Certificates(const std::filesystem::path& data) {
  auto pem = ReadWhole(data / "ca.pem");
  if (!pem) return Fail(pem.error());
  auto certs = crypto::SplitCerts(*pem);
  if (!certs)
    return Fail(ErrorCode::kInvalid, "{}: {}", (data / "ca.pem").string(), certs.error().message);
  return certs;
}

Result<std::string> IdOf(const std::string& cert) {
  const auto id = crypto::CaKeyId(cert);
  if (!id) return Fail(id.error());
  return link::ShortId(*id);
}

Result<std::optional<std::string>> CertOfKey(const std::vector<std::string>& certs,
                                             const std::string& key_pem) {
  for (const auto& cert : certs) {
    const auto fits = crypto::IsCertOfKey(cert, key_pem);
    if (!fits) return Fail(fits.error());
    if (*fits) return cert;
  }
  return std::nullopt;
}

}  // namespace

Result<Cas> LoadCas(const std::filesystem::path& data) {
  auto key = ReadWhole(data / "ca.key");
  if (!key && key.error().code != ErrorCode::kNotFound) return Fail(key.error());
  if (!key)
    return Fail(ErrorCode::kConflict,
                "{} is there, but its key is not ({}); bring ca.key back from a copy: with another "
                "one every agent would have to join again",
                (data / "ca.pem").string(), key.error().message);
  auto certs = Certificates(data);
  if (!certs) return Fail(certs.error());
  const auto signer = CertOfKey(*certs, *key);
  if (!signer) return Fail(signer.error());
  if (!*signer)
    return Fail(ErrorCode::kConflict, "no certificate in {} belongs to the key in {}",
                (data / "ca.pem").string(), (data / "ca.key").string());
  Cas cas{.signer = {std::move(*key), **signer}, .certs = std::move(*certs)};
  std::ranges::sort(cas.certs);
  for (const auto& cert : cas.certs) cas.trusted_pem += cert;
  const auto first = std::ranges::find(cas.certs, cas.signer.cert_pem);
  std::rotate(cas.certs.begin(), first, first + 1);
  for (const auto& cert : cas.certs) {
    const auto id = IdOf(cert);
    if (!id) return Fail(id.error());
    cas.ids.push_back(*id);
  }
  return cas;
}

Result<> MakeFirstCa(const std::filesystem::path& data) {
  const auto ca = NewCa();
  if (!ca) return Fail(ca.error());
  // The key first: without it the certificate would be taken for one that lost its key.
  if (const auto key = WriteSecret(data / "ca.key", ca->key_pem); !key) return key;
  return WriteSecret(data / "ca.pem", ca->cert_pem, true);
}

namespace {

// The certificate of the key in `name`; none when there is no such key, or it fits none.
Result<std::optional<std::string>> CertOf(const std::filesystem::path& data, const char* name,
                                          const std::vector<std::string>& certs) {
  const auto key = ReadWhole(data / name);
  if (!key && key.error().code == ErrorCode::kNotFound) return std::nullopt;
  if (!key) return Fail(key.error());
  return CertOfKey(certs, *key);
}

Result<> Rename(const std::filesystem::path& data, const std::string& from, const std::string& to) {
  const files::Fd folder(::open(data.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const int error = folder ? files::RenameSynced(folder.Get(), from, to) : errno;
  if (error == 0) return {};
  return Fail(ErrorCode::kUnavailable, "cannot rename {}: {}", (data / from).string(),
              std::strerror(error));
}

// Trusts `next` beside the others. Its key comes first: without it the certificate could be neither
// used nor told from one that is only trusted.
Result<> KeepNext(const std::filesystem::path& data, const Cas& cas,
                  const crypto::KeyAndCert& next) {
  if (const auto key = WriteSecret(data / "ca-next.key", next.key_pem); !key) return key;
  if (std::ranges::find(cas.certs, next.cert_pem) != cas.certs.end()) return {};
  return WriteSecret(data / "ca.pem", cas.trusted_pem + next.cert_pem, true);
}

// UndoCa writes ca-next.key before it takes back ca.key: until then both hold the same key, and
// that of the former CA is in ca-old.key only.
Result<> CheckNotHalfUndone(const Cas& cas, const std::optional<std::string>& next) {
  if (next != cas.signer.cert_pem) return {};
  return Fail(
      ErrorCode::kConflict,
      "the CA that signs is the next one too: 'musterd ca undo' was interrupted; repeat it");
}

Result<> CheckNoNext(const std::filesystem::path& data, const Cas& cas) {
  const auto next = CertOf(data, "ca-next.key", cas.certs);
  if (!next) return Fail(next.error());
  if (auto whole = CheckNotHalfUndone(cas, *next); !whole) return whole;
  if (*next)
    return Fail(ErrorCode::kConflict,
                "there is a next CA already; go on with 'musterd ca use', or take it back with "
                "'musterd ca drop'");
  return {};
}

constexpr const char* kAdded =
    "A new CA is trusted beside the old one. Restart musterd; each agent gets it when it connects "
    "again. Give the new ca.pem to those who use it (MUSTER_CA).";

}  // namespace

Result<std::vector<CaInfo>> ListCas(const std::filesystem::path& data) {
  const auto cas = LoadCas(data);
  if (!cas) return Fail(cas.error());
  const auto next = CertOf(data, "ca-next.key", cas->certs);
  if (!next) return Fail(next.error());
  std::vector<CaInfo> list;
  for (std::size_t i = 0; i < cas->certs.size(); ++i) {
    const auto& cert = cas->certs[i];
    const auto fingerprint = crypto::CertFingerprint(cert);
    const auto validity = crypto::ValidityOf(cert);
    if (!fingerprint) return Fail(fingerprint.error());
    if (!validity) return Fail(validity.error());
    list.push_back({cas->ids[i], *fingerprint, validity->ends,
                    cert == cas->signer.cert_pem ? "signs"
                    : cert == *next              ? "next"
                                                 : "trusted"});
  }
  return list;
}

Result<std::string> AddCa(const std::filesystem::path& data) {
  const auto cas = LoadCas(data);
  if (!cas) return Fail(cas.error());
  if (const auto none = CheckNoNext(data, *cas); !none) return Fail(none.error());
  const auto ca = NewCa();
  if (!ca) return Fail(ca.error());
  if (const auto kept = KeepNext(data, *cas, *ca); !kept) return Fail(kept.error());
  return fmt::format(
      "{} In a cluster, bring it to every other server first: musterd ca export here, musterd ca "
      "add --from FILE there. Then: musterd ca use",
      kAdded);
}

Result<std::string> ExportNextCa(const std::filesystem::path& data) {
  const auto cas = LoadCas(data);
  if (!cas) return Fail(cas.error());
  const auto next = CertOf(data, "ca-next.key", cas->certs);
  if (!next) return Fail(next.error());
  if (!*next)
    return Fail(ErrorCode::kConflict, "there is no next CA; make one with 'musterd ca add'");
  if (auto whole = CheckNotHalfUndone(*cas, *next); !whole) return Fail(whole.error());
  const auto key = ReadWhole(data / "ca-next.key");
  if (!key) return Fail(key.error());
  return **next + cas->signer.cert_pem + *key;
}

Result<std::string> AddCaFrom(const std::filesystem::path& data, const std::string& exported) {
  const auto cas = LoadCas(data);
  if (!cas) return Fail(cas.error());
  const auto begin = exported.find("-----BEGIN PRIVATE KEY-----");
  const auto certs = crypto::SplitCerts(exported.substr(0, begin));
  if (begin == std::string::npos || !certs || certs->size() != 2)
    return Fail(ErrorCode::kInvalid, "this is not what 'musterd ca export' wrote");
  const crypto::KeyAndCert next{exported.substr(begin), certs->front()};
  const auto fits = crypto::IsCertOfKey(next.cert_pem, next.key_pem);
  if (!fits) return Fail(fits.error());
  if (!*fits) return Fail(ErrorCode::kInvalid, "the key does not belong to the CA beside it");
  if (std::ranges::find(cas->certs, certs->back()) == cas->certs.end())
    return Fail(ErrorCode::kConflict,
                "the CA was made in another cluster: the one that signs there is not trusted here");
  if (next.cert_pem == cas->signer.cert_pem)
    return Fail(ErrorCode::kConflict, "this CA signs here already");
  const auto known = CertOf(data, "ca-next.key", cas->certs);
  if (!known) return Fail(known.error());
  if (*known != next.cert_pem)
    if (const auto none = CheckNoNext(data, *cas); !none) return Fail(none.error());
  if (const auto kept = KeepNext(data, *cas, next); !kept) return Fail(kept.error());
  return fmt::format("{} Then, when every server has it: musterd ca use", kAdded);
}

Result<std::string> NextCaId(const std::filesystem::path& data) {
  const auto cas = LoadCas(data);
  if (!cas) return Fail(cas.error());
  const auto next = ReadWhole(data / "ca-next.key");
  if (!next && next.error().code != ErrorCode::kNotFound) return Fail(next.error());
  if (!next)
    return Fail(ErrorCode::kConflict, "there is no next CA; make one with 'musterd ca add'");
  const auto cert = CertOfKey(cas->certs, *next);
  if (!cert) return Fail(cert.error());
  if (!*cert)
    return Fail(ErrorCode::kConflict,
                "the next CA is not trusted yet: 'musterd ca add' was interrupted; repeat it");
  if (auto whole = CheckNotHalfUndone(*cas, *cert); !whole) return Fail(whole.error());
  return IdOf(**cert);
}

Result<std::string> UseCa(const std::filesystem::path& data) {
  const auto next = NextCaId(data);
  if (!next) return Fail(next.error());
  const auto old = ReadWhole(data / "ca.key");
  if (!old) return Fail(old.error());
  if (const auto kept = WriteSecret(data / "ca-old.key", *old); !kept) return Fail(kept.error());
  if (const auto used = Rename(data, "ca-next.key", "ca.key"); !used) return Fail(used.error());
  return fmt::format(
      "The new CA signs from the next start on. Restart musterd; each agent asks for a new "
      "certificate when it connects. Join tokens made before are void. When no host is left "
      "without a certificate of it (muster hosts 'fact.ca!={}'): musterd ca drop",
      *next);
}

Result<std::string> FormerCaId(const std::filesystem::path& data) {
  const auto cas = LoadCas(data);
  if (!cas) return Fail(cas.error());
  const auto former = CertOf(data, "ca-old.key", cas->certs);
  if (!former) return Fail(former.error());
  if (!*former || **former == cas->signer.cert_pem)
    return Fail(ErrorCode::kConflict,
                "there is no CA to go back to: none was replaced since the last 'musterd ca drop'");
  return IdOf(**former);
}

Result<std::string> UndoCa(const std::filesystem::path& data) {
  if (const auto former = FormerCaId(data); !former) return Fail(former.error());
  const auto used = ReadWhole(data / "ca.key");
  if (!used) return Fail(used.error());
  const auto next = ReadWhole(data / "ca-next.key");
  if (!next && next.error().code != ErrorCode::kNotFound) return Fail(next.error());
  if (next && *next != *used)
    return Fail(ErrorCode::kConflict,
                "another CA was added since, whose key would be lost; go on with 'musterd ca use', "
                "or end both with 'musterd ca drop'");
  if (const auto kept = WriteSecret(data / "ca-next.key", *used); !kept) return Fail(kept.error());
  if (const auto back = Rename(data, "ca-old.key", "ca.key"); !back) return Fail(back.error());
  return "The CA that signed before signs again from the next start on, and the new one is the "
         "next CA. Restart musterd; agents that do not have the new CA come back";
}

Result<std::string> DropCas(const std::filesystem::path& data) {
  const auto cas = LoadCas(data);
  if (!cas) return Fail(cas.error());
  if (const auto kept = WriteSecret(data / "ca.pem", cas->signer.cert_pem, true); !kept)
    return Fail(kept.error());
  std::error_code ignored;
  std::filesystem::remove(data / "ca-old.key", ignored);
  std::filesystem::remove(data / "ca-next.key", ignored);
  return "Only the CA that signs is trusted from the next start on. Restart musterd; agents that "
         "still have a certificate of another CA must join again";
}

}  // namespace muster::server
