#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <poll.h>
#include <string>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

#include "adapters/crypto/pki.hpp"
#include "adapters/net/client.hpp"
#include "adapters/net/event_loop.hpp"
#include "adapters/net/server.hpp"

namespace muster::net {

using namespace std::chrono_literals;

inline constexpr auto kPatience = 20s;

// A cluster's certificates, made once: keys take time.
struct Certificates {
  crypto::KeyAndCert ca = *crypto::MakeCa("test CA", 24h);
  crypto::KeyAndCert server = *crypto::MakeServerCert(ca, {"localhost", "127.0.0.1"}, 24h);
  std::string node_key = crypto::GenerateKey();
  std::string node_cert = Sign(ca, node_key);

  static std::string Sign(const crypto::KeyAndCert& ca, const std::string& key) {
    return *crypto::SignRequest(ca, *crypto::MakeRequest(key, "node"), "node", 24h);
  }
  static const Certificates& Get() {
    static const Certificates made;
    return made;
  }
};

// Waits, with a deadline, for what other threads bring about.
class Signal {
 public:
  template <typename Change>
  void Update(Change change) {
    std::lock_guard lock(mutex_);
    change();
    changed_.notify_all();
  }
  template <typename Condition>
  bool Wait(Condition condition) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kPatience, condition);
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
};

// A loop on its own thread.
class LoopThread {
 public:
  LoopThread() : thread_([this] { loop_.Run(); }) {}
  ~LoopThread() {
    loop_.Stop();
    thread_.join();
  }
  EventLoop& loop() { return loop_; }

  // Runs `work` on the loop's thread and waits for it.
  template <typename Work>
  auto Do(Work work) {
    std::packaged_task<decltype(work())()> task(std::move(work));
    auto done = task.get_future();
    loop_.Post([&task] { task(); });
    return done.get();
  }

 private:
  EventLoop loop_;
  std::thread thread_;
};

// A server on its own loop; handlers may be replaced before Start.
class NetTest : public ::testing::Test {
 protected:
  NetTest() {
    options_.tls.key_pem = certificates_.server.key_pem;
    options_.tls.chain_pem = certificates_.server.cert_pem + certificates_.ca.cert_pem;
    options_.tls.client_ca_pem = certificates_.ca.cert_pem;
    handlers_.on_http = [](HttpRequest request, std::shared_ptr<HttpExchange> exchange) {
      exchange->Respond({200, {{"X-Peer", request.peer_key}}, request.method + request.body});
    };
    handlers_.on_link = [](std::shared_ptr<LinkConnection>) {};
    handlers_.on_frame = [](LinkConnection& link, std::string frame) {
      link.Send(std::move(frame));
    };
    handlers_.on_link_closed = [this](LinkConnection&) {
      signal_.Update([this] { ++links_closed_; });
    };
    handlers_.on_warning = [this](std::string_view text) {
      signal_.Update([&] { warnings_.emplace_back(text); });
    };
  }
  // Handlers of a derived test use its members: the server ends before they do.
  void TearDown() override { Stop(); }
  ~NetTest() override { Stop(); }

  void Start() {
    server_ = server_loop_.Do([this] {
      auto made = Server::Listen(server_loop_.loop(), options_, handlers_);
      EXPECT_TRUE(made) << made.error().message;
      return std::move(*made);
    });
    port_ = server_->Port();
  }
  void Stop() {
    if (server_) server_loop_.Do([this] { server_.reset(); });
  }
  // Waits until `count` connections are open.
  bool AwaitConnections(std::size_t count) {
    auto deadline = std::chrono::steady_clock::now() + kPatience;
    while (std::chrono::steady_clock::now() < deadline) {
      if (server_loop_.Do([this] { return server_->Connections(); }) == count) return true;
      poll(nullptr, 0, 5);
    }
    return false;
  }

  Endpoint At(bool tls, std::string host = "127.0.0.1") const {
    return {tls, std::move(host), std::to_string(port_)};
  }
  TlsIdentity Trusting() const { return {.ca_pem = certificates_.ca.cert_pem}; }
  TlsIdentity Node() const {
    return {certificates_.ca.cert_pem, "", certificates_.node_key, certificates_.node_cert};
  }
  HttpClient Client(bool tls) const { return HttpClient(At(tls), Trusting(), 20s); }

  const Certificates& certificates_ = Certificates::Get();
  Signal signal_;
  std::vector<std::string> warnings_;
  int links_closed_ = 0;
  ServerOptions options_;
  ServerHandlers handlers_;
  LoopThread server_loop_;
  std::unique_ptr<Server> server_;
  std::uint16_t port_ = 0;
};

inline HttpRequest Get(std::string target) {
  return {.method = "GET", .target = std::move(target)};
}
inline HttpRequest Post(std::string target, std::string body) {
  HttpRequest request = Get(std::move(target));
  request.method = "POST";
  request.body = std::move(body);
  return request;
}

// A client without manners: bytes out, bytes in.
class RawClient {
 public:
  // `from` is its own address, one of 127.0.0.0/8.
  explicit RawClient(std::uint16_t port, const char* from = "127.0.0.1");
  ~RawClient() { Close(); }
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;

  void Send(std::string_view bytes);
  std::string ReadUntil(std::string_view end);  // or until the server closes
  std::string ReadAll() { return ReadUntil({}); }
  void Close();

 private:
  int fd_ = -1;
};

}  // namespace muster::net
