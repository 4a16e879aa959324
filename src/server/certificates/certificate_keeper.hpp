#pragma once

#include <atomic>
#include <filesystem>

#include "adapters/net/event_loop.hpp"
#include "adapters/net/server.hpp"
#include "ports/clock.hpp"
#include "server/certificates/certificates.hpp"

namespace muster::server {

// Keeps the server's certificate good while it runs: replaces it when its time has come, shows the
// new one to new connections, and warns in the log of what will end. On the loop's thread.
class CertificateKeeper {
 public:
  CertificateKeeper(std::filesystem::path data, CertificateSettings settings, Identity identity,
                    const Clock& clock);

  // Looks from now on, until the loop stops.
  void Start(net::EventLoop& loop, net::Server& server);

  WallTime ServerEnds() const { return {ends_ms_}; }  // any thread

 private:
  void Look();
  Duration Period() const;

  const std::filesystem::path data_;
  const CertificateSettings settings_;
  Identity identity_;  // its own copy: only the keeper sees the server's certificate change
  const Clock& clock_;
  std::atomic<std::int64_t> ends_ms_;
  net::EventLoop* loop_ = nullptr;
  net::Server* server_ = nullptr;
  MonoTime warn_again_{0};
};

}  // namespace muster::server
