#include "server/ca_rotation.hpp"

#include <algorithm>
#include <optional>

#include "adapters/crypto/digest.hpp"
#include "base/text.hpp"
#include "link/papers.hpp"
#include "server/certificates.hpp"

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
  Cas cas{.signer = {std::move(*key), **signer}, .trusted_pem = **signer};
  for (const auto& cert : *certs)
    if (cert != **signer) cas.trusted_pem += cert;
  return cas;
}

Result<> MakeFirstCa(const std::filesystem::path& data) {
  const auto ca = NewCa();
  if (!ca) return Fail(ca.error());
  // The key first: without it the certificate would be taken for one that lost its key.
  if (const auto key = WriteSecret(data / "ca.key", ca->key_pem); !key) return key;
  return WriteSecret(data / "ca.pem", ca->cert_pem, true);
}

Result<std::vector<CaInfo>> ListCas(const std::filesystem::path& data) {
  const auto cas = LoadCas(data);
  if (!cas) return Fail(cas.error());
  const auto certs = crypto::SplitCerts(cas->trusted_pem);
  if (!certs) return Fail(certs.error());
  std::optional<std::string> next;
  if (const auto key = ReadWhole(data / "ca-next.key"))
    if (const auto cert = CertOfKey(*certs, *key); cert && *cert) next = **cert;
  std::vector<CaInfo> list;
  for (const auto& cert : *certs) {
    const auto fingerprint = crypto::CertFingerprint(cert);
    const auto validity = crypto::ValidityOf(cert);
    if (!fingerprint) return Fail(fingerprint.error());
    if (!validity) return Fail(validity.error());
    const auto id = crypto::CaKeyId(cert);
    if (!id) return Fail(id.error());
    list.push_back({link::ShortId(*id), *fingerprint, validity->ends,
                    cert == cas->signer.cert_pem ? "signs"
                    : cert == next               ? "next"
                                                 : "trusted"});
  }
  return list;
}

Result<std::string> AddCa(const std::filesystem::path& data) {
  const auto cas = LoadCas(data);
  if (!cas) return Fail(cas.error());
  const auto list = ListCas(data);
  if (!list) return Fail(list.error());
  if (std::ranges::any_of(*list, [](const CaInfo& ca) { return ca.role == "next"; }))
    return Fail(ErrorCode::kConflict,
                "there is a next CA already; go on with 'musterd ca use', or take it back with "
                "'musterd ca drop'");
  const auto ca = NewCa();
  if (!ca) return Fail(ca.error());
  if (const auto key = WriteSecret(data / "ca-next.key", ca->key_pem); !key)
    return Fail(key.error());
  if (const auto kept = WriteSecret(data / "ca.pem", cas->trusted_pem + ca->cert_pem, true); !kept)
    return Fail(kept.error());
  return "a new CA is trusted beside the old one. Restart musterd; each agent learns of it when it "
         "connects again. Give the new ca.pem to whoever uses it (MUSTER_CA). Then: musterd ca use";
}

Result<std::string> UseCa(const std::filesystem::path& data) {
  const auto certs = Certificates(data);
  if (!certs) return Fail(certs.error());
  const auto next = ReadWhole(data / "ca-next.key");
  if (!next && next.error().code != ErrorCode::kNotFound) return Fail(next.error());
  if (!next)
    return Fail(ErrorCode::kConflict, "there is no next CA; make one with 'musterd ca add'");
  const auto cert = CertOfKey(*certs, *next);
  if (!cert) return Fail(cert.error());
  if (!*cert)
    return Fail(ErrorCode::kConflict,
                "the next CA is not trusted yet: 'musterd ca add' was interrupted; repeat it");
  const auto old = ReadWhole(data / "ca.key");
  if (!old) return Fail(old.error());
  if (const auto kept = WriteSecret(data / "ca-old.key", *old); !kept) return Fail(kept.error());
  std::error_code problem;
  std::filesystem::rename(data / "ca-next.key", data / "ca.key", problem);
  if (problem)
    return Fail(ErrorCode::kUnavailable, "cannot rename {}: {}", (data / "ca-next.key").string(),
                problem.message());
  return "the new CA signs from the next start on. Restart musterd; each agent asks for a new "
         "certificate when it connects. Join tokens made before are void. When no host is left "
         "with "
         "the old CA (muster hosts 'fact.ca!=…', see docs/operating.md): musterd ca drop";
}

Result<std::string> DropCas(const std::filesystem::path& data) {
  const auto cas = LoadCas(data);
  if (!cas) return Fail(cas.error());
  if (const auto kept = WriteSecret(data / "ca.pem", cas->signer.cert_pem, true); !kept)
    return Fail(kept.error());
  std::error_code ignored;
  std::filesystem::remove(data / "ca-old.key", ignored);
  std::filesystem::remove(data / "ca-next.key", ignored);
  return "only the CA that signs is trusted from the next start on. Restart musterd; agents that "
         "still have a certificate of another CA must join anew";
}

}  // namespace muster::server
