#include "cli/terminal/terminal_text.hpp"

#include <cstddef>
#include <optional>
#include <utility>

#include "base/visible.hpp"

namespace muster::cli {
namespace {

constexpr std::size_t kMaxColour = 32;

std::optional<VisiblePiece> EscapeAt(std::string_view bytes) {
  if (bytes.size() == 1) return std::nullopt;
  std::size_t end = 2;
  if (bytes[1] == '[') {
    while (end < bytes.size() && end < kMaxColour &&
           std::string_view("0123456789;:").find(bytes[end]) != std::string_view::npos)
      ++end;
    if (end == bytes.size() && end < kMaxColour) return std::nullopt;
    if (end < bytes.size() && bytes[end] == 'm')
      return VisiblePiece{end + 1, std::string(bytes.substr(0, end + 1))};
  }
  return FirstVisible(bytes);
}

std::optional<VisiblePiece> FirstOfOutput(std::string_view bytes) {
  if (bytes.front() == '\x1b') return EscapeAt(bytes);
  if (bytes.front() == '\n') return VisiblePiece{1, "\n"};
  return FirstVisible(bytes);
}

}  // namespace

std::string TerminalFilter::Feed(std::string_view bytes) {
  kept_ += bytes;
  std::string_view rest = kept_;
  std::string out;
  while (!rest.empty()) {
    const auto piece = FirstOfOutput(rest);
    if (!piece) break;
    out += piece->text;
    rest.remove_prefix(piece->length);
  }
  kept_ = std::string(rest);
  return out;
}

std::string TerminalFilter::Finish() { return VisibleLine(std::exchange(kept_, "")); }

std::string ForTerminal(std::string_view bytes) {
  TerminalFilter filter;
  std::string text = filter.Feed(bytes);
  return text + filter.Finish();
}

}  // namespace muster::cli
