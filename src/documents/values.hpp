#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/result.hpp"

namespace muster::documents {

std::optional<std::int64_t> ParseInteger(std::string_view text);
std::optional<std::uint32_t> ParseMode(std::string_view text);  // "0644", octal

// "10MB" or "10MB/s": bytes a second, above 0.
Result<std::uint64_t> ParseRate(std::string_view text);

}  // namespace muster::documents
