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

// The same for a whole text at once. With `one_line`, which is for names, facts and the like in a
// line of ours, newlines and colours become symbols too: nothing there may hide or repaint what
// stands beside it. Otherwise colours are left on at the end only if the text does so.
std::string ForTerminal(std::string_view bytes, bool one_line = false);

}  // namespace muster::cli
