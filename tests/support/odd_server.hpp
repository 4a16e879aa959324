#pragma once

#include <algorithm>
#include <atomic>
#include <functional>
#include <string>
#include <string_view>
#include <thread>

#include <fmt/format.h>

#include "support/loopback.hpp"

namespace muster {

// Says what it is told to say, one request after the other, and hangs up after each.
class OddServer {
 public:
  // To the first line of a request, from its own thread.
  using Answer = std::function<std::string(std::string_view line)>;

  explicit OddServer(Answer answer) : answer_(std::move(answer)), listening_(ListenOnLoopback()) {
    thread_ = std::thread([this] { Run(); });
  }
  explicit OddServer(const std::string& always)
      : OddServer([always](std::string_view) { return always; }) {}
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
      const auto got = recv(client, request, sizeof(request), 0);
      const std::string_view asked(request, static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
      const std::string said = answer_(asked.substr(0, asked.find("\r\n")));
      send(client, said.data(), said.size(), MSG_NOSIGNAL);
      close(client);
    }
  }

  const Answer answer_;
  const Listening listening_;
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

}  // namespace muster
