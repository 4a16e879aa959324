#include "adapters/files/durable.hpp"

#include <cerrno>
#include <cstdio>
#include <unistd.h>

namespace muster::files {

int WriteAll(int fd, std::string_view data) noexcept {
  while (!data.empty()) {
    const ssize_t wrote = ::write(fd, data.data(), data.size());
    if (wrote > 0) {
      data.remove_prefix(static_cast<std::size_t>(wrote));
    } else if (wrote == 0) {
      return EIO;
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

int RenameSynced(int folder, const std::string& from, const std::string& to) noexcept {
  if (::renameat(folder, from.c_str(), folder, to.c_str()) != 0) return errno;
  return ::fsync(folder) == 0 ? 0 : errno;
}

}  // namespace muster::files
