#pragma once

#include <cstddef>
#include <string_view>

#include <boost/json/value.hpp>

#include "base/result.hpp"

namespace muster::cli {

// What a server sent as JSON. It is not trusted with this machine's memory: a few bytes of text can
// become many times as many as values, so those have a bound of their own. kInvalid: it is not
// JSON; kInternal: its values need more than `most` bytes.
inline constexpr std::size_t kMostValueBytes = 256 << 20;
Result<boost::json::value> ParseAnswer(std::string_view text, std::size_t most = kMostValueBytes);

}  // namespace muster::cli
