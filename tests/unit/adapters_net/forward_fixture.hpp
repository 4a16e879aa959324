#pragma once

#include "adapters/net/forward.hpp"
#include "unit/adapters_net/fixture.hpp"

namespace muster::net {

// A second server in front, on a loop of its own, that passes everything on: by default to the
// fixture's own server over TLS.
class ForwardTest : public NetTest {
 protected:
  ForwardTest() {
    front_options_ = options_;
    front_handlers_.on_warning = [this](std::string_view text) {
      signal_.Update([&] { warnings_.emplace_back(text); });
    };
    front_handlers_.on_http = [this](HttpRequest request, std::shared_ptr<HttpExchange> exchange) {
      forwarder_->Pass(std::move(request), std::move(exchange), more_);
    };
  }
  ~ForwardTest() override {
    front_loop_.Do([this] { front_.reset(); });
    EndForwarder();
  }

  // After Start, or with an endpoint of somebody else.
  void StartFront(Forwarder::Options options = {}) {
    if (options.to.host.empty()) {
      options.to = At(true);
      options.identity = Node();
    }
    ForwardLoop().Do([&] { forwarder_ = Forwarder::Make(ForwardLoop().loop(), options); });
    front_ = front_loop_.Do([&] {
      auto made = Server::Listen(front_loop_.loop(), front_options_, front_handlers_);
      EXPECT_TRUE(made) << made.error().message;
      return std::move(*made);
    });
    front_port_ = front_->Port();
  }
  void StartBoth() {
    Start();
    StartFront();
  }
  void EndForwarder() {
    ForwardLoop().Do([this] { forwarder_.reset(); });
  }
  LoopThread& ForwardLoop() { return apart_ ? apart_loop_ : front_loop_; }
  HttpClient FrontClient(bool tls = true) const {
    return HttpClient({tls, "127.0.0.1", std::to_string(front_port_)}, Trusting(), 20s);
  }
  Result<HttpResponse> CallFront(HttpRequest request) const { return FrontClient().Call(request); }

  template <typename Condition>
  static bool Eventually(Condition condition) {
    auto deadline = std::chrono::steady_clock::now() + kPatience;
    while (!condition()) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      poll(nullptr, 0, 2);
    }
    return true;
  }

  ServerOptions front_options_;
  ServerHandlers front_handlers_;
  Headers more_;
  LoopThread front_loop_;
  LoopThread apart_loop_;
  bool apart_ = false;  // the forwarder has a loop of its own
  std::unique_ptr<Forwarder> forwarder_;
  std::unique_ptr<Server> front_;
  std::uint16_t front_port_ = 0;
};

}  // namespace muster::net
