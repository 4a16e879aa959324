#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

// The small certificate authority of a Muster cluster. Keys are ECDSA P-256; everything is PEM
// text.
namespace muster::crypto {

struct KeyAndCert {
  std::string key_pem;  // PKCS#8
  std::string cert_pem;
};

std::string GenerateKey();  // PKCS#8 PEM

// A self-signed CA certificate; CA:TRUE, keyCertSign.
Result<KeyAndCert> MakeCa(const std::string& common_name, std::chrono::hours life);

// A server certificate for these names and addresses (subjectAltName), serverAuth.
Result<KeyAndCert> MakeServerCert(const KeyAndCert& ca, const std::vector<std::string>& names,
                                  std::chrono::hours life);

// A request to sign `key_pem`'s public half, self-signed as PKCS#10 wants it.
Result<std::string> MakeRequest(const std::string& key_pem, const std::string& common_name);

// A client certificate for a request (its signature is checked), clientAuth. The subject is
// `common_name`, whatever the request says.
Result<std::string> SignRequest(const KeyAndCert& ca, const std::string& request_pem,
                                const std::string& common_name, std::chrono::hours life);

// SHA-256 over the DER SubjectPublicKeyInfo, hex: how a node is known.
Result<std::string> KeyIdOfRequest(const std::string& request_pem);
Result<std::string> KeyIdOfCert(const std::string& cert_pem);
Result<std::string> KeyIdOfKey(const std::string& key_pem);

// SHA-256 over the DER certificate, hex: what a join token carries of the CA.
Result<std::string> CertFingerprint(const std::string& cert_pem);

}  // namespace muster::crypto
