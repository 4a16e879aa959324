#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"

namespace muster::cli {

// SHA-256 as openssl shows it, "5E:A1:…", of its plain hex.
std::string ShowFingerprint(std::string_view hex);

// Plain lower-case hex of either form; kInvalid when it is no SHA-256.
Result<std::string> ParseFingerprint(std::string_view text);

}  // namespace muster::cli
