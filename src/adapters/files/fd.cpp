#include "adapters/files/fd.hpp"

#include <cerrno>
#include <unistd.h>

namespace muster::files {

void Fd::Reset() noexcept {
  if (fd_ < 0) return;
  const int error = errno;
  ::close(std::exchange(fd_, -1));
  errno = error;
}

}  // namespace muster::files
