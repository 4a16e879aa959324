#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <termios.h>
#include <vector>

#include "cli/terminal/signals.hpp"

namespace muster::cli {

// Changes how the terminal on stdin takes keys, and puts that back. Hold it only while waiting for
// a key: whatever ends the program elsewhere then finds the terminal as it was.
class TerminalMode {
 public:
  // Clears these local flags (ECHO, ICANON, …).
  explicit TerminalMode(tcflag_t without);
  ~TerminalMode();
  TerminalMode(const TerminalMode&) = delete;
  TerminalMode& operator=(const TerminalMode&) = delete;

 private:
  termios before_{};
  bool changed_ = false;
};

// Whether the answer is this number, as digits or as it is shown: "1000", "1,000".
bool SaysNumber(std::string_view answer, std::uint64_t number);

// Asks on the terminal, also when stderr leads elsewhere, and reads a line from stdin, without its
// end. Nothing when the person pressed Ctrl-C or Ctrl-D instead. The question is one line, whatever
// the names in it hold, and so is each of those above it.
std::optional<std::string> Ask(std::string_view question,
                               const std::vector<std::string>& above = {});
// The same for what nobody should see.
std::optional<std::string> AskSecret(std::string_view question);

// Waits for a line, and gives it without its end; nothing when a signal came (a second Ctrl-C), the
// person pressed Ctrl-D or the terminal went away.
std::optional<std::string> WaitForLine(Signals& signals);

}  // namespace muster::cli
