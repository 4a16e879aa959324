#include "adapters/files/owner.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "base/result.hpp"

namespace muster::files {
namespace {

constexpr std::size_t kMostEntry = 1 << 20;

}  // namespace

std::optional<std::string> UserName(uid_t user) {
  passwd entry{};
  for (std::vector<char> buffer(4096); buffer.size() <= kMostEntry;
       buffer.resize(buffer.size() * 2)) {
    passwd* found = nullptr;
    const int error = ::getpwuid_r(user, &entry, buffer.data(), buffer.size(), &found);
    if (found != nullptr) return found->pw_name;
    if (error != ERANGE) break;
  }
  return {};
}

std::string UserText(uid_t user) {
  const auto name = UserName(user);
  return name ? "user " + *name : fmt::format("uid {}", user);
}

bool IsPrivateGroup(gid_t group) {
  if (group != ::getegid()) return false;
  ::group entry{};
  for (std::vector<char> buffer(4096); buffer.size() <= kMostEntry;
       buffer.resize(buffer.size() * 2)) {
    ::group* found = nullptr;
    const int error = ::getgrgid_r(group, &entry, buffer.data(), buffer.size(), &found);
    if (error == ERANGE) continue;
    if (found == nullptr) return true;
    const std::string name = UserName(::geteuid()).value_or("");
    if (name != found->gr_name) return false;
    for (char** member = found->gr_mem; *member != nullptr; ++member)
      if (name != *member) return false;
    return true;
  }
  return false;
}

std::unexpected<Error> MayNotRead(const std::filesystem::path& path) {
  struct stat status{};
  const uid_t self = ::geteuid();
  if (::stat(path.c_str(), &status) != 0 || status.st_uid == self)
    return Fail(ErrorCode::kInvalid, "cannot read {}: {}", path.string(), std::strerror(EACCES));
  return Fail(ErrorCode::kInvalid, "cannot read {}: it belongs to {}; run: chown -R {}: {}",
              path.string(), UserText(status.st_uid), UserName(self).value_or(std::to_string(self)),
              path.parent_path().string());
}

std::optional<UserSwitch> UserSwitch::To(uid_t user, gid_t group,
                                         const std::vector<gid_t>& groups) {
  UserSwitch change;
  const int before = ::getgroups(0, nullptr);
  change.groups_before_.resize(static_cast<std::size_t>(std::max(before, 0)));
  change.group_before_ = ::getegid();
  if (before < 0 || ::getgroups(before, change.groups_before_.data()) < 0) return {};
  change.switched_ = true;
  if (::setgroups(groups.size(), groups.data()) == 0 && ::setegid(group) == 0 &&
      ::seteuid(user) == 0)
    return change;
  const int error = errno;
  // Refused where the groups could not be left either.
  if (::setegid(change.group_before_) == 0)
    static_cast<void>(::setgroups(change.groups_before_.size(), change.groups_before_.data()));
  change.switched_ = false;
  errno = error;
  return {};
}

UserSwitch::UserSwitch(UserSwitch&& other) noexcept
    : switched_(std::exchange(other.switched_, false)),
      groups_before_(std::move(other.groups_before_)),
      group_before_(other.group_before_) {}

// With the wrong rights nothing may go on.
UserSwitch::~UserSwitch() {
  if (!switched_) return;
  const int error = errno;
  MUSTER_CHECK(::seteuid(::getuid()) == 0 && ::setegid(group_before_) == 0 &&
               ::setgroups(groups_before_.size(), groups_before_.data()) == 0);
  errno = error;
}

Result<std::optional<UserSwitch>> SwitchToOwner(const std::filesystem::path& folder) {
  struct stat status{};
  if (::stat(folder.c_str(), &status) != 0)
    return Fail(ErrorCode::kUnavailable, "look at {}: {}", folder.string(), std::strerror(errno));
  if (::geteuid() != 0 || status.st_uid == 0) return std::nullopt;
  auto change = UserSwitch::To(status.st_uid, status.st_gid, {});
  if (change) return change;
  return Fail(ErrorCode::kUnavailable,
              "{} belongs to {}, whose rights cannot be taken: {}; run this as that user",
              folder.string(), UserText(status.st_uid), std::strerror(errno));
}

bool GiveToOwner(int file, int folder) {
  struct stat status{};
  if (::geteuid() != 0) return true;
  if (::fstat(folder, &status) != 0) return false;
  return status.st_uid == 0 || ::fchown(file, status.st_uid, status.st_gid) == 0;
}

}  // namespace muster::files
