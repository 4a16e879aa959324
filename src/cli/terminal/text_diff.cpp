#include "cli/terminal/text_diff.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace muster::cli {
namespace {

constexpr std::size_t kAround = 3;
constexpr std::size_t kMostCells = 25'000'000;  // beyond, the middle is shown as replaced whole

using Lines = std::vector<std::string_view>;

Lines LinesOf(std::string_view text) {
  Lines lines;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

struct Edit {
  char sign;  // ' ', '-' or '+'
  std::string_view line;
};

// By the longest common subsequence of what is left between equal beginnings and ends.
void Compare(const Lines& from, const Lines& to, std::vector<Edit>& edits) {
  const std::size_t n = from.size();
  const std::size_t m = to.size();
  std::vector<std::uint32_t> longest;
  const bool small = (n + 1) * (m + 1) <= kMostCells;
  const auto at = [&](std::size_t i, std::size_t j) -> std::uint32_t& {
    return longest[i * (m + 1) + j];
  };
  if (small) {
    longest.assign((n + 1) * (m + 1), 0);
    for (std::size_t i = n; i-- > 0;)
      for (std::size_t j = m; j-- > 0;)
        at(i, j) = from[i] == to[j] ? at(i + 1, j + 1) + 1 : std::max(at(i + 1, j), at(i, j + 1));
  }
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < n || j < m) {
    if (small && i < n && j < m && from[i] == to[j]) {
      edits.push_back({' ', from[i++]});
      ++j;
    } else if (i < n && (j == m || !small || at(i + 1, j) >= at(i, j + 1))) {
      edits.push_back({'-', from[i++]});
    } else {
      edits.push_back({'+', to[j++]});
    }
  }
}

std::vector<Edit> EditsOf(Lines from, Lines to) {
  std::vector<Edit> edits;
  std::size_t begin = 0;
  while (begin < from.size() && begin < to.size() && from[begin] == to[begin])
    edits.push_back({' ', from[begin++]});
  Lines tail;
  while (from.size() > begin && to.size() > begin && from.back() == to.back()) {
    tail.push_back(from.back());
    from.pop_back();
    to.pop_back();
  }
  Compare({from.begin() + static_cast<std::ptrdiff_t>(begin), from.end()},
          {to.begin() + static_cast<std::ptrdiff_t>(begin), to.end()}, edits);
  for (auto line = tail.rbegin(); line != tail.rend(); ++line) edits.push_back({' ', *line});
  return edits;
}

}  // namespace

std::string TextDiff(std::string_view from, std::string_view to) {
  const auto edits = EditsOf(LinesOf(from), LinesOf(to));
  std::vector<bool> shown(edits.size());
  for (std::size_t i = 0; i < edits.size(); ++i) {
    if (edits[i].sign == ' ') continue;
    const std::size_t first = i < kAround ? 0 : i - kAround;
    for (std::size_t k = first; k < std::min(edits.size(), i + kAround + 1); ++k) shown[k] = true;
  }
  std::string text;
  bool gap = false;
  for (std::size_t i = 0; i < edits.size(); ++i) {
    if (!shown[i]) {
      gap = true;
      continue;
    }
    if (gap) text += "@@\n";
    gap = false;
    text += edits[i].sign;
    text += edits[i].line;
    text += '\n';
  }
  return text;
}

}  // namespace muster::cli
