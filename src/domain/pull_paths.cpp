#include "domain/pull_paths.hpp"

#include <algorithm>
#include <vector>

#include "base/text.hpp"

namespace muster {
namespace {

bool LeadsTo(std::string_view asked, std::span<const std::string_view> names) {
  std::size_t at = 0;
  for (const auto part : Split(asked, '/')) {
    if (part.empty()) continue;
    if (at == names.size() || !MatchesName(part, names[at])) return false;
    ++at;
  }
  return true;
}

}  // namespace

bool MatchesName(std::string_view pattern, std::string_view name) {
  if (name.starts_with('.') && !pattern.starts_with('.')) return false;
  std::size_t p = 0;
  std::size_t n = 0;
  std::size_t star = std::string_view::npos;  // the last one, and what it has swallowed so far
  std::size_t swallowed = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      swallowed = n;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == name[n])) {
      ++p;
      ++n;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      n = ++swallowed;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

bool IsAskedFor(std::span<const std::string> asked, std::string_view path) {
  if (!path.starts_with('/')) return false;
  const auto names = Split(path.substr(1), '/');
  const auto is_plain = [](std::string_view name) {
    return !name.empty() && name != "." && name != "..";
  };
  if (!std::ranges::all_of(names, is_plain)) return false;
  return std::ranges::any_of(asked, [&](const auto& one) { return LeadsTo(one, names); });
}

}  // namespace muster
