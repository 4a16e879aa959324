#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "cli/terminal/terminal_text.hpp"

namespace muster::cli {

enum class Colour : std::uint8_t { kNone, kRed, kGreen, kYellow, kDim, kBold };

// Text that may go to a stream as it is. Only the functions below make it, and Write (output.hpp)
// takes nothing else: so no name, reason, error or output of others reaches a terminal before it
// was made visible.
class ShownText {
 public:
  ShownText() = default;
  ShownText& operator+=(const ShownText& more);
  bool Empty() const { return bytes_.empty(); }
  void Clear() { bytes_.clear(); }
  const std::string& Bytes() const { return bytes_; }
  // The rows it takes on a terminal of so many columns (0: lines are not broken).
  std::size_t Rows(std::size_t columns) const;
  // The same with lines of more than so many columns broken between words, or rather behind a " ·";
  // what follows is indented, so that it does not pass for a line of its own.
  ShownText Broken(std::size_t columns) const;

 private:
  friend ShownText OwnText(std::string_view text);
  friend ShownText OwnLine(std::string_view line);
  friend ShownText CopiedText(std::string_view bytes, bool terminal);
  friend ShownText HostOutput(std::string_view bytes, bool terminal);
  friend class HostStream;
  friend ShownText ClearedLine();
  explicit ShownText(std::string bytes) : bytes_(std::move(bytes)) {}

  std::string bytes_;
};

// Muster's own words, with names and texts of others among them: made visible (base/visible.hpp),
// wherever they go. Newlines stay; colours are those of Paint only, and end with their line.
ShownText OwnText(std::string_view text);
// The same as one line, with its end: a newline in a name cannot begin a line of its own.
ShownText OwnLine(std::string_view line);
// Bytes that are handed on: documents, JSON. Unchanged, except on a terminal: as OwnText.
ShownText CopiedText(std::string_view bytes, bool terminal);
// Whole lines of a host's output. Unchanged, except on a terminal: as TerminalFilter, and a colour
// that they leave on is turned off.
ShownText HostOutput(std::string_view bytes, bool terminal);
// The same for output that comes in pieces. A colour that is on at the end of a piece is turned
// off, and on again with the next one: what Muster says between them is never in a host's colours.
class HostStream {
 public:
  explicit HostStream(bool terminal) : terminal_(terminal) {}
  ShownText Feed(std::string_view bytes);
  ShownText Finish();

 private:
  ShownText Closed(std::string text);

  bool terminal_;
  TerminalFilter filter_;
  std::string colours_;  // sequences since the last that turned all off
};
// Back to the beginning of the line, which is empty then.
ShownText ClearedLine();

// `text` in a colour, for OwnText to show; as it is unless `enabled`.
std::string Paint(std::string_view text, Colour colour, bool enabled);

}  // namespace muster::cli
