#pragma once

#include <string>
#include <string_view>

#include "base/instant.hpp"
#include "base/result.hpp"

namespace muster::cli {

// The value of a time option: a time as it is ("2026-11-15T10:00:00Z"), or how long ago ("2h"),
// told as the API takes it. "" stays "". kInvalid names the option.
Result<std::string> Moment(std::string_view option, const std::string& text);

// The value of an option that says how long. kInvalid, in the option's name: it is no duration, or
// not within these bounds, which are the API's.
Result<Duration> Lasting(std::string_view option, std::string_view text, Duration least,
                         Duration most);

}  // namespace muster::cli
