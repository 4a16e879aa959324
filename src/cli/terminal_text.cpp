#include "cli/terminal_text.hpp"

#include <cstddef>
#include <optional>
#include <utility>

#include "base/text.hpp"

namespace muster::cli {
namespace {

constexpr std::string_view kUnreadable = "\xEF\xBF\xBD";  // U+FFFD
constexpr std::size_t kMaxColour = 32;

// Control pictures begin at U+2400; DEL has its own at U+2421.
std::string Symbol(unsigned char c) {
  const unsigned char last = c == 0x7F ? 0x21 : c;
  return {'\xE2', '\x90', static_cast<char>(0x80 + last)};
}

struct Piece {
  std::size_t length;  // bytes taken
  std::string text;
};

std::optional<Piece> EscapeAt(std::string_view bytes) {
  if (bytes.size() == 1) return std::nullopt;
  std::size_t end = 2;
  if (bytes[1] == '[') {
    while (end < bytes.size() && end < kMaxColour &&
           std::string_view("0123456789;:").find(bytes[end]) != std::string_view::npos)
      ++end;
    if (end == bytes.size() && end < kMaxColour) return std::nullopt;
    if (end < bytes.size() && bytes[end] == 'm')
      return Piece{end + 1, std::string(bytes.substr(0, end + 1))};
  }
  return Piece{1, Symbol(0x1B)};
}

// The first character of `bytes`; nothing when it may go on beyond their end.
std::optional<Piece> First(std::string_view bytes) {
  const auto c = static_cast<unsigned char>(bytes.front());
  if (c == 0x1B) return EscapeAt(bytes);
  if (c == '\t' || c == '\n') return Piece{1, std::string(1, bytes.front())};
  if (c < 0x20 || c == 0x7F) return Piece{1, Symbol(c)};
  if (c < 0x80) return Piece{1, std::string(1, bytes.front())};
  const std::size_t length = c >> 5 == 6 ? 2 : c >> 4 == 14 ? 3 : c >> 3 == 30 ? 4 : 0;
  if (length == 0) return Piece{1, std::string(kUnreadable)};
  if (bytes.size() < length) {
    for (const char next : bytes.substr(1))
      if ((static_cast<unsigned char>(next) & 0xC0) != 0x80)
        return Piece{1, std::string(kUnreadable)};
    return std::nullopt;
  }
  const auto whole = bytes.substr(0, length);
  if (!IsUtf8(whole)) return Piece{1, std::string(kUnreadable)};
  // U+0080 to U+009F are controls as well: some terminals obey them like their ESC forms.
  const bool control = c == 0xC2 && static_cast<unsigned char>(whole[1]) < 0xA0;
  return Piece{length, control ? std::string(kUnreadable) : std::string(whole)};
}

}  // namespace

std::string TerminalFilter::Feed(std::string_view bytes) {
  kept_ += bytes;
  std::string_view rest = kept_;
  std::string out;
  while (!rest.empty()) {
    const auto piece = First(rest);
    if (!piece) break;
    out += piece->text;
    rest.remove_prefix(piece->length);
  }
  kept_ = std::string(rest);
  return out;
}

std::string TerminalFilter::Finish() {
  std::string out;
  for (const char c : std::exchange(kept_, "")) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20)
      out += Symbol(byte);
    else if (byte < 0x80)
      out += c;
    else
      out += kUnreadable;
  }
  return out;
}

std::string ForTerminal(std::string_view bytes, bool one_line) {
  TerminalFilter filter;
  std::string text = filter.Feed(bytes);
  text += filter.Finish();
  if (!one_line) return text;
  std::string line;
  for (const char c : text)
    line += c == '\n' || c == '\x1b' ? Symbol(static_cast<unsigned char>(c)) : std::string(1, c);
  return line;
}

}  // namespace muster::cli
