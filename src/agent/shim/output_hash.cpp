// OpenSSL 3 calls these old, and will keep them as long as it is OpenSSL 3.
#define OPENSSL_SUPPRESS_DEPRECATED

#include "agent/shim/output_hash.hpp"

#include <openssl/sha.h>

namespace muster::agent {

OutputHash::OutputHash() : state_(std::make_unique<SHA256_CTX>()) { SHA256_Init(state_.get()); }
OutputHash::~OutputHash() = default;
OutputHash::OutputHash(const OutputHash& other)
    : state_(std::make_unique<SHA256_CTX>(*other.state_)) {}
OutputHash::OutputHash(OutputHash&&) noexcept = default;

void OutputHash::Add(std::string_view data) {
  SHA256_Update(state_.get(), data.data(), data.size());
}

std::string OutputHash::Digest() const {
  SHA256_CTX copy = *state_;
  std::string digest(SHA256_DIGEST_LENGTH, '\0');
  SHA256_Final(reinterpret_cast<unsigned char*>(digest.data()), &copy);
  return digest;
}

}  // namespace muster::agent
