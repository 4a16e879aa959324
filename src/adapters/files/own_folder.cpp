#include "adapters/files/own_folder.hpp"

#include <cerrno>
#include <cstring>
#include <deque>
#include <fstream>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

#include "adapters/files/beneath.hpp"
#include "adapters/files/owner.hpp"

namespace muster::files {
namespace {

namespace fs = std::filesystem;

constexpr mode_t kParentMode = 0755;
constexpr uid_t kOverflowUser = 65534;
constexpr std::string_view kElsewhere =
    "choose a folder whose parents belong to root, such as one in /var/lib";

// Whether owners from outside this user namespace are shown as `kOverflowUser`, which is then no
// user of it.
bool HidesOwners() {
  std::ifstream map("/proc/self/uid_map");
  std::uint64_t inside = 0;
  std::uint64_t outside = 0;
  std::uint64_t count = 0;
  bool any = false;
  while (map >> inside >> outside >> count) {
    any = true;
    if (inside <= kOverflowUser && kOverflowUser - inside < count) return false;
  }
  return any;
}

bool IsTrusted(uid_t owner) {
  return owner == 0 || owner == ::geteuid() || (owner == kOverflowUser && HidesOwners());
}

// From the root folder down. What was looked at cannot be replaced by another user afterwards, as
// the folder that holds it was looked at before; so paths are as good as descriptors here.
class OwnFolder {
 public:
  OwnFolder(const fs::path& path, mode_t mode) : path_(path), mode_(mode) {}

  Result<> Make() {
    std::error_code problem;
    Queue(fs::absolute(path_, problem));
    if (problem) return Trouble("find", path_, problem.value());
    if (auto checked = Enter("/"); !checked) return checked;
    while (!parts_.empty()) {
      const fs::path part = parts_.front();
      parts_.pop_front();
      if (auto went = part == ".." ? Enter(at_.parent_path()) : Step(at_ / part); !went)
        return went;
    }
    return {};
  }

 private:
  void Queue(const fs::path& path) {
    std::deque<fs::path> parts;
    for (const auto& part : path.relative_path())
      if (!part.empty() && part != ".") parts.push_back(part);
    parts_.insert(parts_.begin(), parts.begin(), parts.end());
  }

  std::unexpected<Error> Trouble(std::string_view verb, const fs::path& what, int error) const {
    return Fail(ErrorCode::kUnavailable, "data folder {}: cannot {} {}: {}", path_.string(), verb,
                what.string(), std::strerror(error));
  }

  Result<> Step(const fs::path& next) {
    struct stat status{};
    if (::lstat(next.c_str(), &status) != 0) {
      if (errno != ENOENT) return Trouble("look at", next, errno);
      if (::mkdir(next.c_str(), parts_.empty() ? mode_ : kParentMode) != 0 && errno != EEXIST)
        return Trouble("make", next, errno);
      if (::lstat(next.c_str(), &status) != 0) return Trouble("look at", next, errno);
    }
    if (!S_ISLNK(status.st_mode)) return Enter(next);
    if (!IsTrusted(status.st_uid)) return DistrustLink(next, status.st_uid);
    std::error_code problem;
    const fs::path target = fs::read_symlink(next, problem);
    if (problem) return Trouble("look at", next, problem.value());
    if (++followed_ > kMostLinks) return Trouble("look at", next, ELOOP);
    Queue(target);
    return target.is_absolute() ? Enter("/") : Result<>();
  }

  Result<> Enter(const fs::path& folder) {
    struct stat status{};
    if (::lstat(folder.c_str(), &status) != 0) return Trouble("look at", folder, errno);
    if (!S_ISDIR(status.st_mode)) return Trouble("enter", folder, ENOTDIR);
    if (!IsTrusted(status.st_uid)) return Distrust(folder, status.st_uid);
    at_ = folder;
    const bool by_others =
        (status.st_mode & S_IWOTH) != 0 ||
        ((status.st_mode & S_IWGRP) != 0 && status.st_gid != 0 && !IsPrivateGroup(status.st_gid));
    const bool is_above = !parts_.empty();
    if (!by_others || (is_above && (status.st_mode & S_ISVTX) != 0)) return {};
    return Fail(
        ErrorCode::kInvalid,
        "data folder {0}: other users may write to {1} (mode {2:04o}), and so replace keys; "
        "remove that right: chmod go-w {1}{3}",
        path_.string(), folder.string(), status.st_mode & 07777,
        is_above ? fmt::format(", or {}", kElsewhere) : "");
  }

  // Nothing here says `chown`: the folder may hold the keys of a service that runs as its owner.
  std::unexpected<Error> Distrust(const fs::path& what, uid_t owner) const {
    if (!parts_.empty())
      return Fail(ErrorCode::kInvalid,
                  "data folder {}: {} above it belongs to {}, who could replace keys; {}",
                  path_.string(), what.string(), UserText(owner), kElsewhere);
    const auto name = UserName(owner);
    return Fail(ErrorCode::kInvalid,
                "data folder {}: it belongs to {}, who could replace keys; run this as that "
                "user{}, or choose another folder",
                path_.string(), UserText(owner),
                name && ::geteuid() == 0
                    ? fmt::format(" (runuser -u {} -- {} …)", *name, program_invocation_short_name)
                    : "");
  }

  std::unexpected<Error> DistrustLink(const fs::path& link, uid_t owner) const {
    return Fail(ErrorCode::kInvalid,
                "data folder {}: {} is a symbolic link of {}, who could point it elsewhere; name "
                "the real path",
                path_.string(), link.string(), UserText(owner));
  }

  const fs::path path_;
  const mode_t mode_;
  fs::path at_;
  std::deque<fs::path> parts_;
  int followed_ = 0;
};

}  // namespace

Result<> MakeOwnFolder(const std::filesystem::path& path, mode_t mode) {
  return OwnFolder(path, mode).Make();
}

}  // namespace muster::files
