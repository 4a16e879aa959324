#include "cli/logs/log_text.hpp"

#include <algorithm>
#include <utility>

namespace muster::cli {

std::vector<std::string> LineStamps::Add(std::string_view stream, std::string_view time,
                                         std::string_view bytes) {
  std::vector<std::string> lines;
  std::string& begun = begun_[std::string(stream)];
  while (!bytes.empty()) {
    if (begun.empty()) begun = fmt::format("{} ", time);
    const auto end = bytes.find('\n');
    begun += bytes.substr(0, end == std::string_view::npos ? end : end + 1);
    if (end == std::string_view::npos) break;
    lines.push_back(std::exchange(begun, ""));
    bytes.remove_prefix(end + 1);
  }
  if (begun.size() >= kLongestLine) lines.push_back(std::exchange(begun, "") + "\n");
  return lines;
}

std::vector<std::string> LineStamps::Finish() {
  std::vector<std::string> lines;
  for (auto& [stream, begun] : begun_)
    if (!begun.empty()) lines.push_back(std::exchange(begun, "") + "\n");
  return lines;
}

std::vector<LogPart::Piece> LastLines(const std::vector<LogPart::Piece>& pieces,
                                      std::uint64_t lines) {
  std::vector<LogPart::Piece> kept;
  std::uint64_t found = 0;
  bool at_end = true;
  for (std::size_t i = pieces.size(); i-- > 0;) {
    const std::string& data = pieces[i].data;
    std::size_t start = data.size();
    for (; start > 0; --start) {
      // A newline at the very end closes the last line, it does not begin another.
      if (data[start - 1] == '\n' && !at_end && ++found == lines) break;
      at_end = false;
    }
    LogPart::Piece piece = pieces[i];
    piece.offset += start;
    piece.data.erase(0, start);
    if (!piece.data.empty()) kept.push_back(std::move(piece));
    if (found == lines) break;
  }
  std::ranges::reverse(kept);
  return kept;
}

}  // namespace muster::cli
