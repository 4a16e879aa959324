#include "cli/terminal/signals.hpp"

#include <algorithm>
#include <array>
#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

namespace muster::cli {

Signals::Signals() {
  sigset_t wanted;
  sigemptyset(&wanted);
  for (const int signal : {SIGINT, SIGHUP, SIGTERM}) sigaddset(&wanted, signal);
  pthread_sigmask(SIG_BLOCK, &wanted, &before_);
  fd_ = signalfd(-1, &wanted, SFD_NONBLOCK | SFD_CLOEXEC);
}

Signals::~Signals() {
  close(fd_);
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

bool Signals::Pending() const {
  pollfd wait{fd_, POLLIN, 0};
  return poll(&wait, 1, 0) > 0;
}

std::optional<int> Signals::Wait(int fd, Duration timeout) {
  std::array<pollfd, 2> waits{pollfd{fd_, POLLIN, 0}, pollfd{fd, POLLIN, 0}};
  const auto ms = std::clamp<std::int64_t>(timeout.count(), -1, 3'600'000);
  poll(waits.data(), fd < 0 ? 1 : 2, static_cast<int>(ms));
  signalfd_siginfo info{};
  if (read(fd_, &info, sizeof info) != sizeof info) return std::nullopt;
  return static_cast<int>(info.ssi_signo);
}

}  // namespace muster::cli
