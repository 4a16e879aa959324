#pragma once

#include <string>
#include <string_view>

namespace muster::cli {

// Makes bytes of a host harmless for a terminal: control characters other than tab and newline
// become symbols (␛), bytes that are not UTF-8 become �, colours (SGR sequences) pass. Keeps a
// sequence that is cut at the end of a piece for the next one.
class TerminalFilter {
 public:
  std::string Feed(std::string_view bytes);
  // What was kept, as symbols: nothing more comes.
  std::string Finish();

 private:
  std::string kept_;
};

// The same for a whole text at once; newlines too become symbols when `one_line`. Colours are left
// on at the end only if the text does so.
std::string ForTerminal(std::string_view bytes, bool one_line = false);

}  // namespace muster::cli
