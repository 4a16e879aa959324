#include "domain/pulled_line.hpp"

#include <charconv>

#include <fmt/format.h>

#include "base/text.hpp"

namespace muster {
namespace {

// How many bytes of `text` are one character of UTF-8; 0 when its first byte begins none.
std::size_t CharacterAt(std::string_view text) {
  for (std::size_t length = 1; length <= 4 && length <= text.size(); ++length)
    if (IsUtf8(text.substr(0, length))) return length;
  return 0;
}

template <typename Number>
std::optional<Number> ParseNumber(std::string_view text, int base) {
  Number number{};
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (problem != std::errc{} || end != text.data() + text.size()) return {};
  return number;
}

}  // namespace

std::string EscapePath(std::string_view path) {
  std::string out;
  while (!path.empty()) {
    const auto byte = static_cast<unsigned char>(path.front());
    const std::size_t length = CharacterAt(path);
    // U+0080 to U+009F are control characters too, to a terminal.
    const bool control =
        byte < 0x20 || byte == 0x7f ||
        (byte == 0xc2 && length == 2 && static_cast<unsigned char>(path[1]) < 0xa0);
    if (length == 0 || control || byte == '\\') {
      out += fmt::format("\\x{:02x}", byte);
      path.remove_prefix(1);
      continue;
    }
    out += path.substr(0, length);
    path.remove_prefix(length);
  }
  return out;
}

std::optional<std::string> UnescapePath(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] != '\\') {
      out += text[at++];
      continue;
    }
    const auto byte = text.substr(at, 2) == "\\x" ? FromHex(text.substr(at + 2, 2)) : std::nullopt;
    if (!byte || byte->size() != 1) return {};
    out += *byte;
    at += 4;
  }
  return out;
}

std::string FormatPulledLine(const PulledLine& line) {
  return fmt::format("{}\t{}\t{}\t{:04o}", EscapePath(line.path), ToHex(line.sha256), line.size,
                     line.mode);
}

std::optional<PulledLine> ParsePulledLine(std::string_view text) {
  const auto parts = Split(text, '\t');
  if (parts.size() != 4) return {};
  auto path = UnescapePath(parts[0]);
  auto sha256 = FromHex(parts[1]);
  const auto size = ParseNumber<std::uint64_t>(parts[2], 10);
  const auto mode = ParseNumber<std::uint32_t>(parts[3], 8);
  if (!path || path->empty() || !sha256 || sha256->size() != 32 || !size || !mode) return {};
  return PulledLine{std::move(*path), std::move(*sha256), *size, *mode};
}

}  // namespace muster
