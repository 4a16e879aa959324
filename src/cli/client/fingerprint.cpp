#include "cli/client/fingerprint.hpp"

#include <cctype>

#include "base/text.hpp"

namespace muster::cli {

std::string ShowFingerprint(std::string_view hex) {
  std::string shown;
  for (std::size_t i = 0; i < hex.size(); ++i) {
    if (i > 0 && i % 2 == 0) shown += ':';
    shown += static_cast<char>(std::toupper(static_cast<unsigned char>(hex[i])));
  }
  return shown;
}

Result<std::string> ParseFingerprint(std::string_view text) {
  std::string hex;
  for (const char c : Trim(text))
    if (c != ':') hex += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  const auto bytes = FromHex(hex);
  if (bytes && bytes->size() == 32) return hex;
  return Fail(ErrorCode::kInvalid,
              "'{}' is no SHA-256 fingerprint: expected 64 hex digits, with or without colons",
              text);
}

}  // namespace muster::cli
