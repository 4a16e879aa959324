#include "agent/daemon/certificates.hpp"

#include <algorithm>
#include <utility>

#include <spdlog/spdlog.h>

#include "adapters/crypto/digest.hpp"
#include "adapters/crypto/pki.hpp"
#include "base/text.hpp"
#include "link/certificates.hpp"

namespace muster::agent {
namespace {

constexpr Duration kPatienceAtLeast = std::chrono::seconds(1);
constexpr Duration kPatienceAtMost = std::chrono::hours(1);

}  // namespace

Papers::Papers(DataFolder& folder, Credentials credentials)
    : folder_(folder), credentials_(std::move(credentials)) {
  Plan();
}

void Papers::Plan() {
  const auto validity = crypto::ValidityOf(credentials_.cert_pem);
  const auto signer = crypto::SignerKeyId(credentials_.cert_pem);
  if (!validity || !signer) {
    spdlog::error("this agent's certificate cannot be read; it will not renew itself");
    ask_at_ = {INT64_MAX};
    return;
  }
  signer_ = *signer;
  ends_ = validity->ends;
  ask_at_ = validity->Renew();
  patience_ =
      std::clamp((validity->ends - validity->begins) / 50, kPatienceAtLeast, kPatienceAtMost);
}

Labels Papers::Facts() const {
  Labels facts;
  if (signer_.empty()) return facts;
  facts.emplace(link::kFactCa, link::ShortId(signer_));
  facts.emplace(link::kFactTrusts, link::ShortId(ToHex(crypto::Sha256(credentials_.ca_pem))));
  facts.emplace(link::kFactCertEnds, FormatTime(ends_));
  return facts;
}

std::string Papers::RequestDue(WallTime now) {
  if (now < ask_at_) return {};
  ask_at_ = now + patience_;
  auto request = crypto::MakeRequest(credentials_.key_pem, "renewal");
  if (request) return std::move(*request);
  spdlog::error("cannot ask for a new certificate: {}", request.error().message);
  return {};
}

Result<bool> Papers::Take(const link::Papers& papers, WallTime now) {
  const bool other_trust = !papers.ca_pem.empty() && papers.ca_pem != credentials_.ca_pem;
  if (other_trust) {
    if (const auto certs = crypto::SplitCerts(papers.ca_pem); !certs) return Fail(certs.error());
    if (const auto saved = folder_.SaveTrust(papers.ca_pem); !saved) return Fail(saved.error());
    credentials_.ca_pem = papers.ca_pem;
    spdlog::info("learned which CAs to trust");
  }
  if (papers.cert_pem.empty()) {
    if (papers.signer != signer_ && !signer_.empty()) ask_at_ = now;
    return other_trust;
  }
  const auto fits = crypto::IsCertOfKey(papers.cert_pem, credentials_.key_pem);
  if (!fits) return Fail(fits.error());
  if (!*fits) return Fail(ErrorCode::kInvalid, "the new certificate is not for this host's key");
  if (const auto saved = folder_.SaveCertificate(papers.cert_pem); !saved)
    return Fail(saved.error());
  credentials_.cert_pem = papers.cert_pem;
  Plan();
  spdlog::info("the certificate was renewed; it ends at {}", FormatTime(ends_));
  return true;
}

}  // namespace muster::agent
