#pragma once

#include <cerrno>

namespace muster::net {

// Whether a call on a non-blocking socket failed only for now, so that it is repeated once the
// socket is ready.
inline bool WouldBlock(int error) noexcept {
  return error == EAGAIN || error == EWOULDBLOCK || error == EINTR;
}

}  // namespace muster::net
