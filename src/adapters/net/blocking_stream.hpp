#pragma once

#include <string>
#include <string_view>

#include "adapters/net/abort_signal.hpp"
#include "adapters/net/client.hpp"
#include "adapters/net/tls.hpp"

namespace muster::net {

// A connection for one thread that may wait: every call ends within its timeout, and at once after
// `abort` was raised, which outlives it.
class BlockingStream {
 public:
  // kUnavailable, kDenied and kInvalid as HttpClient has them. `context` is null for plain HTTP.
  static Result<BlockingStream> Open(const Endpoint& endpoint, const ClientContext* context,
                                     const TlsIdentity& identity, Duration timeout,
                                     const AbortSignal& abort);
  ~BlockingStream();
  BlockingStream(BlockingStream&& other) noexcept;
  BlockingStream& operator=(BlockingStream&& other) noexcept;

  // kTimeout: silence for so long, or the connection broke; the message says which.
  Result<> Write(std::string_view data, Duration timeout);
  // 0 bytes: the peer closed. kDenied: it refused our certificate (TLS 1.3 tells us only now).
  Result<std::size_t> Read(char* data, std::size_t size, Duration timeout);

  // True while nothing came unasked, not even the end.
  bool Quiet() const;

  SSL* ssl() const { return ssl_.get(); }

 private:
  BlockingStream(int fd, const std::string& program, const AbortSignal& abort)
      : fd_(fd), abort_(&abort), program_(program) {}

  Result<> Shake(const Endpoint& endpoint, Duration timeout);
  Error Broken(const Attempt& attempt) const;

  int fd_ = -1;
  const AbortSignal* abort_;
  std::string program_;  // at the other end
  SslPtr ssl_;
};

}  // namespace muster::net
