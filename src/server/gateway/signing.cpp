#include <utility>

#include <spdlog/spdlog.h>

#include "server/gateway/gateway.hpp"

namespace muster::server {

void Gateway::SetOffice(Office office) {
  office_ = std::move(office);
  renewals_.SetEvery(office_.every);
}

void Gateway::TakeRenewal(const Link& link, std::string request_pem) {
  if (!office_.sign) return;
  const MonoTime now = clock_.Read().mono;
  const LinkId id(link.connection->Id());
  renewals_.Sweep(now);
  const bool taken = renewals_.Take(
      {.link = id, .key = link.connection->PeerKey(), .host = link.name, .pem = request_pem}, now);
  if (!taken) spdlog::debug("certificate request left out host={} link={}", link.name, id.value);
  SignNext();
}

void Gateway::SignNext() {
  auto request = renewals_.Next();
  if (!request) return;
  const std::string key = request->key;
  const bool posted = workers_.Post(
      [this, request = std::move(*request)] {
        auto cert = office_.sign(request.pem, request.key, request.host);
        loop_.Post([this, request, cert = std::move(cert)] {
          renewals_.Done(request.key);
          SendSigned(request, cert);
          SignNext();
        });
      },
      "sign a certificate");
  // The agent asks again.
  if (!posted) renewals_.Done(key);
}

void Gateway::SendSigned(const Renewals::Request& request, const Result<std::string>& cert) {
  if (!cert) return CloseNow(request.link, cert.error().message);
  spdlog::info("certificate renewed host={}", request.host);
  link::ServerFrame frame;
  frame.papers = office_.papers;
  frame.papers->cert_pem = *cert;
  SendNow(request.link, frame);
}

}  // namespace muster::server
