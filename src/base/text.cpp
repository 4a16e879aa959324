#include "base/text.hpp"

#include <array>
#include <cctype>
#include <charconv>

namespace muster {
namespace {

constexpr std::string_view kMore = "…";
constexpr std::string_view kHexDigits = "0123456789abcdef";
constexpr std::string_view kBase64 =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

int HexValue(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

constexpr std::array<signed char, 256> MakeBase64Values() {
  std::array<signed char, 256> values{};
  for (auto& value : values) value = -1;
  for (std::size_t i = 0; i < kBase64.size(); ++i)
    values[static_cast<unsigned char>(kBase64[i])] = static_cast<signed char>(i);
  return values;
}
constexpr auto kBase64Values = MakeBase64Values();

}  // namespace

std::string ToHex(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size() * 2);
  for (unsigned char c : bytes) {
    out += kHexDigits[c >> 4];
    out += kHexDigits[c & 15];
  }
  return out;
}

std::optional<std::string> FromHex(std::string_view hex) {
  if (hex.size() % 2 != 0) return std::nullopt;
  std::string out;
  out.reserve(hex.size() / 2);
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    const int high = HexValue(hex[i]);
    const int low = HexValue(hex[i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    out += static_cast<char>(high * 16 + low);
  }
  return out;
}

std::string ToBase64(std::string_view bytes) {
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t left = bytes.size() - i;
    const std::uint32_t word = static_cast<unsigned char>(bytes[i]) << 16 |
                               (left > 1 ? static_cast<unsigned char>(bytes[i + 1]) << 8 : 0) |
                               (left > 2 ? static_cast<unsigned char>(bytes[i + 2]) : 0);
    out += kBase64[word >> 18];
    out += kBase64[word >> 12 & 63];
    out += left > 1 ? kBase64[word >> 6 & 63] : '=';
    out += left > 2 ? kBase64[word & 63] : '=';
  }
  return out;
}

std::optional<std::string> FromBase64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  std::string out;
  out.reserve(text.size() / 4 * 3);
  for (std::size_t i = 0; i < text.size(); i += 4) {
    const bool last = i + 4 == text.size();
    const int pads = last ? (text[i + 3] == '=' ? (text[i + 2] == '=' ? 2 : 1) : 0) : 0;
    std::uint32_t word = 0;
    for (std::size_t k = 0; k < 4; ++k) {
      const bool pad = k >= 4 - static_cast<std::size_t>(pads);
      const int value = pad ? 0 : kBase64Values[static_cast<unsigned char>(text[i + k])];
      if (value < 0) return std::nullopt;
      word = word << 6 | static_cast<std::uint32_t>(value);
    }
    out += static_cast<char>(word >> 16 & 255);
    if (pads < 2) out += static_cast<char>(word >> 8 & 255);
    if (pads < 1) out += static_cast<char>(word & 255);
  }
  return out;
}

bool IsUtf8(std::string_view bytes) noexcept {
  std::size_t i = 0;
  while (i < bytes.size()) {
    const auto c = static_cast<unsigned char>(bytes[i]);
    const int length = c < 0x80 ? 1 : c >> 5 == 6 ? 2 : c >> 4 == 14 ? 3 : c >> 3 == 30 ? 4 : 0;
    if (length == 0 || i + static_cast<std::size_t>(length) > bytes.size()) return false;
    std::uint32_t point = length == 1 ? c : c & (0xFF >> (length + 1));
    for (int k = 1; k < length; ++k) {
      const auto next = static_cast<unsigned char>(bytes[i + static_cast<std::size_t>(k)]);
      if (next >> 6 != 2) return false;
      point = point << 6 | (next & 63);
    }
    constexpr std::array<std::uint32_t, 5> kSmallest{0, 0, 0x80, 0x800, 0x10000};
    if (point < kSmallest[static_cast<std::size_t>(length)] || point > 0x10FFFF) return false;
    if (point >= 0xD800 && point <= 0xDFFF) return false;
    i += static_cast<std::size_t>(length);
  }
  return true;
}

std::string_view WholeCharacters(std::string_view text, std::size_t most) noexcept {
  if (text.size() <= most) return text;
  // What follows the first byte of a character looks like 10xxxxxx.
  while (most > 0 && static_cast<unsigned char>(text[most]) >> 6 == 2) --most;
  return text.substr(0, most);
}

void CutText(std::string& text, std::size_t most) {
  if (text.size() <= most) return;
  if (most < kMore.size()) return text.clear();
  text.resize(WholeCharacters(text, most - kMore.size()).size());
  text += kMore;
}

std::string CutLine(std::string_view text, std::size_t most) {
  std::string line(text.substr(0, text.find_first_of("\r\n")));
  if (line.size() < text.size()) line += kMore;
  CutText(line, most);
  return line;
}

std::string_view Trim(std::string_view text) noexcept {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())))
    text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())))
    text.remove_suffix(1);
  return text;
}

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  std::size_t start = 0;
  while (true) {
    const std::size_t at = text.find(separator, start);
    parts.push_back(text.substr(start, at == std::string_view::npos ? at : at - start));
    if (at == std::string_view::npos) return parts;
    start = at + 1;
  }
}

Result<std::uint64_t> ParseSize(std::string_view text) {
  const auto bad = [&] {
    return Fail(ErrorCode::kInvalid, "'{}' is not a size; write for example 64k, 16MB, 1GiB", text);
  };
  std::uint64_t number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc{}) return bad();
  std::string suffix;
  for (const char* c = end; c != text.data() + text.size(); ++c)
    suffix += static_cast<char>(std::tolower(static_cast<unsigned char>(*c)));
  if (suffix.ends_with("ib"))
    suffix.resize(suffix.size() - 2);
  else if (suffix.ends_with("b"))
    suffix.resize(suffix.size() - 1);
  int shift = 0;
  if (suffix == "k")
    shift = 10;
  else if (suffix == "m")
    shift = 20;
  else if (suffix == "g")
    shift = 30;
  else if (suffix == "t")
    shift = 40;
  else if (!suffix.empty())
    return bad();
  if (number > (UINT64_MAX >> shift)) return bad();
  return number << shift;
}

std::string FormatSize(std::uint64_t bytes) {
  constexpr std::array<std::string_view, 5> kSizeUnits{"B", "KB", "MB", "GB", "TB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1024 && unit + 1 < kSizeUnits.size()) {
    value /= 1024;
    ++unit;
  }
  if (unit == 0) return fmt::format("{} B", bytes);
  return fmt::format("{:.1f} {}", value, kSizeUnits[unit]);
}

bool EqualSecrets(std::string_view a, std::string_view b) noexcept {
  unsigned difference = a.size() == b.size() ? 0 : 1;
  const std::size_t length = a.size() < b.size() ? a.size() : b.size();
  for (std::size_t i = 0; i < length; ++i)
    difference |= static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]);
  return difference == 0;
}

}  // namespace muster
