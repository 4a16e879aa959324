#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

#include "agent/files.hpp"
#include "base/result.hpp"

namespace muster::agent {

// Opens files and folders by path in such a way that another user of the host cannot redirect the
// transfer, also not by swapping folders and symbolic links while it runs. Each step starts at an
// open folder, and no link is followed before its owner is known.
//
// The process needs the rights for each step at the time of the call (ActAs). Codes: kNotFound, a
// component is missing; kDenied, a link was not followed; kInvalid, a component is not a folder;
// kUnavailable, everything else, also a missing right. Messages name the path.
class PathWalk {
 public:
  // kKernel resolves paths with openat2. Where that call is missing (a kernel before 5.6, a seccomp
  // filter), kStepwise does the same with one openat per component; kKernel then changes to it by
  // itself.
  enum class Way : std::uint8_t { kKernel, kStepwise };

  // For transfers of the user `user`.
  explicit PathWalk(uid_t user, Way way = Way::kKernel) : user_(user), way_(way) {}

  // Opens the absolute `path` with `flags`; O_CLOEXEC is added. A symbolic link in it, also the
  // last component, is followed when it belongs to root or to `user`. A link of a third user is
  // followed only to a file or folder that belongs to that same user, who then gains nothing by it.
  Result<Fd> Open(const std::string& path, int flags);

  // The folder at the absolute `path`, as O_PATH.
  Result<Fd> Folder(const std::string& path);

  // Whether there is something at the absolute `path`; a link as its last component is not
  // followed.
  Result<> Find(const std::string& path);

  // The folder at `path` below the open folder `root`, as O_PATH; "" is `root` itself. No link is
  // followed. `path` must not contain "." or "..".
  Result<Fd> Below(int root, const std::string& path);

 private:
  uid_t user_;
  Way way_;
};

// Of a folder that is open for reading: sorted, without "." and "..". `path` is for the error only.
Result<std::vector<std::string>> NamesIn(int folder, const std::string& path);

}  // namespace muster::agent
