#pragma once

#include <string>

#include "adapters/crypto/pki.hpp"
#include "adapters/net/client.hpp"
#include "base/mutex.hpp"
#include "ports/clock.hpp"

namespace muster::server {

// How this server calls another one of its cluster: what it shows, and what it asks for. It has the
// CA's key, so it makes its own certificate, for a day, and another one in time. Safe from any
// thread.
class MemberIdentity {
 public:
  // `trust`: the cluster's CAs, of which the other servers' certificates are.
  MemberIdentity(crypto::KeyAndCert ca, std::string trust, std::string name, const Clock& clock);

  // For a call to the server of this name, which must prove to be it: what the coordinator says of
  // its address is not believed.
  net::TlsIdentity For(const std::string& member) EXCLUDES(mutex_);

 private:
  const crypto::KeyAndCert ca_;
  const std::string trust_;
  const std::string name_;
  const Clock& clock_;
  base::Mutex mutex_;
  net::TlsIdentity Own() REQUIRES(mutex_);

  net::TlsIdentity shown_ GUARDED_BY(mutex_);
  WallTime renew_ GUARDED_BY(mutex_);
};

}  // namespace muster::server
