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
  options_.tls.key_pem = named->key_pem;
  options_.tls.chain_pem = named->cert_pem + certificates_.ca.cert_pem;
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
  options_.tls.key_pem = forged->key_pem;
  options_.tls.chain_pem = forged->cert_pem + certificates_.ca.cert_pem;
  Start();
  TlsIdentity pinned{.ca_fingerprint = *crypto::CertFingerprint(certificates_.ca.cert_pem)};
  auto response = HttpClient(At(true), pinned, 20s).Call(Get("/"));
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().code, ErrorCode::kDenied) << response.error().message;
}

TEST_F(Tls, NodeWithALongNameIsKnown) {
  Start();
  TlsIdentity identity = Node();
  const std::string name(253, 'n');
  identity.cert_pem = *crypto::SignRequest(certificates_.ca,
                                           *crypto::MakeRequest(identity.key_pem, name), name, 24h);
  const auto known = HttpClient(At(true), identity, 20s).Call(Get("/"));
  ASSERT_TRUE(known) << known.error().message;
  EXPECT_EQ(FindHeader(known->headers, "X-Peer"), *crypto::KeyIdOfCert(identity.cert_pem));
}

TEST_F(Tls, ServerWithALongNameIsKnown) {
  handlers_.on_http = [](HttpRequest request, std::shared_ptr<HttpExchange> exchange) {
    exchange->Respond({200, {{"X-Server", request.peer_server}}, ""});
  };
  Start();
  const auto own = *crypto::MakeMemberCert(certificates_.ca, std::string(200, 'n'), 24h);
  TlsIdentity identity = Trusting();
  identity.key_pem = own.key_pem;
  identity.cert_pem = own.cert_pem;
  const auto known = HttpClient(At(true), identity, 20s).Call(Get("/"));
  ASSERT_TRUE(known) << known.error().message;
  EXPECT_EQ(FindHeader(known->headers, "X-Server"), std::string(200, 'n'));
}

TEST_F(Tls, ServerThatEndsDuringHandshakesTakesTheirConnectionsAlong) {
  Start();
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < 50; ++i) {
    clients.push_back(std::make_unique<RawClient>(port_));
    clients.back()->Send(std::string("\x16\x03\x01\x00\x05hello", 10));
  }
  Stop();
}

// Who may write to the coordinator chooses the addresses of servers, so an address proves nothing.
class MemberTls : public NetTest {
 protected:
  TlsIdentity Member(const std::string& name) const {
    TlsIdentity identity = Trusting();
    identity.member = name;
    return identity;
  }
  void Show(const crypto::KeyAndCert& pair) {
    options_.tls.key_pem = pair.key_pem;
    options_.tls.chain_pem = pair.cert_pem + certificates_.ca.cert_pem;
  }
  ErrorCode CodeFor(const TlsIdentity& identity, bool tls = true) {
    const auto response = HttpClient(At(tls), identity, 20s).Call(Get("/"));
    EXPECT_FALSE(response);
    return response ? ErrorCode::kInternal : response.error().code;
  }
};

TEST_F(MemberTls, ServerIsKnownByItsNameInTheClusterNotByItsAddress) {
  Show(*crypto::MakeServerCert(certificates_.ca, {"elsewhere.example"}, 24h, "s1"));
  Start();
  EXPECT_TRUE(HttpClient(At(true), Member("s1"), 20s).Call(Get("/")));
  EXPECT_EQ(CodeFor(Member("s2")), ErrorCode::kDenied);
  EXPECT_EQ(CodeFor(Trusting()), ErrorCode::kDenied);
}

TEST_F(MemberTls, CertificateThatNamesNoServerIsRefused) {
  Start();  // for 127.0.0.1, of the right CA
  EXPECT_EQ(CodeFor(Member("s1")), ErrorCode::kDenied);
}

TEST_F(MemberTls, CertificateOfANodeIsRefused) {
  Show({certificates_.node_key, certificates_.node_cert});
  Start();
  EXPECT_EQ(CodeFor(Member("node")), ErrorCode::kDenied);
}

TEST_F(MemberTls, CertificateForCallingServersIsNoneForBeingCalled) {
  Show(*crypto::MakeMemberCert(certificates_.ca, "s1", 24h));
  Start();
  EXPECT_EQ(CodeFor(Member("s1")), ErrorCode::kDenied);
}

TEST_F(MemberTls, PlainTextIsRefusedBeforeAnythingIsSent) {
  int asked = 0;
  handlers_.on_http = [&](HttpRequest, std::shared_ptr<HttpExchange>) { ++asked; };
  Start();
  TlsIdentity of_cluster = Trusting();
  of_cluster.cluster = true;
  EXPECT_EQ(CodeFor(Member("s1"), false), ErrorCode::kDenied);
  EXPECT_EQ(CodeFor(of_cluster, false), ErrorCode::kDenied);
  Stop();
  EXPECT_EQ(asked, 0);
}

TEST_F(MemberTls, SystemsAuthoritiesKnowNoMembers) {
  Start();
  EXPECT_EQ(CodeFor({.member = "s1"}), ErrorCode::kInvalid);
}

TEST_F(MemberTls, ClusterSeesItsOwnCertificateWhereTheApiShowsAnother) {
  const crypto::KeyAndCert company = *crypto::MakeCa("company", 24h);
  const auto own = *crypto::MakeServerCert(company, {"127.0.0.1"}, 24h);
  const auto member = *crypto::MakeServerCert(certificates_.ca, {"127.0.0.1"}, 24h, "s1");
  options_.tls.key_pem = own.key_pem;
  options_.tls.chain_pem = own.cert_pem;
  options_.tls.cluster_key_pem = member.key_pem;
  options_.tls.cluster_chain_pem = member.cert_pem + certificates_.ca.cert_pem;
  Start();
  EXPECT_TRUE(HttpClient(At(true), {.ca_pem = company.cert_pem}, 20s).Call(Get("/")));
  EXPECT_EQ(CodeFor(Trusting()), ErrorCode::kDenied);
  EXPECT_TRUE(HttpClient(At(true), Member("s1"), 20s).Call(Get("/")));
  TlsIdentity node = Node();
  node.cluster = true;
  const auto known = HttpClient(At(true), node, 20s).Call(Get("/"));
  ASSERT_TRUE(known) << known.error().message;
  EXPECT_EQ(FindHeader(known->headers, "X-Peer"), *crypto::KeyIdOfCert(certificates_.node_cert));
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
