#include "imports/inventory_builder.hpp"

namespace muster::imports {
namespace {

// Words between spaces and commas; what stands in brackets belongs to one word.
template <typename Each>
void ForEachWord(std::string_view line, Each each) {
  std::size_t start = 0;
  bool inside = false;
  for (std::size_t i = 0; i <= line.size(); ++i) {
    const char c = i < line.size() ? line[i] : ' ';
    if (c == '#' && i == start && !inside) return;
    if (c == '[') inside = true;
    if (c == ']') inside = false;
    const bool separates = c == ' ' || c == '\t' || c == ',';
    if (!separates || (inside && i < line.size())) continue;
    if (i > start) each(line.substr(start, i - start), start);
    start = i + 1;
  }
}

}  // namespace

void ReadLines(std::string_view text, InventoryBuilder& out) {
  ForEachLine(text, [&](std::string_view line, std::uint32_t number) {
    ForEachWord(line, [&](std::string_view word, std::size_t at) {
      const Position position{number, ColumnOf(line, at)};
      if (word.contains('='))
        out.findings.Wrong(position,
                           "'{}' is not a host name; a file of lines has no labels, use CSV", word);
      else
        out.AddHosts(word, position, {});
    });
  });
}

}  // namespace muster::imports
