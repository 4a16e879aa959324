#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "base/instant.hpp"
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
Result<KeyAndCert> MakeCa(const std::string& common_name, std::chrono::seconds life);

// How a certificate says that it is of a server of the cluster: a URI among the alternative names.
// Certificates of nodes never have one, whatever their request says.
inline constexpr std::string_view kMemberUri = "muster-server:";

// What a server shows to those who call it: serverAuth, for these names and addresses
// (subjectAltName). `member` is its name in the cluster, by which the other servers know it; ""
// leaves that out.
Result<KeyAndCert> MakeServerCert(const KeyAndCert& ca, const std::vector<std::string>& names,
                                  std::chrono::seconds life, const std::string& member = "");

// What a server of the cluster shows to the others when it calls them: clientAuth, and its name.
Result<KeyAndCert> MakeMemberCert(const KeyAndCert& ca, const std::string& name,
                                  std::chrono::seconds life);

// A request to sign `key_pem`'s public half, self-signed as PKCS#10 wants it.
Result<std::string> MakeRequest(const std::string& key_pem, const std::string& common_name);

// A client certificate for a request (its key and signature are checked, as in KeyIdOfRequest),
// clientAuth. The subject is `common_name`, whatever the request says.
Result<std::string> SignRequest(const KeyAndCert& ca, const std::string& request_pem,
                                const std::string& common_name, std::chrono::seconds life);

// SHA-256 over the DER SubjectPublicKeyInfo, hex: how a node is known. A request must be signed by
// the key it is for, and that must be an ECDSA P-256 key; kInvalid for any other, whose signature
// is not even looked at.
Result<std::string> KeyIdOfRequest(const std::string& request_pem);
Result<std::string> KeyIdOfCert(const std::string& cert_pem);
Result<std::string> KeyIdOfKey(const std::string& key_pem);

// SHA-256 over the DER certificate, hex: what a join token carries of the CA.
Result<std::string> CertFingerprint(const std::string& cert_pem);

// When a certificate is good. A new one is good from a little before it was made (at most five
// minutes and a tenth of its life), for clocks that are behind.
struct Validity {
  WallTime begins;
  WallTime ends;
  // When to replace it: two thirds of its life are over.
  WallTime Renew() const { return begins + (ends - begins) * 2 / 3; }
};
Result<Validity> ValidityOf(const std::string& cert_pem);

// The certificates of a PEM text, each by itself. kInvalid when there is none.
Result<std::vector<std::string>> SplitCerts(const std::string& pem);

// The key id a CA has, and the one a certificate says it was signed under; hex, "" when it says
// none.
Result<std::string> CaKeyId(const std::string& ca_pem);
Result<std::string> SignerKeyId(const std::string& cert_pem);

// The host names and addresses a certificate is for (subjectAltName).
Result<std::vector<std::string>> NamesOf(const std::string& cert_pem);

// An ECDSA signature (SHA-256) of a text by a key; whether a signature is of the key of one of the
// certificates in `certs_pem`. The text must begin with words that no other use of the key signs.
Result<std::string> SignText(const std::string& key_pem, std::string_view text);
bool IsTextSignedBy(std::string_view text, std::string_view signature,
                    const std::string& certs_pem);

// Whether the certificate is for this key; whether it was signed by that CA's key.
Result<bool> IsCertOfKey(const std::string& cert_pem, const std::string& key_pem);
Result<bool> IsSignedBy(const std::string& cert_pem, const std::string& ca_pem);

}  // namespace muster::crypto
