#include "agent/transfer/wildcards.hpp"

#include <fcntl.h>
#include <optional>
#include <vector>

#include "base/text.hpp"
#include "domain/pull_paths.hpp"
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

  // The first reason why something on the way was not looked at: a link that is not followed, or a
  // missing right.
  const std::optional<Error>& Trouble() const { return trouble_; }

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
    const auto found = walk_.Find(path);
    if (!found) Note(found.error());
    return found.has_value();
  }

  std::vector<std::string> NamesOf(const std::string& path) {
    const auto folder = walk_.Open(path, O_RDONLY | O_DIRECTORY | O_NONBLOCK);
    if (!folder) return Note(folder.error()), std::vector<std::string>();
    auto names = NamesIn(folder->Get(), path);
    if (!names) return Note(names.error()), std::vector<std::string>();
    return std::move(*names);
  }

  // What a wildcard matches may well be no folder, or be gone.
  void Note(const Error& error) {
    const bool missing = error.code == ErrorCode::kNotFound || error.code == ErrorCode::kInvalid;
    if (!missing && !trouble_) trouble_ = error;
  }

  std::vector<std::string_view> parts_;
  PathWalk& walk_;
  const std::function<void(const std::string&)>& found_;
  std::optional<Error> trouble_;
  bool any_ = false;
};

}  // namespace

Result<> Expand(const std::string& pattern, PathWalk& walk,
                const std::function<void(const std::string&)>& found) {
  if (!pattern.starts_with('/') || pattern.find('\0') != std::string::npos)
    return Fail(ErrorCode::kInvalid, "'{}' is not a whole path; it must begin with /",
                EscapePath(pattern));
  Expansion expansion(pattern, walk, found);
  if (expansion.Run()) return {};
  if (expansion.Trouble()) return Fail(*expansion.Trouble());
  return Fail(ErrorCode::kNotFound, "{}: {}", EscapePath(pattern),
              HasWildcard(pattern) ? "nothing on this host matches"
                                   : "there is no such file or folder on this host");
}

}  // namespace muster::agent
