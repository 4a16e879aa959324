#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

#include "base/result.hpp"

namespace muster::files {

// "user muster"; "uid 1234" when no user has this number.
std::string UserText(uid_t user);
// The name alone.
std::optional<std::string> UserName(uid_t user);

// Whether `group` is the first group of this process, and of its user alone as far as is known: it
// has the user's name and no other member, or no name at all, as in containers.
bool IsPrivateGroup(gid_t group);

// Why the file at `path` may not be read, and what to do, as kInvalid: "cannot read PATH: it
// belongs to user root; run: chown -R muster: FOLDER". For after EACCES.
std::unexpected<Error> MayNotRead(const std::filesystem::path& path);

// While it lives, files are reached with the rights of another user, and new ones belong to that
// user. One at a time.
class UserSwitch {
 public:
  // None with errno when this process may not switch.
  static std::optional<UserSwitch> To(uid_t user, gid_t group, const std::vector<gid_t>& groups);
  UserSwitch(UserSwitch&& other) noexcept;
  UserSwitch& operator=(UserSwitch&&) = delete;
  ~UserSwitch();

 private:
  UserSwitch() = default;

  bool switched_ = false;
  std::vector<gid_t> groups_before_;
  gid_t group_before_ = 0;
};

// For root at work in a folder of another user: the rights of the folder's owner, so that no link
// which the owner puts there leads root astray. None is needed by other users, and in a folder of
// root. kUnavailable: the folder cannot be looked at, or the rights cannot be taken.
Result<std::optional<UserSwitch>> SwitchToOwner(const std::filesystem::path& folder);

// Gives the new file `file` to the owner of the open folder `folder`, when root made it in a folder
// of another user. False with errno.
bool GiveToOwner(int file, int folder);

}  // namespace muster::files
