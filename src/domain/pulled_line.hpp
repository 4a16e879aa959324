#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace muster {

// A file that a pull brought into the artifact store, as the task's stdout says it, one a line:
//
//   PATH <TAB> SHA-256 in hex <TAB> size <TAB> mode in octal
//
// Programs read this form; it stays as it is. In PATH a backslash, a control character and every
// byte that is not part of UTF-8 text stand as \xHH, so any name a host can have fits a line.
struct PulledLine {
  std::string path;
  std::string sha256;  // 32 bytes
  std::uint64_t size = 0;
  std::uint32_t mode = 0;

  friend bool operator==(const PulledLine&, const PulledLine&) = default;
};

std::string FormatPulledLine(const PulledLine& line);  // without the newline
std::optional<PulledLine> ParsePulledLine(std::string_view text);

// A path as it stands in such a line, also for people.
std::string EscapePath(std::string_view path);
std::optional<std::string> UnescapePath(std::string_view text);

}  // namespace muster
