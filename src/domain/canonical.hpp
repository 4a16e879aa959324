#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <openssl/evp.h>

#include "base/result.hpp"

namespace muster {

inline std::string Sha256Of(std::string_view bytes) {
  std::string digest(32, '\0');
  MUSTER_CHECK(EVP_Digest(bytes.data(), bytes.size(),
                          reinterpret_cast<unsigned char*>(digest.data()), nullptr, EVP_sha256(),
                          nullptr) == 1);
  return digest;
}

// Bytes to be hashed: every part behind its length, so that no two different lists of parts give
// the same bytes.
class Canonical {
 public:
  explicit Canonical(std::string_view form) { Text(form); }

  Canonical& Number(std::uint64_t number) {
    for (int shift = 0; shift < 64; shift += 8)
      bytes_.push_back(static_cast<char>(number >> shift & 0xff));
    return *this;
  }
  Canonical& Text(std::string_view text) {
    Number(text.size());
    bytes_ += text;
    return *this;
  }
  Canonical& Texts(const std::vector<std::string>& list) {
    Number(list.size());
    for (const auto& text : list) Text(text);
    return *this;
  }
  std::string Sha256() const { return Sha256Of(bytes_); }

 private:
  std::string bytes_;
};

}  // namespace muster
