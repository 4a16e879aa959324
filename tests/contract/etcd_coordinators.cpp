#include <atomic>
#include <list>

#include "adapters/etcd/etcd_coordinator.hpp"
#include "adapters/system/system_clock.hpp"
#include "contract/coordinator_fixture.hpp"
#include "support/etcd_certificates.hpp"
#include "support/private_etcd.hpp"
#include "support/tcp_forwarder.hpp"

namespace muster {
namespace {

// One for all tests, each under a prefix of its own.
PrivateEtcd& PlainEtcd() {
  static PrivateEtcd etcd;
  return etcd;
}
const EtcdCertificates& SharedCertificates() {
  static const EtcdCertificates made;
  return made;
}
PrivateEtcd& TlsEtcd() {
  static PrivateEtcd etcd(
      {.flags = SharedCertificates().Flags(), .tls = SharedCertificates().Identity()});
  return etcd;
}

EtcdOptions OptionsOf(const TcpForwarder& cable, bool tls) {
  if (!tls) return {.endpoints = {cable.Url()}};
  const auto& made = SharedCertificates();
  return {.endpoints = {"https" + cable.Url().substr(4)},
          .ca_pem = made.ca.cert_pem,
          .cert_pem = made.own_cert,
          .key_pem = made.own_key};
}

// A coordinator with a cable of its own to etcd.
class CabledCoordinator final : public Coordinator {
 public:
  using Others = std::list<CabledCoordinator*>;

  CabledCoordinator(const std::string& prefix, bool tls, std::shared_ptr<Others> all)
      : cable_((tls ? TlsEtcd() : PlainEtcd()).Port(0)), all_(std::move(all)) {
    EtcdOptions options = OptionsOf(cable_, tls);
    options.prefix = prefix;
    real_ = *EtcdCoordinator::Make(std::move(options), clock_);
    all_->push_back(this);
  }
  ~CabledCoordinator() override { all_->remove(this); }

  Result<> Campaign(std::string name, std::function<void()> elected,
                    std::function<void()> lost) override {
    campaigns_ = true;
    return real_->Campaign(std::move(name), std::move(elected), std::move(lost));
  }
  void Resign() override {
    campaigns_ = false;
    real_->Resign();
  }
  MonoTime LeadUntil() const override { return real_->LeadUntil(); }
  std::string Leader() const override { return real_->Leader(); }
  void Announce(Member self) override { real_->Announce(std::move(self)); }
  std::vector<Member> Members() const override { return real_->Members(); }
  void OnChange(std::function<void()> changed) override { real_->OnChange(std::move(changed)); }
  std::string Trouble() const override { return real_->Trouble(); }

  bool Leads() const { return LeadUntil() != MonoTime{0}; }

  static void Depose(const Others& all) {
    CabledCoordinator* leader = nullptr;
    std::size_t candidates = 0;
    for (CabledCoordinator* one : all) {
      if (one->campaigns_) ++candidates;
      if (one->Leads()) leader = one;
    }
    if (leader == nullptr) return;
    const auto over = [&] {
      if (leader->Leads()) return false;
      return candidates == 1 ||
             std::ranges::any_of(all, [](const CabledCoordinator* one) { return one->Leads(); });
    };
    leader->cable_.Hold(true);
    EXPECT_TRUE(Eventually(over));
    leader->cable_.Hold(false);
  }

 private:
  SystemClock clock_;
  TcpForwarder cable_;
  std::shared_ptr<Others> all_;  // shared by all of one cluster
  std::unique_ptr<EtcdCoordinator> real_;
  std::atomic<bool> campaigns_ = false;
};

Cluster MakeEtcd(bool tls) {
  static int made = 0;
  const std::string prefix = fmt::format("/test{}/", ++made);
  auto all = std::make_shared<CabledCoordinator::Others>();
  return {.join = [=] { return std::make_unique<CabledCoordinator>(prefix, tls, all); },
          .depose = [all] { CabledCoordinator::Depose(*all); },
          .leases = true};
}

INSTANTIATE_TEST_SUITE_P(Etcd, CoordinatorContract,
                         testing::Values(CoordinatorAdapter{"etcd", [] { return MakeEtcd(false); }},
                                         CoordinatorAdapter{"etcd_tls",
                                                            [] { return MakeEtcd(true); }}),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace muster
