#pragma once

#include <string>

#include "adapters/crypto/pki.hpp"
#include "adapters/net/client.hpp"
#include "base/mutex.hpp"
#include "ports/clock.hpp"

namespace muster::server {

// What this server shows when it calls another one. It has the CA's key, so it makes its own
// certificate, for a day, and another one in time. Safe from any thread.
class MemberIdentity {
 public:
  // `trust`: the CAs that the other servers' certificates are of; "" is the system's.
  MemberIdentity(crypto::KeyAndCert ca, std::string trust, std::string name, const Clock& clock);

  net::TlsIdentity Get() EXCLUDES(mutex_);

 private:
  const crypto::KeyAndCert ca_;
  const std::string trust_;
  const std::string name_;
  const Clock& clock_;
  base::Mutex mutex_;
  net::TlsIdentity shown_ GUARDED_BY(mutex_);
  WallTime renew_ GUARDED_BY(mutex_);
};

}  // namespace muster::server
