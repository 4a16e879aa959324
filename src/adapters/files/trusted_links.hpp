#pragma once

#include <optional>
#include <string>
#include <sys/types.h>

#include "adapters/files/fd.hpp"

namespace muster::files {

// What was opened, or why not.
struct Opened {
  Fd file;
  int error = 0;  // errno; ESTALE: it was replaced while it was opened
  // Whose link was not followed; `error` is EACCES then.
  std::optional<uid_t> distrusted;
};

// Opens `path` from the open folder `from`, one part at a time, so that another user cannot lead
// `user` elsewhere, also not by swapping folders and links meanwhile. A symbolic link, also as the
// last part, is followed wherever it leads to if it belongs to root or to `user`. One of a third
// user is followed only to a file or folder of that same user, who then gains nothing by it.
// Slashes at the begin of `path` do not count. With O_PATH and O_NOFOLLOW in `flags` a link as the
// last part is opened itself; O_CLOEXEC is
// added, and O_NOCTTY.
Opened OpenTrusted(int from, const std::string& path, int flags, uid_t user);

}  // namespace muster::files
