#include "adapters/net/forward.hpp"

#include <algorithm>
#include <deque>
#include <unordered_map>
#include <vector>

#include "adapters/net/answer_reader.hpp"
#include "adapters/net/dial.hpp"
#include "adapters/net/endpoint.hpp"
#include "adapters/net/http_text.hpp"
#include "adapters/net/pass.hpp"
#include "adapters/net/server_core.hpp"

namespace muster::net {
namespace {

using std::chrono::milliseconds;

// The connections to the other server, and the requests that use them or wait for one. On the
// loop's thread.
class Pool final : public Pass::Host, public std::enable_shared_from_this<Pool> {
 public:
  Pool(EventLoop& loop, Forwarder::Options options) : loop_(loop), options_(std::move(options)) {}

  void Open() { ScheduleSweep(); }
  void Shutdown();
  void Add(HttpRequest request, std::shared_ptr<HttpExchange> exchange);
  void UseIdentity(TlsIdentity identity) { options_.identity = std::move(identity); }

  std::size_t open() const { return idle_.size() + busy_ + attempts_.size(); }

  const Forwarder::Options& options() const override { return options_; }
  std::shared_ptr<LoopHandle> loop() const override { return loop_.impl().handle; }
  void Want(std::shared_ptr<Pass> pass) override;
  void Release(Pass& pass, std::shared_ptr<Upstream> upstream, bool reusable) override;
  void Drop(std::shared_ptr<Upstream> upstream) override;

 private:
  struct Attempt {
    std::shared_ptr<Dial> dial;
    MonoTime until;
  };

  void Grow();
  void StartDial();
  void OnDialed(std::uint64_t number, Result<Socket> opened);
  void Give(std::shared_ptr<Pass> pass, std::shared_ptr<Upstream> upstream);
  void Keep(std::shared_ptr<Upstream> upstream);
  std::shared_ptr<Pass> NextWaiting(bool fresh_connection);
  void ScheduleSweep();
  void Sweep();
  std::string WhyWaiting() const;

  EventLoop& loop_;
  Forwarder::Options options_;
  EventLoop::TimerId sweep_ = 0;
  std::unordered_map<Pass*, std::shared_ptr<Pass>> passes_;
  std::deque<std::shared_ptr<Pass>> waiting_;
  std::vector<std::shared_ptr<Upstream>> idle_;  // the one used last is at the back
  std::unordered_map<std::uint64_t, Attempt> attempts_;
  std::uint64_t next_attempt_ = 1;
  std::size_t busy_ = 0;  // connections in use
};

void Pool::Add(HttpRequest request, std::shared_ptr<HttpExchange> exchange) {
  auto pass = std::make_shared<Pass>(*this, std::move(request), std::move(exchange));
  passes_.emplace(pass.get(), pass);
  pass->Start();
}

void Pool::Want(std::shared_ptr<Pass> pass) {
  if (!pass->fresh() && !idle_.empty()) {
    auto upstream = std::move(idle_.back());
    idle_.pop_back();
    return Give(std::move(pass), std::move(upstream));
  }
  waiting_.push_back(std::move(pass));
  Grow();
}

// As many connections are being made as requests wait, within the limit.
void Pool::Grow() {
  while (attempts_.size() < waiting_.size()) {
    if (open() >= options_.most_connections) {
      if (idle_.empty()) return;
      const auto oldest = std::move(idle_.front());
      idle_.erase(idle_.begin());
      oldest->Close();
    }
    StartDial();
  }
}

void Pool::StartDial() {
  const std::uint64_t number = next_attempt_++;
  auto dial = Dial::Start(loop_, options_.to, options_.identity,
                          [weak = weak_from_this(), number](Result<Socket> opened) {
                            if (auto self = weak.lock()) self->OnDialed(number, std::move(opened));
                          });
  attempts_.emplace(number, Attempt{std::move(dial), SteadyNow() + options_.connect});
}

void Pool::OnDialed(std::uint64_t number, Result<Socket> opened) {
  attempts_.erase(number);
  if (!opened) {
    if (auto pass = NextWaiting(true)) pass->Unreachable(opened.error().message);
    return Grow();
  }
  auto upstream = std::make_shared<Upstream>(std::move(*opened));
  if (auto pass = NextWaiting(true)) return Give(std::move(pass), std::move(upstream));
  // Whoever wanted it is gone, or was served by another.
  upstream->Close();
}

std::shared_ptr<Pass> Pool::NextWaiting(bool fresh_connection) {
  const auto found = std::ranges::find_if(waiting_, [fresh_connection](const auto& pass) {
    return fresh_connection || !pass->fresh();
  });
  if (found == waiting_.end()) return nullptr;
  auto pass = std::move(*found);
  waiting_.erase(found);
  return pass;
}

void Pool::Give(std::shared_ptr<Pass> pass, std::shared_ptr<Upstream> upstream) {
  ++busy_;
  pass->Use(std::move(upstream));
}

void Pool::Release(Pass& pass, std::shared_ptr<Upstream> upstream, bool reusable) {
  std::erase_if(waiting_, [&pass](const auto& one) { return one.get() == &pass; });
  passes_.erase(&pass);
  if (!upstream) return;
  --busy_;
  if (upstream->Park(reusable, SteadyNow(), [weak = weak_from_this()](Upstream& lost) {
        auto self = weak.lock();
        if (self)
          std::erase_if(self->idle_, [&lost](const auto& one) { return one.get() == &lost; });
      })) {
    Keep(std::move(upstream));
  }
  Grow();
}

void Pool::Drop(std::shared_ptr<Upstream> upstream) {
  --busy_;
  upstream->Close();
}

void Pool::Keep(std::shared_ptr<Upstream> upstream) {
  if (auto pass = NextWaiting(false)) return Give(std::move(pass), std::move(upstream));
  idle_.push_back(std::move(upstream));
}

std::string Pool::WhyWaiting() const {
  if (!attempts_.empty()) return ConnectError(options_.to, "no answer in time").message;
  return fmt::format("all {} connections to it are in use", options_.most_connections);
}

void Pool::ScheduleSweep() {
  const Duration shortest = std::min({options_.connect, options_.silence, options_.idle});
  const Duration period = std::clamp<Duration>(shortest / 4, milliseconds(5), milliseconds(1000));
  sweep_ = loop_.After(period, [weak = weak_from_this()] {
    if (auto self = weak.lock()) self->Sweep();
  });
}

void Pool::Sweep() {
  const MonoTime now = SteadyNow();
  std::vector<std::shared_ptr<Pass>> overdue;
  for (const auto& [key, pass] : passes_) {
    if (pass->Overdue(now)) overdue.push_back(pass);
  }
  for (const auto& pass : overdue) {
    if (pass->sent()) {
      pass->Lose("it said nothing for too long");
    } else {
      pass->Unreachable(WhyWaiting());
    }
  }
  std::erase_if(attempts_, [now](const auto& one) {
    const bool late = now >= one.second.until;
    if (late) one.second.dial->Cancel();
    return late;
  });
  std::erase_if(idle_, [&](const auto& one) {
    const bool unused = now >= one->parked() + options_.idle;
    if (unused) one->Close();
    return unused;
  });
  Grow();
  ScheduleSweep();
}

void Pool::Shutdown() {
  loop_.Cancel(sweep_);
  waiting_.clear();
  const auto passes = std::exchange(passes_, {});
  for (const auto& [key, pass] : passes) pass->Lose("this server stopped talking to it");
  for (const auto& [number, attempt] : attempts_) attempt.dial->Cancel();
  for (const auto& upstream : idle_) upstream->Close();
  attempts_.clear();
  idle_.clear();
}

void Erase(Headers& headers, std::string_view name) {
  std::erase_if(headers, [name](const auto& one) { return SameName(one.first, name); });
}

// The headers as they go to the other server.
Headers Outgoing(Headers headers, const Headers& more) {
  headers = WithoutHopByHop(std::move(headers));
  // The client is told to go on by its own server, once the body is wanted.
  Erase(headers, "Expect");
  for (const auto& [name, value] : more) Erase(headers, name);
  headers.insert(headers.end(), more.begin(), more.end());
  return headers;
}

class ForwarderImpl final : public Forwarder {
 public:
  ForwarderImpl(EventLoop& loop, Options options)
      : loop_(loop.impl().handle), pool_(std::make_shared<Pool>(loop, std::move(options))) {
    pool_->Open();
  }
  ~ForwarderImpl() override { pool_->Shutdown(); }

  void Pass(HttpRequest request, std::shared_ptr<HttpExchange> exchange, Headers more) override {
    request.headers = Outgoing(std::move(request.headers), more);
    loop_->Post([weak = std::weak_ptr<Pool>(pool_), request = std::move(request),
                 exchange = std::move(exchange)]() mutable {
      if (auto pool = weak.lock()) return pool->Add(std::move(request), std::move(exchange));
      exchange->Respond(ErrorResponse(503, "unavailable", "the server changes; try again"));
    });
  }
  std::size_t Connections() const override { return pool_->open(); }
  void UseIdentity(TlsIdentity identity) override { pool_->UseIdentity(std::move(identity)); }

 private:
  const std::shared_ptr<LoopHandle> loop_;  // shared with the loop
  const std::shared_ptr<Pool> pool_;        // shared with what is posted
};

}  // namespace

std::unique_ptr<Forwarder> Forwarder::Make(EventLoop& loop, Options options) {
  return std::make_unique<ForwarderImpl>(loop, std::move(options));
}

}  // namespace muster::net
