#pragma once

#include <string>

namespace muster::cli {

// Opens `path` below the folder `root`, as open(2) with these flags would, and nothing outside it:
// errno is EXDEV for an absolute path, for ".." above the folder, and for a link that leads out.
// Links inside it are followed, unless the last part is one and `flags` has O_NOFOLLOW. -1 with
// errno on failure.
int OpenBeneath(int root, const std::string& path, int flags);

// The same without openat2(2), part by part: for kernels before 5.6 and sandboxes that refuse the
// call.
int WalkBeneath(int root, const std::string& path, int flags);

}  // namespace muster::cli
