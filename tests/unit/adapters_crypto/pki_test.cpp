#include "adapters/crypto/pki.hpp"

#include <gtest/gtest.h>
#include <openssl/ec.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/x509_vfy.h>

#include "adapters/crypto/openssl.hpp"
#include "adapters/crypto/plain_key.hpp"

namespace muster::crypto {
namespace {

using std::chrono::hours;

using StorePtr = std::unique_ptr<X509_STORE, Deleter<X509_STORE_free>>;
using StoreContextPtr = std::unique_ptr<X509_STORE_CTX, Deleter<X509_STORE_CTX_free>>;

// X509_V_OK, or why the certificate is not believed for this purpose and name.
int Verify(const std::string& ca_pem, const std::string& cert_pem, int purpose,
           const char* host = nullptr, const char* address = nullptr) {
  X509Ptr ca = std::move(*ParseCert(ca_pem));
  X509Ptr cert = std::move(*ParseCert(cert_pem));
  StorePtr store(X509_STORE_new());
  X509_STORE_add_cert(store.get(), ca.get());
  StoreContextPtr context(X509_STORE_CTX_new());
  X509_STORE_CTX_init(context.get(), store.get(), cert.get(), nullptr);
  X509_STORE_CTX_set_purpose(context.get(), purpose);
  X509_VERIFY_PARAM* param = X509_STORE_CTX_get0_param(context.get());
  X509_VERIFY_PARAM_set_flags(param, X509_V_FLAG_X509_STRICT);
  if (host != nullptr) X509_VERIFY_PARAM_set1_host(param, host, 0);
  if (address != nullptr) X509_VERIFY_PARAM_set1_ip_asc(param, address);
  X509_verify_cert(context.get());
  return X509_STORE_CTX_get_error(context.get());
}

class Pki : public ::testing::Test {
 protected:
  KeyAndCert ca_ = *MakeCa("Muster CA", hours(24 * 3650));
};

TEST_F(Pki, ServerCertificateIsGoodForItsNamesAndAddressesOnly) {
  auto server = MakeServerCert(ca_, {"musterd.example", "127.0.0.1", "::1"}, hours(24));
  ASSERT_TRUE(server) << server.error().message;
  const std::string& cert = server->cert_pem;
  EXPECT_EQ(Verify(ca_.cert_pem, cert, X509_PURPOSE_SSL_SERVER, "musterd.example"), X509_V_OK);
  EXPECT_EQ(Verify(ca_.cert_pem, cert, X509_PURPOSE_SSL_SERVER, nullptr, "127.0.0.1"), X509_V_OK);
  EXPECT_EQ(Verify(ca_.cert_pem, cert, X509_PURPOSE_SSL_SERVER, nullptr, "::1"), X509_V_OK);
  EXPECT_EQ(Verify(ca_.cert_pem, cert, X509_PURPOSE_SSL_SERVER, "other.example"),
            X509_V_ERR_HOSTNAME_MISMATCH);
  EXPECT_EQ(Verify(ca_.cert_pem, cert, X509_PURPOSE_SSL_CLIENT), X509_V_ERR_INVALID_PURPOSE);
}

TEST_F(Pki, ServerCertificateNamesItsServer) {
  const auto server = MakeServerCert(ca_, {"localhost"}, hours(24), "s1");
  ASSERT_TRUE(server);
  EXPECT_EQ(MemberOfX509(ParseCert(server->cert_pem)->get()), "s1");
  EXPECT_EQ(*NamesOf(server->cert_pem), std::vector<std::string>{"localhost"});
  const auto without = MakeServerCert(ca_, {"localhost"}, hours(24));
  EXPECT_EQ(MemberOfX509(ParseCert(without->cert_pem)->get()), "");
  EXPECT_EQ(MakeServerCert(ca_, {"localhost"}, hours(24), "s1,DNS:x").error().code,
            ErrorCode::kInvalid);
}

TEST_F(Pki, NamesOfACertificateAreHostsAndAddresses) {
  const auto server = MakeServerCert(ca_, {"a.example", "127.0.0.1", "::1"}, hours(24));
  EXPECT_EQ(*NamesOf(server->cert_pem),
            (std::vector<std::string>{"a.example", "127.0.0.1", "::1"}));
}

TEST_F(Pki, TextIsBelievedOnlyAsItWasSignedAndByWhom) {
  const auto signature = SignText(ca_.key_pem, "term 7");
  ASSERT_TRUE(signature) << signature.error().message;
  const KeyAndCert other = *MakeCa("Muster CA", hours(24));
  EXPECT_TRUE(IsTextSignedBy("term 7", *signature, ca_.cert_pem));
  EXPECT_TRUE(IsTextSignedBy("term 7", *signature, other.cert_pem + ca_.cert_pem));
  EXPECT_FALSE(IsTextSignedBy("term 8", *signature, ca_.cert_pem));
  EXPECT_FALSE(IsTextSignedBy("term 7", *signature, other.cert_pem));
  EXPECT_FALSE(IsTextSignedBy("term 7", "", ca_.cert_pem));
  EXPECT_FALSE(IsTextSignedBy("term 7", *signature, ""));
}

TEST_F(Pki, AnotherAuthoritysCertificateIsNotBelieved) {
  KeyAndCert other = *MakeCa("Muster CA", hours(24));
  auto server = MakeServerCert(other, {"localhost"}, hours(24));
  ASSERT_TRUE(server);
  EXPECT_NE(Verify(ca_.cert_pem, server->cert_pem, X509_PURPOSE_SSL_SERVER), X509_V_OK);
}

TEST_F(Pki, LongNamesOfHostsAreCutInTheCommonName) {
  const std::string host = std::string(63, 'a') + "." + std::string(63, 'b') + ".example.com";
  const auto request = MakeRequest(GenerateKey(), host);
  ASSERT_TRUE(request) << request.error().message;
  const auto cert = SignRequest(ca_, *request, host, hours(24));
  ASSERT_TRUE(cert) << cert.error().message;
  EXPECT_EQ(Verify(ca_.cert_pem, *cert, X509_PURPOSE_SSL_CLIENT), X509_V_OK);
  EXPECT_FALSE(MakeRequest(GenerateKey(), ""));
}

TEST_F(Pki, SignedRequestBecomesAClientCertificateUnderTheGivenName) {
  std::string key = GenerateKey();
  auto request = MakeRequest(key, "what the node says");
  ASSERT_TRUE(request);
  auto cert = SignRequest(ca_, *request, "node-7", hours(24));
  ASSERT_TRUE(cert) << cert.error().message;
  EXPECT_EQ(Verify(ca_.cert_pem, *cert, X509_PURPOSE_SSL_CLIENT), X509_V_OK);
  EXPECT_EQ(Verify(ca_.cert_pem, *cert, X509_PURPOSE_SSL_SERVER), X509_V_ERR_INVALID_PURPOSE);

  X509Ptr parsed = std::move(*ParseCert(*cert));
  char name[128] = {};
  X509_NAME_get_text_by_NID(X509_get_subject_name(parsed.get()), NID_commonName, name,
                            sizeof(name));
  EXPECT_STREQ(name, "node-7");
}

TEST_F(Pki, KeyIdIsTheSameForKeyRequestAndCertificate) {
  std::string key = GenerateKey();
  std::string request = *MakeRequest(key, "node");
  std::string cert = *SignRequest(ca_, request, "node", hours(24));
  auto id = KeyIdOfKey(key);
  ASSERT_TRUE(id);
  EXPECT_EQ(id->size(), 64U);
  EXPECT_EQ(*KeyIdOfRequest(request), *id);
  EXPECT_EQ(*KeyIdOfCert(cert), *id);
  EXPECT_NE(*KeyIdOfKey(GenerateKey()), *id);
}

TEST_F(Pki, FingerprintTellsCertificatesOfOneKeyApart) {
  std::string request = *MakeRequest(GenerateKey(), "node");
  std::string first = *SignRequest(ca_, request, "node", hours(24));
  std::string second = *SignRequest(ca_, request, "node", hours(24));
  EXPECT_EQ(*CertFingerprint(first), *CertFingerprint(first));
  EXPECT_NE(*CertFingerprint(first), *CertFingerprint(second));  // the serial differs
}

TEST_F(Pki, RequestWithAForgedKeyIsRefused) {
  std::string request = *MakeRequest(GenerateKey(), "node");
  // A byte of the signature, near the end of the base64 text.
  std::size_t end = request.find("\n-----END");
  std::size_t at = end - 12;
  request[at] = request[at] == 'A' ? 'B' : 'A';
  auto cert = SignRequest(ca_, request, "node", hours(24));
  ASSERT_FALSE(cert);
  EXPECT_EQ(cert.error().code, ErrorCode::kInvalid);
}

// A request of a key of any kind, as PEM.
std::string RequestOf(EVP_PKEY* key, const EVP_MD* digest) {
  RequestPtr request(X509_REQ_new());
  X509_REQ_set_pubkey(request.get(), key);
  EXPECT_NE(X509_REQ_sign(request.get(), key, digest), 0);
  BioPtr bio(BIO_new(BIO_s_mem()));
  EXPECT_EQ(PEM_write_bio_X509_REQ(bio.get(), request.get()), 1);
  char* text = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &text);
  return std::string(text, static_cast<std::size_t>(size));
}

TEST_F(Pki, RequestForAKeyOfAnotherKindIsRefused) {
  const PkeyPtr good(EVP_EC_gen("P-256"));
  EXPECT_TRUE(KeyIdOfRequest(RequestOf(good.get(), EVP_sha256())));
  const PkeyPtr larger(EVP_EC_gen("P-384"));
  const PkeyPtr rsa(EVP_RSA_gen(2048));
  const PkeyPtr edwards(EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519"));
  for (const auto& request :
       {RequestOf(larger.get(), EVP_sha256()), RequestOf(rsa.get(), EVP_sha256()),
        RequestOf(edwards.get(), nullptr)}) {
    EXPECT_EQ(KeyIdOfRequest(request).error().code, ErrorCode::kInvalid);
    EXPECT_EQ(SignRequest(ca_, request, "node", hours(24)).error().code, ErrorCode::kInvalid);
  }
}

// In DER, as PlainKey looks at them.
std::string Bytes(X509* cert) {
  unsigned char* der = nullptr;
  const int size = i2d_X509(cert, &der);
  std::string bytes(reinterpret_cast<char*>(der), static_cast<std::size_t>(size));
  OPENSSL_free(der);
  return bytes;
}

TEST_F(Pki, CertificatesOfMusterHavePlainKeys) {
  const auto node = *SignRequest(ca_, *MakeRequest(GenerateKey(), "node"), "node", hours(24));
  const auto member = *MakeMemberCert(ca_, std::string(200, 'n'), hours(24));
  for (const auto& pem : {ca_.cert_pem, node, member.cert_pem}) {
    const std::string der = Bytes(ParseCert(pem)->get());
    EXPECT_TRUE(CertHasPlainKey(der));
    EXPECT_FALSE(RequestHasPlainKey(der));
    for (std::size_t size = 0; size < der.size() / 2; ++size)
      EXPECT_FALSE(CertHasPlainKey(std::string_view(der).substr(0, size))) << size;
  }
}

TEST_F(Pki, CompressedPointsAndCurvesWithParametersAreNoPlainKeys) {
  const PkeyPtr compressed(EVP_EC_gen("P-256"));
  EVP_PKEY_set_utf8_string_param(compressed.get(), "point-format", "compressed");
  const PkeyPtr explicit_curve(EVP_EC_gen("P-256"));
  EVP_PKEY_set_utf8_string_param(explicit_curve.get(), "encoding", "explicit");
  for (const auto* key : {&compressed, &explicit_curve}) {
    const std::string request = RequestOf(key->get(), EVP_sha256());
    EXPECT_EQ(KeyIdOfRequest(request).error().code, ErrorCode::kInvalid);
  }
}

TEST_F(Pki, BadInputIsInvalid) {
  EXPECT_EQ(MakeRequest("no key", "node").error().code, ErrorCode::kInvalid);
  EXPECT_EQ(MakeRequest(GenerateKey(), "").error().code, ErrorCode::kInvalid);
  EXPECT_EQ(KeyIdOfCert("").error().code, ErrorCode::kInvalid);
  EXPECT_EQ(CertFingerprint(ca_.key_pem).error().code, ErrorCode::kInvalid);
  EXPECT_EQ(MakeServerCert(ca_, {}, hours(1)).error().code, ErrorCode::kInvalid);
  EXPECT_EQ(MakeServerCert(ca_, {"a,IP:1.2.3.4"}, hours(1)).error().code, ErrorCode::kInvalid);
  KeyAndCert mixed{GenerateKey(), ca_.cert_pem};
  EXPECT_EQ(MakeServerCert(mixed, {"localhost"}, hours(1)).error().code, ErrorCode::kInvalid);
}

TEST_F(Pki, TellsValiditySignerAndKeyOfACertificate) {
  const KeyAndCert other = *MakeCa("Muster CA", hours(24));
  const KeyAndCert server = *MakeServerCert(ca_, {"localhost"}, std::chrono::seconds(600));
  const Validity validity = *ValidityOf(server.cert_pem);
  EXPECT_EQ(validity.ends - validity.begins, std::chrono::seconds(660));
  EXPECT_EQ(validity.Renew() - validity.begins, std::chrono::seconds(440));
  EXPECT_TRUE(*IsSignedBy(server.cert_pem, ca_.cert_pem));
  EXPECT_FALSE(*IsSignedBy(server.cert_pem, other.cert_pem));
  EXPECT_TRUE(*IsCertOfKey(server.cert_pem, server.key_pem));
  EXPECT_FALSE(*IsCertOfKey(server.cert_pem, ca_.key_pem));
  EXPECT_EQ(*SignerKeyId(server.cert_pem), *CaKeyId(ca_.cert_pem));
  EXPECT_NE(*CaKeyId(other.cert_pem), *CaKeyId(ca_.cert_pem));
}

TEST_F(Pki, SplitsABundle) {
  const KeyAndCert other = *MakeCa("other", hours(24));
  const auto certs = SplitCerts("words\n" + ca_.cert_pem + other.cert_pem);
  ASSERT_TRUE(certs);
  EXPECT_EQ(*certs, (std::vector{ca_.cert_pem, other.cert_pem}));
  EXPECT_EQ(SplitCerts("words").error().code, ErrorCode::kInvalid);
}

}  // namespace
}  // namespace muster::crypto
