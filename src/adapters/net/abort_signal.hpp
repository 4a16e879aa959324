#pragma once

#include <cstdint>
#include <sys/eventfd.h>
#include <unistd.h>

namespace muster::net {

// Wakes whoever polls its descriptor, for good. Raise is safe from any thread.
class AbortSignal {
 public:
  AbortSignal() : fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}
  ~AbortSignal() {
    if (fd_ >= 0) close(fd_);
  }
  AbortSignal(const AbortSignal&) = delete;
  AbortSignal& operator=(const AbortSignal&) = delete;

  void Raise() {
    const std::uint64_t one = 1;
    [[maybe_unused]] auto written = write(fd_, &one, sizeof(one));
  }

  // -1, which poll passes over, when the process had no descriptor left.
  int fd() const { return fd_; }

 private:
  int fd_;
};

}  // namespace muster::net
