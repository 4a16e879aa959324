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

// `character` is valid UTF-8 of two to four bytes.
char32_t CodePoint(std::string_view character) {
  auto code = static_cast<char32_t>(static_cast<unsigned char>(character.front()) &
                                    (0xFFU >> (character.size() + 1)));
  for (const char next : character.substr(1))
    code = code << 6 | (static_cast<unsigned char>(next) & 0x3FU);
  return code;
}

struct CodeRange {
  char32_t first;
  char32_t last;
};
// What a reader does not see, or what changes the place of other characters. The joiners U+200C and
// U+200D shape words of several scripts, and stay.
constexpr CodeRange kReplaced[] = {
    {0x80, 0x9F},        // C1: some terminals obey them like their ESC forms
    {0xAD, 0xAD},        // soft hyphen
    {0x61C, 0x61C},      // reading order
    {0x180E, 0x180E},    // no width
    {0x200B, 0x200B},    // no width
    {0x200E, 0x200F},    // reading order
    {0x2028, 0x202E},    // line separators, reading order
    {0x2060, 0x206F},    // no width, reading order
    {0xFEFF, 0xFEFF},    // no width
    {0xFFF9, 0xFFFB},    // annotations
    {0xE0000, 0xE007F},  // tags
};

bool IsReplaced(std::string_view character) {
  const char32_t code = CodePoint(character);
  return std::ranges::any_of(kReplaced, [code](const CodeRange& range) {
    return range.first <= code && code <= range.last;
  });
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
  return VisiblePiece{length, std::string(IsReplaced(whole) ? kReplacement : whole)};
}

std::string VisibleLine(std::string_view text) { return Visible(text, false); }

std::string VisibleLines(std::string_view text) { return Visible(text, true); }

}  // namespace muster
