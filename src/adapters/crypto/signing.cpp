#include <arpa/inet.h>
#include <memory>

#include "adapters/crypto/openssl.hpp"
#include "adapters/crypto/pki.hpp"

namespace muster::crypto {
namespace {

using DigestContextPtr = std::unique_ptr<EVP_MD_CTX, Deleter<EVP_MD_CTX_free>>;
using NamesPtr = std::unique_ptr<GENERAL_NAMES, Deleter<GENERAL_NAMES_free>>;

const unsigned char* Bytes(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

std::string_view TextOf(const ASN1_STRING* text) {
  return {reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)),
          static_cast<std::size_t>(ASN1_STRING_length(text))};
}

std::string AddressOf(const ASN1_OCTET_STRING* bytes) {
  char text[INET6_ADDRSTRLEN] = {};
  const int family = ASN1_STRING_length(bytes) == 4 ? AF_INET : AF_INET6;
  if (ASN1_STRING_length(bytes) != 4 && ASN1_STRING_length(bytes) != 16) return {};
  return inet_ntop(family, ASN1_STRING_get0_data(bytes), text, sizeof text) != nullptr ? text : "";
}

}  // namespace

Result<std::string> SignText(const std::string& key_pem, std::string_view text) {
  auto key = ParseKey(key_pem);
  if (!key) return Fail(key.error());
  const DigestContextPtr context(EVP_MD_CTX_new());
  std::size_t size = 0;
  if (EVP_DigestSignInit(context.get(), nullptr, EVP_sha256(), nullptr, key->get()) != 1 ||
      EVP_DigestSign(context.get(), nullptr, &size, Bytes(text), text.size()) != 1)
    return Fail(ErrorCode::kInternal, "cannot sign: {}", OpenSslError());
  std::string signature(size, '\0');
  if (EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(signature.data()), &size,
                     Bytes(text), text.size()) != 1)
    return Fail(ErrorCode::kInternal, "cannot sign: {}", OpenSslError());
  signature.resize(size);
  return signature;
}

bool IsTextSignedBy(std::string_view text, std::string_view signature,
                    const std::string& certs_pem) {
  const auto certs = SplitCerts(certs_pem);
  if (!certs) return false;
  for (const auto& pem : *certs) {
    const auto cert = ParseCert(pem);
    if (!cert) continue;
    const DigestContextPtr context(EVP_MD_CTX_new());
    EVP_PKEY* key = X509_get0_pubkey(cert->get());
    const bool good =
        key != nullptr &&
        EVP_DigestVerifyInit(context.get(), nullptr, EVP_sha256(), nullptr, key) == 1 &&
        EVP_DigestVerify(context.get(), Bytes(signature), signature.size(), Bytes(text),
                         text.size()) == 1;
    OpenSslError();  // a signature of another key is an error too
    if (good) return true;
  }
  return false;
}

Result<std::vector<std::string>> NamesOf(const std::string& cert_pem) {
  auto cert = ParseCert(cert_pem);
  if (!cert) return Fail(cert.error());
  const NamesPtr found(static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(cert->get(), NID_subject_alt_name, nullptr, nullptr)));
  std::vector<std::string> names;
  for (int i = 0; found && i < sk_GENERAL_NAME_num(found.get()); ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(found.get(), i);
    if (name->type == GEN_DNS) names.emplace_back(TextOf(name->d.dNSName));
    if (name->type == GEN_IPADD)
      if (auto address = AddressOf(name->d.iPAddress); !address.empty())
        names.push_back(std::move(address));
  }
  return names;
}

}  // namespace muster::crypto
