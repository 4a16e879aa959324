#include "unit/adapters_net/fixture.hpp"

namespace muster::net {
namespace {

class Tls : public NetTest {};

TEST_F(Tls, KnowsClientsByTheirCertificateOrNotAtAll) {
  Start();
  auto anonymous = Client(true).Call(Get("/"));
  ASSERT_TRUE(anonymous) << anonymous.error().message;
  EXPECT_EQ(FindHeader(anonymous->headers, "X-Peer"), "");
  auto known = HttpClient(At(true), Node(), 20s).Call(Get("/"));
  ASSERT_TRUE(known) << known.error().message;
  EXPECT_EQ(FindHeader(known->headers, "X-Peer"), *crypto::KeyIdOfCert(certificates_.node_cert));
}

TEST_F(Tls, ServerRefusesACertificateOfAnotherAuthority) {
  Start();
  crypto::KeyAndCert other = *crypto::MakeCa("other", 24h);
  TlsIdentity identity = Node();
  identity.cert_pem = Certificates::Sign(other, identity.key_pem);
  auto response = HttpClient(At(true), identity, 20s).Call(Get("/"));
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().code, ErrorCode::kDenied) << response.error().message;
  EXPECT_TRUE(signal_.Wait([this] { return !warnings_.empty(); }));
}

TEST_F(Tls, ClientRefusesAServerOfAnotherAuthority) {
  Start();
  crypto::KeyAndCert other = *crypto::MakeCa("other", 24h);
  auto response = HttpClient(At(true), {.ca_pem = other.cert_pem}, 20s).Call(Get("/"));
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().code, ErrorCode::kDenied) << response.error().message;
}

TEST_F(Tls, ClientRefusesAServerTheSystemDoesNotKnow) {
  Start();
  auto response = HttpClient(At(true), {}, 20s).Call(Get("/"));
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().code, ErrorCode::kDenied) << response.error().message;
}

TEST_F(Tls, ClientRefusesAServerUnderAnotherName) {
  auto named = crypto::MakeServerCert(certificates_.ca, {"elsewhere.example"}, 24h);
  options_.key_pem = named->key_pem;
  options_.chain_pem = named->cert_pem + certificates_.ca.cert_pem;
  Start();
  TlsIdentity pinned{.ca_fingerprint = *crypto::CertFingerprint(certificates_.ca.cert_pem)};
  for (const TlsIdentity& identity : {Trusting(), pinned}) {
    auto response = HttpClient(At(true), identity, 20s).Call(Get("/"));
    ASSERT_FALSE(response);
    EXPECT_EQ(response.error().code, ErrorCode::kDenied) << response.error().message;
  }
}

TEST_F(Tls, ChecksHostNamesAsWellAsAddresses) {
  Start();
  auto response = HttpClient(At(true, "localhost"), Trusting(), 20s).Call(Get("/"));
  EXPECT_TRUE(response) << response.error().message;
}

TEST_F(Tls, FingerprintOfTheRootIsEnoughAndGivesTheRoot) {
  Start();
  TlsIdentity pinned{.ca_fingerprint = *crypto::CertFingerprint(certificates_.ca.cert_pem)};
  HttpClient client(At(true), pinned, 20s);
  auto response = client.Call(Get("/"));
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(client.PeerRootPem(), certificates_.ca.cert_pem);
}

TEST_F(Tls, WrongFingerprintIsDenied) {
  Start();
  crypto::KeyAndCert other = *crypto::MakeCa("other", 24h);
  TlsIdentity pinned{.ca_fingerprint = *crypto::CertFingerprint(other.cert_pem)};
  HttpClient client(At(true), pinned, 20s);
  auto response = client.Call(Get("/"));
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().code, ErrorCode::kDenied) << response.error().message;
  EXPECT_EQ(client.PeerRootPem(), "");
}

TEST_F(Tls, PinnedRootThatDidNotSignTheServerIsDenied) {
  // Anyone can send a copy of the right root; the leaf must come from it.
  crypto::KeyAndCert other = *crypto::MakeCa("test CA", 24h);
  auto forged = crypto::MakeServerCert(other, {"127.0.0.1"}, 24h);
  options_.key_pem = forged->key_pem;
  options_.chain_pem = forged->cert_pem + certificates_.ca.cert_pem;
  Start();
  TlsIdentity pinned{.ca_fingerprint = *crypto::CertFingerprint(certificates_.ca.cert_pem)};
  auto response = HttpClient(At(true), pinned, 20s).Call(Get("/"));
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().code, ErrorCode::kDenied) << response.error().message;
}

TEST_F(Tls, NobodyListeningIsUnavailable) {
  Start();
  Endpoint endpoint = At(true);
  Stop();
  auto response = HttpClient(endpoint, Trusting(), 20s).Call(Get("/"));
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().code, ErrorCode::kUnavailable);
  auto nowhere = HttpClient({true, "no-such-host.invalid", "1"}, Trusting(), 20s).Call(Get("/"));
  ASSERT_FALSE(nowhere);
  EXPECT_EQ(nowhere.error().code, ErrorCode::kUnavailable);
}

TEST_F(Tls, ServerThatNeverAnswersIsATimeout) {
  std::shared_ptr<HttpExchange> held;
  handlers_.on_http = [&](HttpRequest, std::shared_ptr<HttpExchange> exchange) {
    signal_.Update([&] { held = std::move(exchange); });
  };
  Start();
  auto response = HttpClient(At(true), Trusting(), 1s).Call(Post("/", "x"));
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().code, ErrorCode::kTimeout);
  Stop();  // before what its thread holds goes
}

}  // namespace
}  // namespace muster::net
