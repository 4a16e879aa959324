#include <gtest/gtest.h>

#include "adapters/crypto/pki.hpp"
#include "agent/daemon/certificates.hpp"
#include "support/temp_folder.hpp"

namespace muster::agent {
namespace {

using std::chrono::seconds;

class PapersTest : public ::testing::Test {
 protected:
  PapersTest() : folder_(*DataFolder::Open(temp_.Path().string(), "/none")) {
    key_ = *folder_.OwnKey();
    const Credentials first{key_, Sign(old_, seconds(900)), old_.cert_pem};
    EXPECT_TRUE(folder_.SaveJoin({"https://x"}, "h", "c", first));
    papers_ = std::make_unique<Papers>(folder_, first);
    begins_ = crypto::ValidityOf(first.cert_pem)->begins;
  }

  std::string Sign(const crypto::KeyAndCert& ca, seconds life) {
    return *crypto::SignRequest(ca, *crypto::MakeRequest(key_, "h"), "h", life);
  }
  WallTime At(int after) const { return begins_ + seconds(after); }
  Credentials OnDisk() { return *folder_.LoadCredentials(); }
  link::Papers From(const crypto::KeyAndCert& ca, std::string cert = "") {
    return {ca.cert_pem + old_.cert_pem, *crypto::CaKeyId(ca.cert_pem), std::move(cert)};
  }

  TempFolder temp_;
  DataFolder folder_;
  std::string key_;
  crypto::KeyAndCert old_ = *crypto::MakeCa("old", std::chrono::hours(24));
  crypto::KeyAndCert new_ = *crypto::MakeCa("new", std::chrono::hours(24));
  std::unique_ptr<Papers> papers_;
  WallTime begins_;
};

TEST_F(PapersTest, AsksAtTwoThirdsOfTheLifeAndAgainAfterAWhile) {
  EXPECT_EQ(papers_->RequestDue(At(650)), "");  // made for 900 s, good from 90 s before
  const std::string request = papers_->RequestDue(At(661));
  EXPECT_EQ(*crypto::KeyIdOfRequest(request), *crypto::KeyIdOfKey(key_));
  EXPECT_EQ(papers_->RequestDue(At(662)), "");
  EXPECT_NE(papers_->RequestDue(At(700)), "");
}

TEST_F(PapersTest, RenewedCertificateIsOnDiskAndPlansTheNext) {
  ASSERT_NE(papers_->RequestDue(At(700)), "");
  const std::string fresh = Sign(old_, seconds(9000));
  EXPECT_TRUE(*papers_->Take(From(old_, fresh), At(700)));
  EXPECT_EQ(papers_->Current().cert_pem, fresh);
  EXPECT_EQ(OnDisk().cert_pem, fresh);
  EXPECT_EQ(papers_->RequestDue(At(1000)), "");
}

TEST_F(PapersTest, CertificateForAnotherKeyIsRefused) {
  const std::string other = crypto::GenerateKey();
  const std::string cert =
      *crypto::SignRequest(old_, *crypto::MakeRequest(other, "h"), "h", seconds(900));
  EXPECT_FALSE(papers_->Take(From(old_, cert), At(0)));
  EXPECT_FALSE(papers_->Take(From(old_, "nonsense"), At(0)));
  EXPECT_NE(OnDisk().cert_pem, cert);
}

TEST_F(PapersTest, LearnsTheTrustAndAsksAtOnceWhenAnotherCaSigns) {
  const auto before = papers_->Facts();
  EXPECT_TRUE(*papers_->Take(From(new_), At(1)));
  EXPECT_EQ(OnDisk().ca_pem, new_.cert_pem + old_.cert_pem);
  EXPECT_NE(papers_->Facts().at("trusts"), before.at("trusts"));
  EXPECT_EQ(papers_->Facts().at("ca"), before.at("ca"));
  EXPECT_NE(papers_->RequestDue(At(1)), "");
  EXPECT_TRUE(*papers_->Take(From(new_, Sign(new_, seconds(900))), At(2)));
  EXPECT_NE(papers_->Facts().at("ca"), before.at("ca"));
  EXPECT_FALSE(*papers_->Take(From(new_), At(3)));
  EXPECT_EQ(papers_->RequestDue(At(3)), "");
}

TEST_F(PapersTest, TrustThatIsNoneLeavesAllAsItWas) {
  EXPECT_FALSE(papers_->Take({"nonsense", "", ""}, At(0)));
  EXPECT_EQ(OnDisk().ca_pem, old_.cert_pem);
  EXPECT_TRUE(papers_->Take({"", *crypto::CaKeyId(old_.cert_pem), ""}, At(0)));
  EXPECT_EQ(OnDisk().ca_pem, old_.cert_pem);
}

}  // namespace
}  // namespace muster::agent
