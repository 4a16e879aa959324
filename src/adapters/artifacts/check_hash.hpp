#pragma once

#include <string>

#include "base/result.hpp"

namespace muster::artifacts {

inline constexpr std::size_t kHashBytes = 32;

inline Result<> CheckHash(const std::string& sha256) {
  if (sha256.size() == kHashBytes) return {};
  return Fail(ErrorCode::kInvalid, "a SHA-256 has 32 bytes, not {}", sha256.size());
}

}  // namespace muster::artifacts
