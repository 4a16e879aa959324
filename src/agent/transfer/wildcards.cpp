#include "agent/transfer/wildcards.hpp"

#include <fcntl.h>
#include <optional>
#include <sys/stat.h>
#include <vector>

#include "base/text.hpp"
#include "domain/pulled_line.hpp"

namespace muster::agent {
namespace {

bool HasWildcard(std::string_view text) {
  return text.find_first_of("*?") != std::string_view::npos;
}

class Expansion {
 public:
  Expansion(const std::string& pattern, PathWalk& walk,
            const std::function<void(const std::string&)>& found)
      : walk_(walk), found_(found) {
    for (const auto part : Split(pattern, '/'))
      if (!part.empty()) parts_.push_back(part);
  }

  bool Run() {
    Descend("", 0);
    return any_;
  }

  // Why a link on the way was not followed, if there was one.
  const std::optional<Error>& Denied() const { return denied_; }

 private:
  void Descend(const std::string& at, std::size_t next) {
    if (next == parts_.size()) {
      if (IsThere(at)) Found(at.empty() ? "/" : at);
      return;
    }
    if (!HasWildcard(parts_[next]))
      return Descend(fmt::format("{}/{}", at, parts_[next]), next + 1);
    for (const auto& name : NamesOf(at.empty() ? "/" : at)) {
      if (!MatchesName(parts_[next], name)) continue;
      const std::string path = fmt::format("{}/{}", at, name);
      if (next + 1 == parts_.size())
        Found(path);
      else
        Descend(path, next + 1);
    }
  }

  void Found(const std::string& path) {
    any_ = true;
    found_(path);
  }

  bool IsThere(const std::string& path) {
    if (path.empty()) return true;
    const auto slash = path.rfind('/');
    const auto folder = walk_.Folder(slash == 0 ? "/" : path.substr(0, slash));
    if (!folder) return Note(folder.error()), false;
    struct stat status{};
    return ::fstatat(folder->Get(), path.c_str() + slash + 1, &status, AT_SYMLINK_NOFOLLOW) == 0;
  }

  std::vector<std::string> NamesOf(const std::string& path) {
    const auto folder = walk_.Open(path, O_RDONLY | O_DIRECTORY | O_NONBLOCK);
    if (!folder) return Note(folder.error()), std::vector<std::string>();
    return NamesIn(folder->Get(), path).value_or(std::vector<std::string>());
  }

  void Note(const Error& error) {
    if (error.code == ErrorCode::kDenied && !denied_) denied_ = error;
  }

  std::vector<std::string_view> parts_;
  PathWalk& walk_;
  const std::function<void(const std::string&)>& found_;
  std::optional<Error> denied_;
  bool any_ = false;
};

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

Result<> Expand(const std::string& pattern, PathWalk& walk,
                const std::function<void(const std::string&)>& found) {
  if (!pattern.starts_with('/') || pattern.find('\0') != std::string::npos)
    return Fail(ErrorCode::kInvalid, "'{}' is not a whole path; it must begin with /",
                EscapePath(pattern));
  Expansion expansion(pattern, walk, found);
  if (expansion.Run()) return {};
  if (expansion.Denied()) return Fail(*expansion.Denied());
  return Fail(ErrorCode::kNotFound, "{}: {}", EscapePath(pattern),
              HasWildcard(pattern) ? "nothing on this host matches"
                                   : "there is no such file or folder on this host");
}

}  // namespace muster::agent
