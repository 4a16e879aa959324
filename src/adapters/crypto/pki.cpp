#include "adapters/crypto/pki.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <ctime>
#include <memory>

#include <openssl/bn.h>
#include <openssl/ec.h>
#include <openssl/pem.h>

#include "adapters/crypto/digest.hpp"
#include "adapters/crypto/openssl.hpp"
#include "adapters/crypto/plain_key.hpp"
#include "base/text.hpp"

namespace muster::crypto {
namespace {

using BignumPtr = std::unique_ptr<BIGNUM, Deleter<BN_free>>;
using ExtensionPtr = std::unique_ptr<X509_EXTENSION, Deleter<X509_EXTENSION_free>>;

// Whoever's clock is behind, by a wrong time zone too, must still believe a new certificate; and so
// must one that issued it and was set back since.
constexpr long kBackdate = 24 * 60 * 60;
// X.509's upper bound for a common name.
constexpr std::size_t kMaxCommonName = 64;

std::string Text(BIO* bio) {
  char* text = nullptr;
  long size = BIO_get_mem_data(bio, &text);
  return std::string(text, static_cast<std::size_t>(size));
}

BioPtr MemoryBio() {
  BioPtr bio(BIO_new(BIO_s_mem()));
  MUSTER_CHECK(bio);
  return bio;
}

PkeyPtr NewKey() {
  PkeyPtr key(EVP_EC_gen("P-256"));
  MUSTER_CHECK(key);
  return key;
}

std::string KeyToPem(EVP_PKEY* key) {
  BioPtr bio = MemoryBio();
  MUSTER_CHECK(
      PEM_write_bio_PKCS8PrivateKey(bio.get(), key, nullptr, nullptr, 0, nullptr, nullptr) == 1);
  return Text(bio.get());
}

std::string KeyIdOf(EVP_PKEY* key) {
  unsigned char* der = nullptr;
  int size = i2d_PUBKEY(key, &der);
  MUSTER_CHECK(size > 0);
  std::string id = ToHex(Sha256({reinterpret_cast<char*>(der), static_cast<std::size_t>(size)}));
  OPENSSL_free(der);
  return id;
}

// The bytes of the first certificate request in the text; "" without one.
std::string RequestBytes(const std::string& request_pem) {
  BioPtr bio(BIO_new_mem_buf(request_pem.data(), static_cast<int>(request_pem.size())));
  MUSTER_CHECK(bio);
  char* name = nullptr;
  char* header = nullptr;
  unsigned char* data = nullptr;
  long size = 0;
  std::string bytes;
  while (bytes.empty() && PEM_read_bio(bio.get(), &name, &header, &data, &size) == 1) {
    const std::string_view kind(name);
    if (kind == PEM_STRING_X509_REQ || kind == PEM_STRING_X509_REQ_OLD)
      bytes.assign(reinterpret_cast<char*>(data), static_cast<std::size_t>(size));
    OPENSSL_free(name);
    OPENSSL_free(header);
    OPENSSL_free(data);
  }
  return bytes;
}

// Other kinds of keys are not even decoded: that can cost a thousand times as much.
Result<RequestPtr> ParseRequest(const std::string& request_pem) {
  const std::string bytes = RequestBytes(request_pem);
  if (bytes.empty())
    return Fail(ErrorCode::kInvalid, "not a certificate request: {}", OpenSslError());
  OpenSslError();
  if (!RequestHasPlainKey(bytes))
    return Fail(ErrorCode::kInvalid,
                "certificate request: the key must be ECDSA P-256; muster-agent makes such a key "
                "when there is no agent.key in its data folder");
  const auto* data = reinterpret_cast<const unsigned char*>(bytes.data());
  RequestPtr request(d2i_X509_REQ(nullptr, &data, static_cast<long>(bytes.size())));
  if (!request) return Fail(ErrorCode::kInvalid, "not a certificate request: {}", OpenSslError());
  return request;
}

// It is for people: what counts is the key, and the alternative names. So a longer one is cut.
Result<> SetCommonName(X509_NAME* name, const std::string& common_name) {
  const std::size_t size = std::min(common_name.size(), kMaxCommonName);
  if (size == 0 ||
      X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8,
                                 reinterpret_cast<const unsigned char*>(common_name.data()),
                                 static_cast<int>(size), -1, 0) != 1) {
    return Fail(ErrorCode::kInvalid, "certificate: \"{}\" is no usable common name", common_name);
  }
  return {};
}

void SetSerial(X509* cert) {
  std::string bytes = RandomBytes(16);
  bytes[0] = static_cast<char>((bytes[0] & 0x7F) | 0x40);  // positive and always 128 bits long
  BignumPtr number(BN_bin2bn(reinterpret_cast<const unsigned char*>(bytes.data()), 16, nullptr));
  MUSTER_CHECK(number && BN_to_ASN1_INTEGER(number.get(), X509_get_serialNumber(cert)) != nullptr);
}

void SetLife(X509* cert, std::chrono::seconds life) {
  // Days and seconds apart: a long life in seconds alone would overflow on 32-bit longs.
  constexpr std::int64_t kDay = 86'400;
  int days = static_cast<int>(life.count() / kDay);
  long seconds = static_cast<long>(life.count() % kDay);
  long backdate = std::min(kBackdate, static_cast<long>(life.count() / 10));
  MUSTER_CHECK(X509_gmtime_adj(X509_getm_notBefore(cert), -backdate) != nullptr);
  MUSTER_CHECK(X509_time_adj_ex(X509_getm_notAfter(cert), days, seconds, nullptr) != nullptr);
}

Result<> AddExtension(X509* cert, X509* issuer, int nid, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, cert, nullptr, nullptr, 0);
  ExtensionPtr extension(X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str()));
  if (!extension || X509_add_ext(cert, extension.get(), -1) != 1) {
    return Fail(ErrorCode::kInvalid, "certificate: extension \"{}\": {}", value, OpenSslError());
  }
  return {};
}

struct Extension {
  int nid;
  std::string value;
};

struct Plan {
  std::string common_name;
  std::chrono::seconds life;
  std::vector<Extension> extensions;
};

// `issuer` is null for a self-signed certificate.
Result<X509Ptr> Issue(const Plan& plan, EVP_PKEY* subject_key, X509* issuer, EVP_PKEY* issuer_key) {
  X509Ptr cert(X509_new());
  MUSTER_CHECK(cert && X509_set_version(cert.get(), X509_VERSION_3) == 1);
  SetSerial(cert.get());
  SetLife(cert.get(), plan.life);
  if (auto named = SetCommonName(X509_get_subject_name(cert.get()), plan.common_name); !named) {
    return Fail(named.error());
  }
  X509* parent = issuer != nullptr ? issuer : cert.get();
  MUSTER_CHECK(X509_set_issuer_name(cert.get(), X509_get_subject_name(parent)) == 1);
  MUSTER_CHECK(X509_set_pubkey(cert.get(), subject_key) == 1);
  for (const Extension& extension : plan.extensions) {
    if (auto added = AddExtension(cert.get(), parent, extension.nid, extension.value); !added) {
      return Fail(added.error());
    }
  }
  if (X509_sign(cert.get(), issuer_key, EVP_sha256()) == 0) {
    return Fail(ErrorCode::kInvalid, "certificate: cannot sign for {}: {}", plan.common_name,
                OpenSslError());
  }
  return cert;
}

struct Authority {
  PkeyPtr key;
  X509Ptr cert;
};

Result<Authority> Open(const KeyAndCert& ca) {
  auto key = ParseKey(ca.key_pem);
  if (!key) return Fail(ErrorCode::kInvalid, "CA key: {}", key.error().message);
  auto cert = ParseCert(ca.cert_pem);
  if (!cert) return Fail(ErrorCode::kInvalid, "CA certificate: {}", cert.error().message);
  if (X509_check_private_key(cert->get(), key->get()) != 1) {
    OpenSslError();
    return Fail(ErrorCode::kInvalid, "the CA's key and certificate do not belong together");
  }
  return Authority{std::move(*key), std::move(*cert)};
}

bool IsAddress(const std::string& name) {
  unsigned char bytes[sizeof(in6_addr)];
  return inet_pton(AF_INET, name.c_str(), bytes) == 1 ||
         inet_pton(AF_INET6, name.c_str(), bytes) == 1;
}

// The list goes through OpenSSL's small configuration language, so nothing of that language may
// come in with a name.
bool IsHostName(const std::string& name) {
  constexpr std::string_view kAllowed =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.*";
  return !name.empty() && name.size() <= 253 &&
         name.find_first_not_of(kAllowed) == std::string::npos;
}

// The key a request is for, once the request proves that its maker has it.
Result<EVP_PKEY*> KeyOf(X509_REQ* request) {
  EVP_PKEY* key = X509_REQ_get0_pubkey(request);
  if (key != nullptr && X509_REQ_verify(request, key) == 1) return key;
  OpenSslError();
  return Fail(ErrorCode::kInvalid, "certificate request: not signed by its own key");
}

std::string Hex(const ASN1_OCTET_STRING* bytes) {
  if (bytes == nullptr) return {};
  return ToHex({reinterpret_cast<const char*>(ASN1_STRING_get0_data(bytes)),
                static_cast<std::size_t>(ASN1_STRING_length(bytes))});
}

Result<std::string> AlternativeNames(const std::vector<std::string>& names) {
  std::string list;
  for (const std::string& name : names) {
    bool address = IsAddress(name);
    if (!address && !IsHostName(name)) {
      return Fail(ErrorCode::kInvalid, "certificate: \"{}\" is no host name or address", name);
    }
    list += fmt::format("{}{}:{}", list.empty() ? "" : ",", address ? "IP" : "DNS", name);
  }
  if (list.empty()) return Fail(ErrorCode::kInvalid, "certificate: a server needs a name");
  return list;
}

Result<std::string> MemberName(const std::string& name) {
  const auto plain = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
  if (name.empty() ||
      !std::ranges::all_of(name, [&](char c) { return plain(c) || c == '.' || c == '-'; }))
    return Fail(ErrorCode::kInvalid, "'{}' is not a name of a server: letters, digits, '.', '-'",
                name);
  return fmt::format("URI:{}{}", kMemberUri, name);
}

// A new key with a certificate for one use.
Result<KeyAndCert> IssuePair(const KeyAndCert& ca, const std::string& common_name,
                             std::chrono::seconds life, const std::string& use,
                             const std::string& alternatives) {
  auto authority = Open(ca);
  if (!authority) return Fail(authority.error());
  PkeyPtr key = NewKey();
  Plan plan{common_name,
            life,
            {{NID_basic_constraints, "critical,CA:FALSE"},
             {NID_key_usage, "critical,digitalSignature"},
             {NID_ext_key_usage, use},
             {NID_subject_alt_name, alternatives},
             {NID_subject_key_identifier, "hash"},
             {NID_authority_key_identifier, "keyid"}}};
  auto cert = Issue(plan, key.get(), authority->cert.get(), authority->key.get());
  if (!cert) return Fail(cert.error());
  return KeyAndCert{KeyToPem(key.get()), CertToPem(cert->get())};
}

}  // namespace

std::string GenerateKey() { return KeyToPem(NewKey().get()); }

Result<KeyAndCert> MakeCa(const std::string& common_name, std::chrono::seconds life) {
  PkeyPtr key = NewKey();
  Plan plan{common_name,
            life,
            {{NID_basic_constraints, "critical,CA:TRUE"},
             {NID_key_usage, "critical,keyCertSign,cRLSign"},
             {NID_subject_key_identifier, "hash"},
             {NID_authority_key_identifier, "keyid"}}};
  auto cert = Issue(plan, key.get(), nullptr, key.get());
  if (!cert) return Fail(cert.error());
  return KeyAndCert{KeyToPem(key.get()), CertToPem(cert->get())};
}

Result<KeyAndCert> MakeServerCert(const KeyAndCert& ca, const std::vector<std::string>& names,
                                  std::chrono::seconds life, const std::string& member) {
  auto alternatives = AlternativeNames(names);
  if (!alternatives) return Fail(alternatives.error());
  if (!member.empty()) {
    auto uri = MemberName(member);
    if (!uri) return Fail(uri.error());
    *alternatives += "," + *uri;
  }
  return IssuePair(ca, names.front(), life, "serverAuth", *alternatives);
}

Result<KeyAndCert> MakeMemberCert(const KeyAndCert& ca, const std::string& name,
                                  std::chrono::seconds life) {
  auto uri = MemberName(name);
  if (!uri) return Fail(uri.error());
  return IssuePair(ca, name, life, "clientAuth", *uri);
}

Result<std::string> MakeRequest(const std::string& key_pem, const std::string& common_name) {
  auto key = ParseKey(key_pem);
  if (!key) return Fail(key.error());
  RequestPtr request(X509_REQ_new());
  MUSTER_CHECK(request && X509_REQ_set_version(request.get(), X509_REQ_VERSION_1) == 1);
  if (auto named = SetCommonName(X509_REQ_get_subject_name(request.get()), common_name); !named) {
    return Fail(named.error());
  }
  if (X509_REQ_set_pubkey(request.get(), key->get()) != 1 ||
      X509_REQ_sign(request.get(), key->get(), EVP_sha256()) == 0) {
    return Fail(ErrorCode::kInvalid, "certificate request: {}", OpenSslError());
  }
  BioPtr bio = MemoryBio();
  MUSTER_CHECK(PEM_write_bio_X509_REQ(bio.get(), request.get()) == 1);
  return Text(bio.get());
}

Result<std::string> SignRequest(const KeyAndCert& ca, const std::string& request_pem,
                                const std::string& common_name, std::chrono::seconds life) {
  auto authority = Open(ca);
  if (!authority) return Fail(authority.error());
  auto request = ParseRequest(request_pem);
  if (!request) return Fail(request.error());
  auto key = KeyOf(request->get());
  if (!key) return Fail(key.error());
  Plan plan{common_name,
            life,
            {{NID_basic_constraints, "critical,CA:FALSE"},
             {NID_key_usage, "critical,digitalSignature"},
             {NID_ext_key_usage, "clientAuth"},
             {NID_subject_key_identifier, "hash"},
             {NID_authority_key_identifier, "keyid"}}};
  auto cert = Issue(plan, *key, authority->cert.get(), authority->key.get());
  if (!cert) return Fail(cert.error());
  return CertToPem(cert->get());
}

Result<std::string> KeyIdOfRequest(const std::string& request_pem) {
  auto request = ParseRequest(request_pem);
  if (!request) return Fail(request.error());
  auto key = KeyOf(request->get());
  if (!key) return Fail(key.error());
  return KeyIdOf(*key);
}

Result<std::string> KeyIdOfCert(const std::string& cert_pem) {
  auto cert = ParseCert(cert_pem);
  if (!cert) return Fail(cert.error());
  return KeyIdOfX509(cert->get());
}

Result<std::string> KeyIdOfKey(const std::string& key_pem) {
  auto key = ParseKey(key_pem);
  if (!key) return Fail(key.error());
  return KeyIdOf(key->get());
}

Result<std::string> CertFingerprint(const std::string& cert_pem) {
  auto cert = ParseCert(cert_pem);
  if (!cert) return Fail(cert.error());
  return FingerprintOfX509(cert->get());
}

Result<Validity> ValidityOf(const std::string& cert_pem) {
  auto cert = ParseCert(cert_pem);
  if (!cert) return Fail(cert.error());
  const auto time = [](const ASN1_TIME* from) -> WallTime {
    std::tm parts{};
    if (ASN1_TIME_to_tm(from, &parts) != 1) return {};
    return {static_cast<std::int64_t>(timegm(&parts)) * 1000};
  };
  return Validity{time(X509_get0_notBefore(cert->get())), time(X509_get0_notAfter(cert->get()))};
}

Result<std::vector<std::string>> SplitCerts(const std::string& pem) {
  BioPtr bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  MUSTER_CHECK(bio);
  std::vector<std::string> certs;
  while (X509Ptr cert{PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr)})
    certs.push_back(CertToPem(cert.get()));
  OpenSslError();  // the end of the text is an error too
  if (certs.empty()) return Fail(ErrorCode::kInvalid, "no PEM certificate found");
  return certs;
}

Result<std::string> CaKeyId(const std::string& ca_pem) {
  auto cert = ParseCert(ca_pem);
  if (!cert) return Fail(cert.error());
  return Hex(X509_get0_subject_key_id(cert->get()));
}

Result<std::string> SignerKeyId(const std::string& cert_pem) {
  auto cert = ParseCert(cert_pem);
  if (!cert) return Fail(cert.error());
  return Hex(X509_get0_authority_key_id(cert->get()));
}

Result<bool> IsCertOfKey(const std::string& cert_pem, const std::string& key_pem) {
  auto cert = ParseCert(cert_pem);
  if (!cert) return Fail(cert.error());
  auto key = ParseKey(key_pem);
  if (!key) return Fail(key.error());
  const bool fits = X509_check_private_key(cert->get(), key->get()) == 1;
  OpenSslError();
  return fits;
}

Result<bool> IsSignedBy(const std::string& cert_pem, const std::string& ca_pem) {
  auto cert = ParseCert(cert_pem);
  if (!cert) return Fail(cert.error());
  auto ca = ParseCert(ca_pem);
  if (!ca) return Fail(ca.error());
  const bool fits = X509_check_issued(ca->get(), cert->get()) == X509_V_OK &&
                    X509_verify(cert->get(), X509_get0_pubkey(ca->get())) == 1;
  OpenSslError();
  return fits;
}

}  // namespace muster::crypto
