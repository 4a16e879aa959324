#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

// Text of others (names, reasons, errors, output) made visible before it reaches a terminal or a
// log: nothing in it can move the cursor, begin a line of its own, or turn around the reading order
// of the text beside it. Control characters become symbols (␛, ␊). C1 controls, characters that
// steer the reading order, characters without width, line separators of Unicode and bytes that are
// not UTF-8 become �.
namespace muster {

struct VisiblePiece {
  std::size_t length;  // bytes taken
  std::string text;
};

// The first character of `bytes`, which are not empty; nothing when it may go on beyond their end.
// A newline becomes a symbol, a tab stays.
std::optional<VisiblePiece> FirstVisible(std::string_view bytes);

// The symbol of a control character below U+0020, or of DEL.
std::string ControlSymbol(unsigned char control);

// As one line: newlines become symbols too.
std::string VisibleLine(std::string_view text);
// As it is: newlines stay.
std::string VisibleLines(std::string_view text);

}  // namespace muster
