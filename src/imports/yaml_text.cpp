#include "imports/yaml_text.hpp"

#include <algorithm>
#include <cctype>

#include "base/ascii.hpp"
#include "base/result.hpp"
#include "base/text.hpp"

namespace muster::imports {
namespace {

// Words that are only letters, digits and a few signs mean the same in every YAML, but for these.
bool IsPlain(std::string_view text) {
  constexpr std::string_view kWords[] = {"null", "true", "false", "yes", "no", "on", "off"};
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return !text.empty() && std::isalpha(static_cast<unsigned char>(text.front())) != 0 &&
         std::ranges::all_of(text,
                             [](char c) {
                               return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
                                      std::string_view("._-/").contains(c);
                             }) &&
         std::ranges::find(kWords, lower) == std::end(kWords);
}

std::string Escaped(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '\n')
      out += "\\n";
    else if (c == '\t')
      out += "\\t";
    else if (IsControl(c))
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    else if (c == '"' || c == '\\')
      out += std::string("\\") + c;
    else
      out += c;
  }
  return out + "\"";
}

// A block keeps every character of its lines, so only what it cannot begin or hold is left to
// quotes.
bool FitsBlock(std::string_view text) {
  if (text.find('\n') == std::string_view::npos || text.ends_with("\n\n") || text.front() == '\n')
    return false;
  if (text.front() == ' ' || text.front() == '\t') return false;
  for (const auto line : Split(text, '\n'))
    if (!line.empty() && line.find_first_not_of(" \t") == std::string_view::npos) return false;
  return std::ranges::none_of(text, [](char c) { return IsControl(c) && c != '\n' && c != '\t'; });
}

std::string Block(std::string_view text, std::size_t indent) {
  const bool ends = text.ends_with('\n');
  if (ends) text.remove_suffix(1);
  std::string out = ends ? "|" : "|-";
  for (const auto line : Split(text, '\n')) {
    out += '\n';
    if (!line.empty()) out += std::string(indent, ' ') + std::string(line);
  }
  return out;
}

}  // namespace

std::string YamlQuoted(std::string_view text) {
  if (std::ranges::any_of(text, IsControl)) return Escaped(text);
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? "''" : std::string(1, c);
  return out + "'";
}

std::string YamlText(std::string_view text, std::size_t indent) {
  if (IsPlain(text)) return std::string(text);
  return !text.empty() && FitsBlock(text) ? Block(text, indent) : YamlQuoted(text);
}

}  // namespace muster::imports
