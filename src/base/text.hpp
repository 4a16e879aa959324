#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace muster {

std::string ToHex(std::string_view bytes);
std::optional<std::string> FromHex(std::string_view hex);

// Standard alphabet with padding; decoding accepts nothing else.
std::string ToBase64(std::string_view bytes);
std::optional<std::string> FromBase64(std::string_view text);

bool IsUtf8(std::string_view bytes) noexcept;

// The longest beginning of at most `most` bytes that does not cut a character in two.
std::string_view WholeCharacters(std::string_view text, std::size_t most) noexcept;

// A text of more than `most` bytes ends with "…" instead of the rest, and has at most that many
// with it; where "…" has no room, the text becomes empty. No character is cut in two.
void CutText(std::string& text, std::size_t most);
// The same for the first line of a text: "…" stands for further lines, too.
std::string CutLine(std::string_view text, std::size_t most);

std::string_view Trim(std::string_view text) noexcept;
std::vector<std::string_view> Split(std::string_view text, char separator);

// "16MB", "64k", "1GiB", "1048576": powers of 1024 for every suffix. kInvalid says what was
// expected.
Result<std::uint64_t> ParseSize(std::string_view text);
std::string FormatSize(std::uint64_t bytes);

// Compares without telling by its duration where the two differ.
bool EqualSecrets(std::string_view a, std::string_view b) noexcept;

}  // namespace muster
