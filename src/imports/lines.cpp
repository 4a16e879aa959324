#include "imports/inventory_builder.hpp"

namespace muster::imports {
namespace {

// Words between spaces and commas; what stands in brackets belongs to one word. Until `each` is
// false.
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
    if (i > start && !each(line.substr(start, i - start), start)) return;
    start = i + 1;
  }
}

}  // namespace

void ReadLines(std::string_view text, InventoryBuilder& out) {
  ForEachLine(text, [&](std::string_view line, std::uint32_t number) {
    if (out.findings.Full()) return;
    ColumnCounter columns(line);
    ForEachWord(line, [&](std::string_view word, std::size_t at) {
      const Position position{number, columns.Of(at)};
      if (word.contains('='))
        out.findings.Wrong(position,
                           "'{}' is not a host name; a file of lines has no labels, use CSV", word);
      else
        out.AddHosts(word, position, {});
      return !out.findings.Full();
    });
  });
}

}  // namespace muster::imports
