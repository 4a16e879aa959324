#include "adapters/crypto/digest.hpp"

#include <openssl/evp.h>
#include <openssl/rand.h>

#include "adapters/crypto/openssl.hpp"
#include "base/result.hpp"

namespace muster::crypto {
namespace {

using DigestPtr = std::unique_ptr<EVP_MD_CTX, Deleter<EVP_MD_CTX_free>>;

constexpr std::size_t kSha256Size = 32;

DigestPtr CopyOf(const EVP_MD_CTX* from) {
  DigestPtr copy(EVP_MD_CTX_new());
  MUSTER_CHECK(copy && EVP_MD_CTX_copy_ex(copy.get(), from) == 1);
  return copy;
}

}  // namespace

std::string Sha256(std::string_view data) {
  std::string digest(kSha256Size, '\0');
  MUSTER_CHECK(EVP_Digest(data.data(), data.size(), reinterpret_cast<unsigned char*>(digest.data()),
                          nullptr, EVP_sha256(), nullptr) == 1);
  return digest;
}

struct Sha256Stream::Impl {
  DigestPtr context;
};

Sha256Stream::Sha256Stream() : impl_(new Impl{DigestPtr(EVP_MD_CTX_new())}) {
  MUSTER_CHECK(impl_->context &&
               EVP_DigestInit_ex(impl_->context.get(), EVP_sha256(), nullptr) == 1);
}

Sha256Stream::~Sha256Stream() = default;

Sha256Stream::Sha256Stream(const Sha256Stream& other)
    : impl_(new Impl{CopyOf(other.impl_->context.get())}) {}

Sha256Stream& Sha256Stream::operator=(const Sha256Stream& other) {
  if (this != &other) impl_->context = CopyOf(other.impl_->context.get());
  return *this;
}

void Sha256Stream::Add(std::string_view data) {
  MUSTER_CHECK(EVP_DigestUpdate(impl_->context.get(), data.data(), data.size()) == 1);
}

std::string Sha256Stream::Digest() const {
  // Finalising ends a context, so it is done on a copy and the stream can go on.
  DigestPtr copy = CopyOf(impl_->context.get());
  std::string digest(kSha256Size, '\0');
  MUSTER_CHECK(EVP_DigestFinal_ex(copy.get(), reinterpret_cast<unsigned char*>(digest.data()),
                                  nullptr) == 1);
  return digest;
}

std::string RandomBytes(std::size_t count) {
  std::string bytes(count, '\0');
  MUSTER_CHECK(
      RAND_bytes(reinterpret_cast<unsigned char*>(bytes.data()), static_cast<int>(count)) == 1);
  return bytes;
}

}  // namespace muster::crypto
