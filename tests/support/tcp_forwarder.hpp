#pragma once

#include <atomic>
#include <list>
#include <poll.h>
#include <string>
#include <thread>
#include <vector>

#include "support/loopback.hpp"

namespace muster {

// Stands between a client and a port of this machine. Held, it still accepts and passes nothing on:
// to both ends the other has fallen silent, as behind a cable that was pulled.
class TcpForwarder {
 public:
  explicit TcpForwarder(std::uint16_t to) : to_(to), listening_(ListenOnLoopback()) {
    thread_ = std::thread([this] { Run(); });
  }
  ~TcpForwarder() {
    stop_ = true;
    thread_.join();
    for (const Pair& pair : pairs_) Close(pair);
    close(listening_.fd);
  }
  TcpForwarder(const TcpForwarder&) = delete;
  TcpForwarder& operator=(const TcpForwarder&) = delete;

  std::uint16_t port() const { return listening_.port; }
  std::string Url() const { return "http://127.0.0.1:" + std::to_string(port()); }
  void Hold(bool hold) { held_ = hold; }
  // The server still hears the client, but not the other way round.
  void HoldAnswers(bool hold) { answers_held_ = hold; }

 private:
  struct Pair {
    int client;
    int server;
  };

  static void Close(const Pair& pair) {
    close(pair.client);
    close(pair.server);
  }

  // False when either end is done.
  static bool Pass(int from, int to) {
    char buffer[16 * 1024];
    const ssize_t got = recv(from, buffer, sizeof(buffer), 0);
    for (ssize_t sent = 0; sent < got;) {
      const ssize_t more =
          send(to, buffer + sent, static_cast<std::size_t>(got - sent), MSG_NOSIGNAL);
      if (more <= 0) return false;
      sent += more;
    }
    return got > 0;
  }

  void Accept() {
    const int client = accept4(listening_.fd, nullptr, nullptr, SOCK_CLOEXEC);
    if (client < 0) return;

    const int server = ConnectToLoopback(to_);
    if (server < 0) {
      close(client);
    } else {
      pairs_.push_back({client, server});
    }
  }

  void Run() {
    while (!stop_) {
      std::vector<pollfd> ready{{listening_.fd, POLLIN, 0}};
      if (!held_)
        for (const Pair& pair : pairs_) {
          ready.push_back({pair.client, POLLIN, 0});
          ready.push_back({answers_held_ ? -1 : pair.server, POLLIN, 0});
        }
      poll(ready.data(), ready.size(), 5);
      std::size_t at = 1;
      if (ready.size() > 1 && !held_) {
        std::erase_if(pairs_, [&](const Pair& pair) {
          const bool up = ready[at++].revents == 0 || Pass(pair.client, pair.server);
          const bool down = ready[at++].revents == 0 || Pass(pair.server, pair.client);
          if (!up || !down) Close(pair);
          return !up || !down;
        });
      }
      if (ready[0].revents != 0) Accept();
    }
  }

  const std::uint16_t to_;
  const Listening listening_;
  std::list<Pair> pairs_;  // the thread's own

  std::atomic<bool> held_ = false;
  std::atomic<bool> answers_held_ = false;
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

}  // namespace muster
