#include "agent/transfer/wildcards.hpp"

#include <algorithm>
#include <filesystem>
#include <sys/stat.h>
#include <vector>

#include "base/text.hpp"
#include "domain/pulled_line.hpp"

namespace muster::agent {
namespace {

bool HasWildcard(std::string_view text) {
  return text.find_first_of("*?") != std::string_view::npos;
}

std::vector<std::string> NamesIn(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code problem;
  for (auto at = std::filesystem::directory_iterator(folder, problem);
       !problem && at != std::filesystem::directory_iterator(); at.increment(problem))
    names.push_back(at->path().filename().string());
  std::ranges::sort(names);
  return names;
}

void Walk(const std::string& at, const std::vector<std::string_view>& parts, std::size_t next,
          const std::function<void(const std::string&)>& found) {
  while (next < parts.size() && parts[next].empty()) ++next;
  if (next == parts.size()) {
    struct stat status{};
    const std::string path = at.empty() ? "/" : at;
    if (::lstat(path.c_str(), &status) == 0) found(path);
    return;
  }
  if (!HasWildcard(parts[next]))
    return Walk(fmt::format("{}/{}", at, parts[next]), parts, next + 1, found);
  for (const auto& name : NamesIn(at.empty() ? "/" : at))
    if (MatchesName(parts[next], name)) Walk(at + "/" + name, parts, next + 1, found);
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

Result<> Expand(const std::string& pattern, const std::function<void(const std::string&)>& found) {
  if (!pattern.starts_with('/') || pattern.find('\0') != std::string::npos)
    return Fail(ErrorCode::kInvalid, "'{}' is not a whole path; it must begin with /",
                EscapePath(pattern));
  bool any = false;
  Walk("", Split(pattern, '/'), 0, [&](const std::string& path) {
    any = true;
    found(path);
  });
  if (any) return {};
  return Fail(ErrorCode::kNotFound, "{}: {}", EscapePath(pattern),
              HasWildcard(pattern) ? "nothing on this host matches"
                                   : "there is no such file or folder on this host");
}

}  // namespace muster::agent
