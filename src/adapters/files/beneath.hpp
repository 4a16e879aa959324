#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <sys/types.h>

#include "adapters/files/fd.hpp"

// Opens and makes what is below an open folder, and nothing outside it, whatever another user puts
// or swaps there meanwhile. Descriptors are closed on exec, and no
// terminal becomes ours. None with errno on failure.
namespace muster::files {

constexpr int kMostLinks = 40;  // that one path may lead through, as the kernel's own limit

enum class Links : std::uint8_t {
  kInside,  // are followed as long as they lead to something below the folder
  kNone,    // are not followed
};

// Opens `path` below the folder `root`, as open(2) with these flags would. errno is EXDEV for an
// absolute path, for ".." above the folder, and for a link that leads out; ELOOP for a link that is
// not followed. A link as the last part is opened itself if `flags` has O_NOFOLLOW and O_PATH.
Fd OpenBeneath(int root, const std::string& path, int flags, Links links = Links::kInside);

// The same without openat2(2), part by part: for kernels before 5.6 and sandboxes that refuse the
// call.
Fd WalkBeneath(int root, const std::string& path, int flags, Links links = Links::kInside);

// The same, and no part of the path may begin with a dot, nor of a link that it leads through; "."
// and ".." may. errno is then EPERM.
Fd OpenWithoutDots(int root, const std::string& path, int flags);

// The folder at `path` below `root` as O_PATH, made with `mode` where it is missing, and so are
// its parents. No link is followed. `path` is of plain names. `room` is how many folders may be
// made, and is what is left of it afterwards; EDQUOT: it was not enough.
Fd MakeBeneath(int root, const std::string& path, mode_t mode, std::size_t& room);

// What `name` is in the open folder, as O_PATH: itself if it is a link.
Fd OpenPart(int folder, const std::string& name);

}  // namespace muster::files
