#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <unordered_map>

#include "adapters/net/asio.hpp"
#include "adapters/net/body_budget.hpp"
#include "adapters/net/event_loop_impl.hpp"
#include "adapters/net/handshakes.hpp"
#include "adapters/net/newcomers.hpp"
#include "adapters/net/server.hpp"
#include "adapters/net/tls.hpp"

namespace muster::net {

class ServerCore;

// A connection as its server sees it: counted, swept for overdue deadlines, closed at the end.
// Deadlines are looked at by one timer for all, because a timer each would cost memory on 10,000
// links.
class Tracked : public boost::intrusive::list_base_hook<> {
 public:
  explicit Tracked(std::shared_ptr<ServerCore> core) : core_(std::move(core)) {}
  virtual ~Tracked() = default;

  virtual void Sweep(MonoTime now) = 0;  // may Drop
  virtual void Drain() = 0;              // the server stops accepting
  virtual void Drop() = 0;               // close at once, telling nobody but exchanges
  // Bytes of an answer that wait for the client to read them; links have a limit of their own.
  virtual std::size_t UnreadAnswer() const { return 0; }
  // The same of a caller without a name, with what the kernel keeps; 0 for others.
  virtual std::size_t UnreadOfNameless() { return 0; }
  virtual void CutAnswer() {}

 protected:
  // Keeps `self` alive until Forget.
  void Track(std::shared_ptr<void> self);
  void Forget();

  const std::shared_ptr<ServerCore> core_;  // shared with the server; it outlives every connection

 private:
  friend class ServerCore;

  std::shared_ptr<void> self_;
};

// What a server's connections share, and the accepting.
class ServerCore : public std::enable_shared_from_this<ServerCore> {
 public:
  using Acceptor = asio::basic_socket_acceptor<Tcp, Executor>;

  ServerCore(EventLoop& loop, ServerOptions options, ServerHandlers handlers);

  Result<> Listen();
  Result<> UseTls(const ServerTls& tls);
  void StopAccepting();
  void Shutdown();

  const ServerOptions& options() const { return options_; }
  const ServerHandlers& handlers() const { return handlers_; }
  SSL_CTX* tls() const { return tls_.get(); }
  bool plain_allowed() const { return plain_allowed_; }
  bool stopping() const { return stopping_; }
  std::uint16_t port() const { return port_; }
  std::size_t connections() const { return count_; }
  const std::shared_ptr<LoopHandle>& loop() const { return loop_.impl().handle; }
  std::uint64_t NextLinkId() { return next_link_++; }

  void Add(Tracked& connection);
  void Remove(Tracked& connection);

  // Connections without a first request. Spoke lets this one or another one in, now or later.
  const Newcomers& newcomers() const { return newcomers_; }
  void Came(Newcomer& newcomer, const std::string& source) { newcomers_.Came(newcomer, source); }
  void Spoke(Newcomer& newcomer);
  void Left(Newcomer& newcomer);

  // Whether a newcomer may stay. The last tenth of max_connections is for those that have shown a
  // certificate. Newcomers do not count: they give way when there is no room for another.
  bool HasPlace(bool has_certificate) const;

  // Whom a remote address stands for when connections are counted.
  std::string Source(const std::string& remote) const { return options_.source_of(remote); }

  // Counts a connection for its address; false when that has its share already.
  bool Admit(const std::string& source);
  void Release(const std::string& source);

  BodyBudget& bodies() const { return *bodies_; }
  Handshakes& handshakes() { return handshakes_; }

  void Warn(std::string_view message) const;
  void Refused(const std::string& remote, std::string_view why) const;

  // Calls the program's code; an exception ends there, as a warning. False when there was one.
  template <typename Call>
  bool Guard(Call call) const {
    try {
      call();
      return true;
    } catch (const std::exception& problem) {
      Warn(fmt::format("handler failed: {}", problem.what()));
      return false;
    }
  }

 private:
  void Accept();
  void OnAccepted(error_code error, TcpSocket socket);
  void Take(TcpSocket socket);
  void LetIn();
  void LetInSoon();
  void WarnOfCrowd();
  void ScheduleSweep();
  void SweepAll();
  void CutSlowReaders();
  void CutNameless();
  template <typename Visit>
  void ForEach(Visit visit);

  EventLoop& loop_;
  const ServerOptions options_;
  const ServerHandlers handlers_;
  const std::shared_ptr<BodyBudget> bodies_;  // shared with the requests that have a part of it
  SslContextPtr tls_;
  Acceptor acceptor_;
  const std::size_t max_connections_;
  bool plain_allowed_ = false;
  bool stopping_ = false;
  std::uint16_t port_ = 0;
  std::uint64_t next_link_ = 1;
  EventLoop::TimerId sweep_timer_ = 0;
  EventLoop::TimerId accept_timer_ = 0;
  boost::intrusive::list<Tracked> tracked_;
  std::atomic<std::size_t> count_{0};  // changed on the loop's thread, read on any
  Newcomers newcomers_;
  Handshakes handshakes_;
  bool letting_in_ = false;  // LetIn is posted
  MonoTime next_crowd_warning_{INT64_MIN};
  std::unordered_map<std::string, std::size_t> admitted_;  // by source
};

MonoTime SteadyNow() noexcept;

}  // namespace muster::net
