#include "unit/adapters_net/raw_server.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>

namespace muster::net {

RawServer::RawServer() : listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  EXPECT_EQ(bind(listener_, reinterpret_cast<sockaddr*>(&address), size), 0);
  EXPECT_EQ(listen(listener_, 16), 0);
  EXPECT_EQ(getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size), 0);
  port_ = ntohs(address.sin_port);
}

RawServer::~RawServer() {
  Close();
  StopListening();
}

bool RawServer::Await(int fd) {
  pollfd entry{fd, POLLIN, 0};
  return poll(&entry, 1, std::chrono::milliseconds(kPatience).count()) > 0;
}

void RawServer::Accept() {
  if (!Await(listener_)) {
    ADD_FAILURE() << "nobody connected";
    return;
  }
  Close();
  fd_ = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
}

std::string RawServer::ReadUntil(std::string_view end) {
  std::string text;
  while (end.empty() || text.find(end) == std::string::npos) {
    if (!Await(fd_)) {
      ADD_FAILURE() << "nothing came; so far: " << text;
      break;
    }
    char buffer[4096];
    const ssize_t got = recv(fd_, buffer, sizeof(buffer), 0);
    if (got <= 0) break;
    text.append(buffer, static_cast<std::size_t>(got));
  }
  return text;
}

void RawServer::Send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
}

void RawServer::Close() {
  if (fd_ >= 0) close(fd_);
  fd_ = -1;
}

void RawServer::StopListening() {
  if (listener_ >= 0) close(listener_);
  listener_ = -1;
}

}  // namespace muster::net
