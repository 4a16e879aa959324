#pragma once

#include <string>
#include <string_view>

namespace muster::cli {

// Makes a host's output harmless for a terminal: as base/visible.hpp does, except that newlines and
// colours (SGR sequences) pass. Keeps a sequence that is cut at the end of a piece for the next
// one.
class TerminalFilter {
 public:
  std::string Feed(std::string_view bytes);
  // What was kept, as symbols: nothing more comes.
  std::string Finish();

 private:
  std::string kept_;
};

// The same for a whole text at once. Colours are left on at the end only if the text does so.
std::string ForTerminal(std::string_view bytes);

}  // namespace muster::cli
