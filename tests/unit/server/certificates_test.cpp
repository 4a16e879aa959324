#include "server/certificates/certificates.hpp"

#include <algorithm>
#include <ctime>

#include <gtest/gtest.h>

#include "server/certificates/ca_rotation.hpp"
#include "server/certificates/cluster_keys.hpp"
#include "support/temp_folder.hpp"

namespace muster::server {
namespace {

class CertificatesTest : public ::testing::Test {
 protected:
  Identity Load() {
    auto identity = LoadIdentity(Data(), settings_, now_);
    EXPECT_TRUE(identity) << identity.error().message;
    return identity ? std::move(*identity) : Identity{};
  }
  std::filesystem::path Data() const { return temp_.Path() / "data"; }
  std::vector<std::string> Roles() const {
    std::vector<std::string> roles;
    for (const auto& ca : *ListCas(Data())) roles.push_back(ca.role);
    return roles;
  }
  static std::size_t Count(const std::string& pem) { return crypto::SplitCerts(pem)->size(); }

  TempFolder temp_;
  CertificateSettings settings_{.server_life = std::chrono::hours(24 * 90)};
  WallTime now_ = WallTime{static_cast<std::int64_t>(::time(nullptr)) * 1000};
};

TEST_F(CertificatesTest, SecondStartFindsWhatTheFirstMade) {
  const Identity first = Load();
  EXPECT_TRUE(first.fresh);
  const Identity second = Load();
  EXPECT_FALSE(second.fresh);
  EXPECT_EQ(second.server.cert_pem, first.server.cert_pem);
  EXPECT_EQ(second.ca_fingerprint, first.ca_fingerprint);
  EXPECT_EQ(second.token_key, first.token_key);
}

TEST_F(CertificatesTest, NewPublicUrlOrPassedTwoThirdsMakeTheServersAnew) {
  const Identity first = Load();
  settings_.public_url = "https://muster.example:8440/x";
  const Identity named = Load();
  EXPECT_NE(named.server.cert_pem, first.server.cert_pem);
  now_ = now_ + std::chrono::hours(24 * 59);
  EXPECT_EQ(Load().server.cert_pem, named.server.cert_pem);
  now_ = now_ + std::chrono::hours(24 * 2);
  EXPECT_NE(Load().server.cert_pem, named.server.cert_pem);
}

TEST_F(CertificatesTest, RunningServerRenewsOnlyWhenTheTimeHasCome) {
  Identity identity = Load();
  EXPECT_FALSE(*RenewServer(Data(), settings_, now_, identity));
  EXPECT_TRUE(*RenewServer(Data(), settings_, now_ + std::chrono::hours(24 * 61), identity));
  EXPECT_EQ(*ReadWhole(Data() / "server.pem"), identity.server.cert_pem);
  EXPECT_TRUE(*crypto::IsSignedBy(identity.server.cert_pem, identity.ca.cert_pem));
}

TEST_F(CertificatesTest, CaWithoutItsKeyIsNeverReplaced) {
  Load();
  const auto pem = *ReadWhole(Data() / "ca.pem");
  std::filesystem::remove(Data() / "ca.key");
  EXPECT_EQ(LoadIdentity(Data(), settings_, now_).error().code, ErrorCode::kConflict);
  ASSERT_TRUE(WriteSecret(Data() / "ca.key", crypto::GenerateKey()));
  EXPECT_EQ(LoadIdentity(Data(), settings_, now_).error().code, ErrorCode::kConflict);
  std::filesystem::remove(Data() / "ca.pem");
  EXPECT_EQ(LoadIdentity(Data(), settings_, now_).error().code, ErrorCode::kConflict);
  EXPECT_FALSE(std::filesystem::exists(Data() / "ca.pem"));
}

TEST_F(CertificatesTest, CaIsChangedInThreeSteps) {
  const Identity first = Load();
  EXPECT_EQ(UseCa(Data()).error().code, ErrorCode::kConflict);

  ASSERT_TRUE(AddCa(Data()));
  EXPECT_EQ(AddCa(Data()).error().code, ErrorCode::kConflict);
  EXPECT_EQ(Roles(), (std::vector<std::string>{"signs", "next"}));
  const Identity added = Load();
  EXPECT_EQ(added.ca_fingerprint, first.ca_fingerprint);
  EXPECT_EQ(added.server.cert_pem, first.server.cert_pem);
  EXPECT_EQ(Count(added.trusted_pem), 2U);

  ASSERT_TRUE(UseCa(Data()));
  EXPECT_EQ(Roles(), (std::vector<std::string>{"signs", "trusted"}));
  const Identity used = Load();
  EXPECT_NE(used.ca_fingerprint, first.ca_fingerprint);
  EXPECT_TRUE(*crypto::IsSignedBy(used.server.cert_pem, used.ca.cert_pem));
  EXPECT_EQ(Count(used.trusted_pem), 2U);

  ASSERT_TRUE(DropCas(Data()));
  EXPECT_EQ(Roles(), std::vector<std::string>{"signs"});
  const Identity dropped = Load();
  EXPECT_EQ(dropped.ca_fingerprint, used.ca_fingerprint);
  EXPECT_EQ(dropped.server.cert_pem, used.server.cert_pem);
  EXPECT_FALSE(std::filesystem::exists(Data() / "ca-old.key"));
}

TEST_F(CertificatesTest, NextCaCanBeTakenBack) {
  const Identity first = Load();
  ASSERT_TRUE(AddCa(Data()));
  ASSERT_TRUE(DropCas(Data()));
  EXPECT_EQ(Load().trusted_pem, first.trusted_pem);
  EXPECT_EQ(UseCa(Data()).error().code, ErrorCode::kConflict);
}

TEST_F(CertificatesTest, NextCaIsBroughtToAnotherServer) {
  const Identity first = Load();
  const auto other = temp_.Path() / "other";
  std::filesystem::create_directory(other);
  for (const char* name : {"ca.key", "ca.pem"})
    std::filesystem::copy_file(Data() / name, other / name);
  EXPECT_EQ(ExportNextCa(Data()).error().code, ErrorCode::kConflict);
  ASSERT_TRUE(AddCa(Data()));
  const auto exported = ExportNextCa(Data());
  ASSERT_TRUE(exported);
  ASSERT_TRUE(AddCaFrom(other, *exported));
  EXPECT_TRUE(AddCaFrom(other, *exported)) << "the same again";
  EXPECT_EQ(NextCaId(other), NextCaId(Data()));
  EXPECT_EQ(LoadCas(other)->trusted_pem, LoadCas(Data())->trusted_pem);
  ASSERT_TRUE(UseCa(Data()));
  EXPECT_EQ(LoadCas(other)->trusted_pem, LoadCas(Data())->trusted_pem)
      << "agents keep what they have, whichever of the two signs";
  EXPECT_NE(LoadCas(other)->ids, LoadCas(Data())->ids) << "the signer is first";
}

TEST_F(CertificatesTest, NextCaOfAnotherClusterIsRefused) {
  Load();
  const auto other = temp_.Path() / "other";
  ASSERT_TRUE(LoadIdentity(other, settings_, now_));
  ASSERT_TRUE(AddCa(other));
  const auto exported = ExportNextCa(other);
  EXPECT_EQ(AddCaFrom(Data(), *exported).error().code, ErrorCode::kConflict);
  EXPECT_EQ(AddCaFrom(Data(), "").error().code, ErrorCode::kInvalid);
  EXPECT_EQ(AddCaFrom(Data(), exported->substr(0, 400)).error().code, ErrorCode::kInvalid);
  EXPECT_EQ(Roles(), std::vector<std::string>{"signs"});
  EXPECT_FALSE(std::filesystem::exists(Data() / "ca-next.key"));
}

TEST_F(CertificatesTest, SecondNextCaIsRefused) {
  Load();
  const auto other = temp_.Path() / "other";
  std::filesystem::create_directory(other);
  for (const char* name : {"ca.key", "ca.pem"})
    std::filesystem::copy_file(Data() / name, other / name);
  ASSERT_TRUE(AddCa(Data()));
  ASSERT_TRUE(AddCa(other));
  EXPECT_EQ(AddCaFrom(other, *ExportNextCa(Data())).error().code, ErrorCode::kConflict);
  ASSERT_TRUE(DropCas(other));
  EXPECT_TRUE(AddCaFrom(other, *ExportNextCa(Data())));
}

TEST_F(CertificatesTest, AUseCanBeTakenBackUntilTheOldCaIsDropped) {
  const Identity first = Load();
  EXPECT_EQ(UndoCa(Data()).error().code, ErrorCode::kConflict);
  ASSERT_TRUE(AddCa(Data()));
  EXPECT_EQ(UndoCa(Data()).error().code, ErrorCode::kConflict);
  ASSERT_TRUE(UseCa(Data()));
  ASSERT_TRUE(UndoCa(Data()));
  EXPECT_EQ(Load().ca_fingerprint, first.ca_fingerprint);
  EXPECT_EQ(Roles(), (std::vector<std::string>{"signs", "next"}));
  ASSERT_TRUE(UseCa(Data()));
  ASSERT_TRUE(DropCas(Data()));
  EXPECT_EQ(UndoCa(Data()).error().code, ErrorCode::kConflict);
}

// Its key would be in no file any more, and other servers may have it.
TEST_F(CertificatesTest, AUseIsNotTakenBackOverACaThatWasAddedSince) {
  Load();
  ASSERT_TRUE(AddCa(Data()));
  ASSERT_TRUE(UseCa(Data()));
  ASSERT_TRUE(AddCa(Data()));
  const auto next = *ReadWhole(Data() / "ca-next.key");
  EXPECT_EQ(UndoCa(Data()).error().code, ErrorCode::kConflict);
  EXPECT_EQ(*ReadWhole(Data() / "ca-next.key"), next);
}

TEST_F(CertificatesTest, ALostCaIsNotReplaced) {
  Load();
  for (const char* file : {"ca.key", "ca.pem"}) std::filesystem::remove(Data() / file);
  for (const char* record : {"ca.state", "muster.db"}) {
    ASSERT_TRUE(WriteSecret(Data() / record, ""));
    EXPECT_EQ(LoadIdentity(Data(), settings_, now_).error().code, ErrorCode::kConflict);
    std::filesystem::remove(Data() / record);
  }
  EXPECT_TRUE(LoadIdentity(Data(), settings_, now_));
}

// Using the CA that signs already would put its key in the place of the former one's.
TEST_F(CertificatesTest, AnInterruptedUndoCanOnlyBeRepeated) {
  const Identity first = Load();
  ASSERT_TRUE(AddCa(Data()));
  ASSERT_TRUE(UseCa(Data()));
  const auto former = *ReadWhole(Data() / "ca-old.key");
  std::filesystem::copy_file(Data() / "ca.key", Data() / "ca-next.key");  // its first step
  EXPECT_EQ(NextCaId(Data()).error().code, ErrorCode::kConflict);
  EXPECT_EQ(UseCa(Data()).error().code, ErrorCode::kConflict);
  EXPECT_EQ(AddCa(Data()).error().code, ErrorCode::kConflict);
  EXPECT_EQ(ExportNextCa(Data()).error().code, ErrorCode::kConflict);
  EXPECT_EQ(*ReadWhole(Data() / "ca-old.key"), former);
  ASSERT_TRUE(UndoCa(Data()));
  EXPECT_EQ(Load().ca_fingerprint, first.ca_fingerprint);
  EXPECT_EQ(Roles(), (std::vector<std::string>{"signs", "next"}));
}

TEST_F(CertificatesTest, KeysDoNotLeaveWhileTheCaIsChanged) {
  Load();
  ASSERT_TRUE(WriteSecret(Data() / "seal.key", "key"));
  EXPECT_TRUE(PackClusterKeys(Data()));
  ASSERT_TRUE(AddCa(Data()));
  EXPECT_EQ(PackClusterKeys(Data()).error().code, ErrorCode::kConflict);
  ASSERT_TRUE(UseCa(Data()));
  EXPECT_EQ(PackClusterKeys(Data()).error().code, ErrorCode::kConflict);
  ASSERT_TRUE(DropCas(Data()));
  EXPECT_TRUE(PackClusterKeys(Data()));
}

TEST_F(CertificatesTest, OwnCertificateMustFitItsKeyAndIsReadAgain) {
  Load();
  settings_.tls_cert = temp_.Path() / "own.pem";
  settings_.tls_key = temp_.Path() / "own.key";
  EXPECT_EQ(ReadOwnTls(settings_.tls_cert, settings_.tls_key).error().code, ErrorCode::kInvalid);
  const auto ca = *crypto::MakeCa("else", std::chrono::hours(240));
  const auto write = [&](const crypto::KeyAndCert& one) {
    ASSERT_TRUE(WriteSecret(settings_.tls_cert, one.cert_pem));
    ASSERT_TRUE(WriteSecret(settings_.tls_key, one.key_pem));
  };
  const auto one = *crypto::MakeServerCert(ca, {"localhost"}, std::chrono::hours(24));
  const auto two = *crypto::MakeServerCert(ca, {"localhost"}, std::chrono::hours(24 * 200));
  write({two.key_pem, one.cert_pem});
  EXPECT_EQ(LoadIdentity(Data(), settings_, now_).error().code, ErrorCode::kInvalid);
  write(one);
  Identity identity = Load();
  EXPECT_TRUE(identity.own_tls);
  EXPECT_EQ(identity.Tls().chain_pem, one.cert_pem);
  EXPECT_TRUE(*crypto::IsSignedBy(identity.server.cert_pem, identity.ca.cert_pem))
      << "what nodes and other servers see";
  EXPECT_EQ(identity.Tls().cluster_chain_pem, identity.server.cert_pem + identity.ca.cert_pem);
  EXPECT_EQ(EndingSoon(identity, now_).size(), 1U);
  EXPECT_FALSE(*RenewServer(Data(), settings_, now_, identity));
  write({one.key_pem, two.cert_pem});  // between the two files of a replacement
  EXPECT_FALSE(RenewServer(Data(), settings_, now_, identity));
  EXPECT_EQ(identity.Tls().chain_pem, one.cert_pem);
  write(two);
  EXPECT_TRUE(*RenewServer(Data(), settings_, now_, identity));
  EXPECT_TRUE(EndingSoon(identity, now_).empty());
}

TEST_F(CertificatesTest, NodesMayUseTheNamesOfAnOwnCertificate) {
  settings_.tls_cert = temp_.Path() / "own.pem";
  settings_.tls_key = temp_.Path() / "own.key";
  const auto ca = *crypto::MakeCa("else", std::chrono::hours(240));
  const auto own = *crypto::MakeServerCert(ca, {"front.example"}, std::chrono::hours(24 * 200));
  ASSERT_TRUE(WriteSecret(settings_.tls_cert, own.cert_pem));
  ASSERT_TRUE(WriteSecret(settings_.tls_key, own.key_pem));
  const auto names = *crypto::NamesOf(Load().server.cert_pem);
  EXPECT_NE(std::ranges::find(names, "front.example"), names.end());
}

TEST_F(CertificatesTest, ServerOfAClusterGetsACertificateThatNamesIt) {
  const Identity alone = Load();
  settings_.member = "s1";
  const Identity member = Load();
  EXPECT_NE(member.server.cert_pem, alone.server.cert_pem);
  EXPECT_EQ(Load().server.cert_pem, member.server.cert_pem) << "and keeps it";
}

TEST_F(CertificatesTest, CaThatEndsIsWarnedOfInTime) {
  const Identity identity = Load();
  EXPECT_TRUE(EndingSoon(identity, now_).empty());
  EXPECT_EQ(EndingSoon(identity, now_ + std::chrono::hours(24 * 3500)).size(), 1U);
}

TEST_F(CertificatesTest, NodesAreSignedForTheirOwnKeyOnly) {
  const Identity identity = Load();
  const std::string key = crypto::GenerateKey();
  const std::string request = *crypto::MakeRequest(key, "whoever");
  const auto life = std::chrono::hours(24);
  const auto cert = SignForNode(identity, request, *crypto::KeyIdOfKey(key), "web1", life);
  ASSERT_TRUE(cert);
  EXPECT_TRUE(*crypto::IsCertOfKey(*cert, key));
  EXPECT_EQ(*crypto::SignerKeyId(*cert), *crypto::CaKeyId(identity.ca.cert_pem));
  EXPECT_FALSE(SignForNode(identity, request, "another key", "web1", life));
}

}  // namespace
}  // namespace muster::server
