#pragma once

#include <string>
#include <string_view>

namespace muster::crypto {

// A text as libsodium takes it.
inline const unsigned char* Bytes(std::string_view text) noexcept {
  return reinterpret_cast<const unsigned char*>(text.data());
}
inline unsigned char* Bytes(std::string& text) noexcept {
  return reinterpret_cast<unsigned char*>(text.data());
}

}  // namespace muster::crypto
