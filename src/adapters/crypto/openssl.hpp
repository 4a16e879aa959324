#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include "base/result.hpp"

// OpenSSL's objects with owners, for the adapters that talk to OpenSSL themselves.
namespace muster::crypto {

template <auto Free>
struct Deleter {
  template <typename T>
  void operator()(T* object) const noexcept {
    Free(object);
  }
};

using BioPtr = std::unique_ptr<BIO, Deleter<BIO_free_all>>;
using PkeyPtr = std::unique_ptr<EVP_PKEY, Deleter<EVP_PKEY_free>>;
using X509Ptr = std::unique_ptr<X509, Deleter<X509_free>>;
using RequestPtr = std::unique_ptr<X509_REQ, Deleter<X509_REQ_free>>;

// What OpenSSL last complained of on this thread, and clears it; "unknown error" when it did not.
std::string OpenSslError();

// kInvalid when the text is not what it should be.
Result<PkeyPtr> ParseKey(const std::string& key_pem);
Result<X509Ptr> ParseCert(const std::string& cert_pem);

std::string CertToPem(X509* cert);

// Hex, as KeyIdOfCert and CertFingerprint give it.
std::string KeyIdOfX509(X509* cert);

// The server that a certificate of MakeMemberCert is for; "" for any other certificate.
std::string MemberOfX509(const X509* cert);
std::string FingerprintOfX509(X509* cert);

}  // namespace muster::crypto
