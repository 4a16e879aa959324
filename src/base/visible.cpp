#include "base/visible.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace muster {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

bool IsPrintable(char c) { return c >= 0x20 && c < 0x7F; }

// The bytes of a UTF-8 character that begins so; 0 for none.
std::size_t LengthOf(unsigned char first) {
  if (first >> 5 == 6) return 2;
  if (first >> 4 == 14) return 3;
  return first >> 3 == 30 ? 4 : 0;
}

// `character` is valid UTF-8. Some terminals obey U+0080 to U+009F like their ESC forms.
bool Steers(std::string_view character) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(character[i]); };
  if (byte(0) == 0xC2) return byte(1) < 0xA0;
  if (byte(0) != 0xE2) return false;
  if (byte(1) == 0x80) return byte(2) >= 0xA8 && byte(2) <= 0xAE;  // U+2028 to U+202E
  return byte(1) == 0x81 && byte(2) >= 0xA6 && byte(2) <= 0xA9;    // U+2066 to U+2069
}

bool MayGoOn(std::string_view begun) {
  return std::ranges::all_of(begun.substr(1),
                             [](char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; });
}

std::string Visible(std::string_view text, bool newlines) {
  if (std::ranges::all_of(text, IsPrintable)) return std::string(text);
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    if (newlines && text.front() == '\n') {
      out += '\n';
      text.remove_prefix(1);
      continue;
    }
    const auto piece = FirstVisible(text);
    out += piece ? piece->text : std::string(kReplacement);
    text.remove_prefix(piece ? piece->length : 1);
  }
  return out;
}

}  // namespace

// Control pictures begin at U+2400; DEL has its own at U+2421.
std::string ControlSymbol(unsigned char control) {
  const unsigned char last = control == 0x7F ? 0x21 : control;
  return {'\xE2', '\x90', static_cast<char>(0x80 + last)};
}

std::optional<VisiblePiece> FirstVisible(std::string_view bytes) {
  const auto c = static_cast<unsigned char>(bytes.front());
  if (IsPrintable(bytes.front()) || c == '\t') return VisiblePiece{1, std::string(1, bytes[0])};
  if (c < 0x80) return VisiblePiece{1, ControlSymbol(c)};
  const auto length = LengthOf(c);
  if (length == 0) return VisiblePiece{1, std::string(kReplacement)};
  if (bytes.size() < length) {
    if (MayGoOn(bytes)) return std::nullopt;
    return VisiblePiece{1, std::string(kReplacement)};
  }
  const auto whole = bytes.substr(0, length);
  if (!IsUtf8(whole)) return VisiblePiece{1, std::string(kReplacement)};
  return VisiblePiece{length, std::string(Steers(whole) ? kReplacement : whole)};
}

std::string VisibleLine(std::string_view text) { return Visible(text, false); }

std::string VisibleLines(std::string_view text) { return Visible(text, true); }

}  // namespace muster
