#pragma once

#include <atomic>
#include <string>
#include <thread>

#include <fmt/format.h>

#include "support/loopback.hpp"

namespace muster {

// Says the same to everybody, whatever was asked, and hangs up.
class OddServer {
 public:
  explicit OddServer(std::string text) : text_(std::move(text)), listening_(ListenOnLoopback()) {
    thread_ = std::thread([this] { Run(); });
  }
  ~OddServer() {
    stop_ = true;
    shutdown(listening_.fd, SHUT_RDWR);
    thread_.join();
    close(listening_.fd);
  }
  OddServer(const OddServer&) = delete;
  OddServer& operator=(const OddServer&) = delete;

  static std::string Http(std::string_view body) {
    return fmt::format("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{}", body.size(), body);
  }
  std::string Url() const { return "http://127.0.0.1:" + std::to_string(listening_.port); }

 private:
  void Run() {
    while (!stop_) {
      const int client = accept4(listening_.fd, nullptr, nullptr, SOCK_CLOEXEC);
      if (client < 0) continue;
      char request[4096];
      [[maybe_unused]] const auto got = recv(client, request, sizeof(request), 0);
      send(client, text_.data(), text_.size(), MSG_NOSIGNAL);
      close(client);
    }
  }

  const std::string text_;
  const Listening listening_;
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

}  // namespace muster
