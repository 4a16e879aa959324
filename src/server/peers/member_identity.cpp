#include "server/peers/member_identity.hpp"

#include <utility>

#include <spdlog/spdlog.h>

namespace muster::server {
namespace {

constexpr std::chrono::hours kLife{24};

}  // namespace

MemberIdentity::MemberIdentity(crypto::KeyAndCert ca, std::string trust, std::string name,
                               const Clock& clock)
    : ca_(std::move(ca)), trust_(std::move(trust)), name_(std::move(name)), clock_(clock) {}

net::TlsIdentity MemberIdentity::For(const std::string& member) {
  base::Lock lock(mutex_);
  net::TlsIdentity identity = Own();
  identity.cluster = true;
  identity.member = member;
  return identity;
}

net::TlsIdentity MemberIdentity::Own() {
  const WallTime now = clock_.Read().wall;
  if (now < renew_) return shown_;
  auto made = crypto::MakeMemberCert(ca_, name_, kLife);
  if (!made) {
    spdlog::error("certificate for other servers: {}", made.error().message);
    return shown_;
  }
  shown_ = {.ca_pem = trust_,
            .ca_fingerprint = {},
            .key_pem = std::move(made->key_pem),
            .cert_pem = std::move(made->cert_pem)};
  renew_ = now + kLife / 2;
  return shown_;
}

}  // namespace muster::server
