#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace muster {

// How many files one host may send for one pull: each costs more than its bytes.
inline constexpr std::size_t kMostPulledFiles = 100'000;

// * matches any run of characters, ? any one; nothing else is special. A leading dot must be
// written.
bool MatchesName(std::string_view pattern, std::string_view name);

// Whether a pull of these paths may bring the file at the absolute `path`: one of the paths leads
// to it, with * and ? matching names, or to a folder above it. Part by part, so that "/srv/app" is
// not above "/srv/app2/x". False for a `path` with an empty part, "." or "..".
bool IsAskedFor(std::span<const std::string> asked, std::string_view path);

}  // namespace muster
