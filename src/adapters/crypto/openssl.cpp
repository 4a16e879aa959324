#include "adapters/crypto/openssl.hpp"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include "adapters/crypto/digest.hpp"
#include "adapters/crypto/pki.hpp"
#include "base/text.hpp"

namespace muster::crypto {
namespace {

BioPtr ReadFrom(const std::string& pem) {
  BioPtr bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  MUSTER_CHECK(bio);
  return bio;
}

// Encrypted keys are not used; without this OpenSSL would ask at the terminal.
int NoPassword(char*, int, int, void*) { return 0; }

}  // namespace

std::string OpenSslError() {
  unsigned long code = ERR_peek_last_error();
  ERR_clear_error();
  const char* reason = code != 0 ? ERR_reason_error_string(code) : nullptr;
  return reason != nullptr ? reason : "unknown error";
}

Result<PkeyPtr> ParseKey(const std::string& key_pem) {
  PkeyPtr key(PEM_read_bio_PrivateKey(ReadFrom(key_pem).get(), nullptr, NoPassword, nullptr));
  if (!key) return Fail(ErrorCode::kInvalid, "not a PEM private key: {}", OpenSslError());
  return key;
}

Result<X509Ptr> ParseCert(const std::string& cert_pem) {
  X509Ptr cert(PEM_read_bio_X509(ReadFrom(cert_pem).get(), nullptr, NoPassword, nullptr));
  if (!cert) return Fail(ErrorCode::kInvalid, "not a PEM certificate: {}", OpenSslError());
  return cert;
}

std::string CertToPem(X509* cert) {
  BioPtr bio(BIO_new(BIO_s_mem()));
  MUSTER_CHECK(bio && PEM_write_bio_X509(bio.get(), cert) == 1);
  char* text = nullptr;
  long size = BIO_get_mem_data(bio.get(), &text);
  return std::string(text, static_cast<std::size_t>(size));
}

std::string KeyIdOfX509(X509* cert) {
  unsigned char* der = nullptr;
  int size = i2d_X509_PUBKEY(X509_get_X509_PUBKEY(cert), &der);
  MUSTER_CHECK(size > 0);
  std::string id = ToHex(Sha256({reinterpret_cast<char*>(der), static_cast<std::size_t>(size)}));
  OPENSSL_free(der);
  return id;
}

std::string MemberOfX509(const X509* cert) {
  struct Free {
    void operator()(GENERAL_NAMES* names) const { GENERAL_NAMES_free(names); }
  };
  const std::unique_ptr<GENERAL_NAMES, Free> names(
      static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(cert, NID_subject_alt_name, nullptr, nullptr)));
  const int count = names ? sk_GENERAL_NAME_num(names.get()) : 0;
  for (int i = 0; i < count; ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(names.get(), i);
    if (name->type != GEN_URI) continue;
    const ASN1_IA5STRING* uri = name->d.uniformResourceIdentifier;
    const std::string_view text(reinterpret_cast<const char*>(ASN1_STRING_get0_data(uri)),
                                static_cast<std::size_t>(ASN1_STRING_length(uri)));
    if (text.starts_with(kMemberUri)) return std::string(text.substr(kMemberUri.size()));
  }
  return "";
}

std::string FingerprintOfX509(X509* cert) {
  unsigned char* der = nullptr;
  int size = i2d_X509(cert, &der);
  MUSTER_CHECK(size > 0);
  std::string id = ToHex(Sha256({reinterpret_cast<char*>(der), static_cast<std::size_t>(size)}));
  OPENSSL_free(der);
  return id;
}

}  // namespace muster::crypto
