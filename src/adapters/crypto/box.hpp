#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "base/secret_text.hpp"

// Sealing for one receiver: only whoever made the keys can open it (X25519, XSalsa20-Poly1305).
namespace muster::crypto {

struct BoxKeys {
  std::string public_key;  // 32 bytes
  SecretText private_key;
};
BoxKeys MakeBoxKeys();

// kInvalid: not a public key.
Result<std::string> SealFor(std::string_view public_key, std::string_view value);
// kInvalid: not sealed for these keys, or changed.
Result<SecretText> OpenBox(const BoxKeys& keys, std::string_view sealed);

}  // namespace muster::crypto
