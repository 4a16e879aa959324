#include "server/certificates/certificate_keeper.hpp"

#include <algorithm>
#include <utility>

#include <spdlog/spdlog.h>

namespace muster::server {
namespace {

constexpr Duration kWarnEvery = std::chrono::hours(24);
constexpr Duration kLookAtMost = std::chrono::minutes(1);
constexpr Duration kLookAtLeast = std::chrono::milliseconds(200);

}  // namespace

CertificateKeeper::CertificateKeeper(std::filesystem::path data, CertificateSettings settings,
                                     Identity identity, const Clock& clock)
    : data_(std::move(data)),
      settings_(std::move(settings)),
      identity_(std::move(identity)),
      clock_(clock),
      ends_ms_(identity_.ApiEnds().ms) {}

void CertificateKeeper::Start(net::EventLoop& loop, net::Server& server) {
  loop_ = &loop;
  server_ = &server;
  Look();
}

// Often enough for a certificate that lives for seconds, and for files that were replaced.
Duration CertificateKeeper::Period() const {
  return std::clamp(settings_.server_life / 20, kLookAtLeast, kLookAtMost);
}

void CertificateKeeper::Look() {
  const Now now = clock_.Read();
  const auto renewed = RenewServer(data_, settings_, now.wall, identity_);
  if (!renewed) {
    spdlog::error("cannot renew the server's certificate: {}", renewed.error().message);
  } else if (*renewed) {
    const auto used = server_->UseTls(identity_.Tls());
    if (used)
      spdlog::info("the server's certificate was renewed; it ends at {}",
                   FormatTime(identity_.ApiEnds()));
    else
      spdlog::error("cannot use the server's new certificate: {}", used.error().message);
  }
  ends_ms_ = identity_.ApiEnds().ms;
  if (now.mono >= warn_again_) {
    for (const auto& warning : EndingSoon(identity_, now.wall)) spdlog::warn("{}", warning);
    warn_again_ = now.mono + kWarnEvery;
  }
  loop_->After(Period(), [this] { Look(); });
}

}  // namespace muster::server
