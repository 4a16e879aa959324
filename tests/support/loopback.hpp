#pragma once

#include <arpa/inet.h>
#include <cstdint>
#include <cstdlib>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

namespace muster {

struct Listening {
  int fd = -1;
  std::uint16_t port = 0;
};

// A listening socket on a free port of 127.0.0.1.
inline Listening ListenOnLoopback() {
  Listening made{.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  auto* plain = reinterpret_cast<sockaddr*>(&address);
  if (bind(made.fd, plain, size) != 0 || listen(made.fd, 64) != 0) std::abort();
  getsockname(made.fd, plain, &size);
  made.port = ntohs(address.sin_port);
  return made;
}

// Connected, or -1.
inline int ConnectToLoopback(std::uint16_t port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  if (connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0) return fd;
  close(fd);
  return -1;
}

// Ports for programs that cannot be given a socket: different ones, free a moment ago.
inline std::vector<std::uint16_t> FreePorts(std::size_t count) {
  std::vector<Listening> held;
  std::vector<std::uint16_t> ports;
  for (std::size_t i = 0; i < count; ++i) {
    held.push_back(ListenOnLoopback());
    ports.push_back(held.back().port);
  }
  for (const Listening& one : held) close(one.fd);
  return ports;
}

}  // namespace muster
