#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "cli/client/api_client.hpp"

namespace muster::cli {

// Puts the time before each line of an output. The time is that of the piece in which the line
// begins. A line that grows past a bound is handed over in parts, as if each were a line.
class LineStamps {
 public:
  static constexpr std::size_t kLongestLine = 1 << 20;

  // The lines that `bytes` completes, each with its newline.
  std::vector<std::string> Add(std::string_view stream, std::string_view time,
                               std::string_view bytes);
  // The unfinished ones.
  std::vector<std::string> Finish();

 private:
  std::map<std::string, std::string, std::less<>> begun_;  // by stream, time included
};

// The pieces (the first perhaps shortened) that hold the last `lines` lines.
std::vector<LogPart::Piece> LastLines(const std::vector<LogPart::Piece>& pieces,
                                      std::uint64_t lines);

}  // namespace muster::cli
