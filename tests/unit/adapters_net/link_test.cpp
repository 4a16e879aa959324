#include <arpa/inet.h>
#include <netinet/in.h>

#include "unit/adapters_net/fixture.hpp"

namespace muster::net {
namespace {

// What one client's end saw.
struct Seen {
  bool open = false;
  bool closed = false;
  Error why;
  std::vector<std::string> frames;
};

class Links : public NetTest {
 protected:
  ~Links() override {
    client_loop_.Do([this] { clients_.clear(); });
  }

  std::shared_ptr<Seen> Connect(const TlsIdentity& identity, bool tls = true,
                                std::string path = "/api/v1/link") {
    auto seen = std::make_shared<Seen>();
    LinkClient::Handlers handlers;
    handlers.on_open = [this, seen] { signal_.Update([&] { seen->open = true; }); };
    handlers.on_frame = [this, seen](std::string frame) {
      signal_.Update([&] { seen->frames.push_back(std::move(frame)); });
    };
    handlers.on_closed = [this, seen](Error why) {
      signal_.Update([&] {
        EXPECT_FALSE(seen->closed);
        seen->closed = true;
        seen->why = std::move(why);
      });
    };
    client_loop_.Do([&] {
      clients_.push_back(LinkClient::Connect(client_loop_.loop(), At(tls), identity,
                                             std::move(path), 20s, std::move(handlers)));
    });
    return seen;
  }
  bool AwaitOpen(const Seen& seen) {
    bool settled = signal_.Wait([&] { return seen.open || seen.closed; });
    return settled && seen.open;
  }
  bool AwaitClosed(const Seen& seen) {
    return signal_.Wait([&] { return seen.closed; });
  }
  void Send(std::size_t client, std::string frame) {
    client_loop_.Do([&] { clients_[client]->Send(std::move(frame)); });
  }

  LoopThread client_loop_;
  std::vector<std::unique_ptr<LinkClient>> clients_;
};

TEST_F(Links, EchoesFramesOfAllSizesInOrder) {
  Start();
  auto seen = Connect(Node());
  ASSERT_TRUE(AwaitOpen(*seen)) << seen->why.message;
  std::vector<std::string> sent;
  for (std::size_t size : {0, 1, 100, 125, 126, 191, 192, 193, 1500, 65535, 65536, 300'000, 7}) {
    sent.push_back(std::string(size, static_cast<char>('a' + sent.size())));
    Send(0, sent.back());
  }
  ASSERT_TRUE(signal_.Wait([&] { return seen->frames.size() == sent.size(); }));
  EXPECT_TRUE(seen->frames == sent);
}

TEST_F(Links, KnowsTheNodeByItsKey) {
  std::string key;
  std::uint64_t id = 0;
  handlers_.on_link = [&](std::shared_ptr<LinkConnection> link) {
    signal_.Update([&] {
      key = link->PeerKey();
      id = link->Id();
    });
  };
  Start();
  auto seen = Connect(Node());
  ASSERT_TRUE(AwaitOpen(*seen));
  ASSERT_TRUE(signal_.Wait([&] { return id != 0; }));
  EXPECT_EQ(key, *crypto::KeyIdOfCert(certificates_.node_cert));
}

TEST_F(Links, CarriesLargeFramesBothWaysAtOnce) {
  constexpr int kFrames = 20;
  const std::string frame(1 << 20, 'f');
  int arrived = 0;
  handlers_.on_link = [&](const std::shared_ptr<LinkConnection>& link) {
    for (int i = 0; i < kFrames; ++i) link->Send(frame);
  };
  handlers_.on_frame = [&](LinkConnection&, std::string got) {
    signal_.Update([&] { arrived += got == frame ? 1 : 0; });
  };
  Start();
  auto seen = Connect(Node());
  ASSERT_TRUE(AwaitOpen(*seen));
  for (int i = 0; i < kFrames; ++i) Send(0, frame);
  ASSERT_TRUE(signal_.Wait([&] { return arrived == kFrames && seen->frames.size() == kFrames; }));
  for (const std::string& got : seen->frames) EXPECT_TRUE(got == frame);
}

TEST_F(Links, HoldsManyAtOnce) {
  constexpr std::size_t kLinks = 200;
  std::vector<std::shared_ptr<LinkConnection>> links;
  handlers_.on_link = [&](std::shared_ptr<LinkConnection> link) {
    signal_.Update([&] { links.push_back(std::move(link)); });
  };
  Start();
  std::vector<std::shared_ptr<Seen>> all;
  for (std::size_t i = 0; i < kLinks; ++i) all.push_back(Connect(Node()));
  ASSERT_TRUE(signal_.Wait([&] { return links.size() == kLinks; }));
  server_loop_.Do([&] {
    for (const auto& link : links) link->Send("hello");
  });
  for (const auto& seen : all) {
    ASSERT_TRUE(signal_.Wait([&] { return seen->frames.size() == 1; }));
  }
  client_loop_.Do([this] { clients_.clear(); });
  EXPECT_TRUE(signal_.Wait([&] { return links_closed_ == kLinks; }));
  EXPECT_TRUE(AwaitConnections(0));
  server_loop_.Do([&] { links.clear(); });
}

TEST_F(Links, RefusesThoseWithoutACertificate) {
  Start();
  for (bool tls : {true, false}) {
    auto seen = Connect(Trusting(), tls);
    ASSERT_TRUE(AwaitClosed(*seen));
    EXPECT_FALSE(seen->open);
    EXPECT_EQ(seen->why.code, ErrorCode::kDenied) << seen->why.message;
  }
  auto response = Client(true).Call(Get("/api/v1/link"));
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->status, 403);
  EXPECT_NE(response->body.find(R"({"error":{"code":"denied")"), std::string::npos);
}

TEST_F(Links, RefusesACertificateOfAnotherAuthority) {
  Start();
  crypto::KeyAndCert other = *crypto::MakeCa("other", 24h);
  TlsIdentity identity = Node();
  identity.cert_pem = Certificates::Sign(other, identity.key_pem);
  auto seen = Connect(identity);
  ASSERT_TRUE(AwaitClosed(*seen));
  EXPECT_FALSE(seen->open);
  EXPECT_EQ(seen->why.code, ErrorCode::kDenied) << seen->why.message;
}

TEST_F(Links, ClientRefusesAServerItDoesNotTrust) {
  Start();
  TlsIdentity identity = Node();
  identity.ca_pem = crypto::MakeCa("other", 24h)->cert_pem;
  auto seen = Connect(identity);
  ASSERT_TRUE(AwaitClosed(*seen));
  EXPECT_EQ(seen->why.code, ErrorCode::kDenied) << seen->why.message;
}

TEST_F(Links, OrdinaryRequestOnTheLinkPathIsInvalid) {
  Start();
  auto response = HttpClient(At(true), Node(), 20s).Call(Get("/api/v1/link"));
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->status, 400);
}

TEST_F(Links, SilenceClosesALinkAndTrafficKeepsIt) {
  options_.limits.link_silence = 1s;
  Start();
  auto talking = Connect(Node());
  ASSERT_TRUE(AwaitOpen(*talking));
  auto silent = Connect(Node());
  // Each echo starts the next frame, so this link is never silent.
  std::size_t echoes = 0;
  while (!signal_.Wait([&] { return silent->closed || talking->frames.size() == echoes; }) ||
         !silent->closed) {
    ASSERT_FALSE(talking->closed);
    Send(0, "beat");
    ++echoes;
    if (echoes > 1'000'000) FAIL() << "the silent link stayed open";
  }
  EXPECT_TRUE(silent->open);
  EXPECT_FALSE(talking->closed);
  EXPECT_TRUE(signal_.Wait([&] { return links_closed_ == 1; }));
}

TEST_F(Links, CloseComesAfterWhatWasSent) {
  handlers_.on_frame = [](LinkConnection& link, const std::string&) {
    for (int i = 0; i < 50; ++i) link.Send(std::string(10'000, 'x'));
    link.Close();
    link.Send("too late");
  };
  Start();
  auto seen = Connect(Node());
  ASSERT_TRUE(AwaitOpen(*seen));
  Send(0, "go");
  ASSERT_TRUE(AwaitClosed(*seen));
  EXPECT_EQ(seen->frames.size(), 50U);
  EXPECT_TRUE(signal_.Wait([&] { return links_closed_ == 1; }));
}

TEST_F(Links, FrameOverTheLimitClosesTheLink) {
  options_.limits.max_frame = 1000;
  Start();
  auto seen = Connect(Node());
  ASSERT_TRUE(AwaitOpen(*seen));
  Send(0, std::string(2000, 'x'));
  EXPECT_TRUE(AwaitClosed(*seen));
  EXPECT_TRUE(signal_.Wait([&] { return links_closed_ == 1; }));
}

// A server passes on what a node said, which then is a little longer.
TEST_F(Links, FrameOfAnotherServerMayBeLonger) {
  options_.limits.max_frame = 1000;
  Start();
  const auto member = crypto::MakeMemberCert(certificates_.ca, "b", 24h);
  ASSERT_TRUE(member) << member.error().message;
  TlsIdentity identity = Node();
  identity.cert_pem = member->cert_pem;
  identity.key_pem = member->key_pem;
  auto seen = Connect(identity);
  ASSERT_TRUE(AwaitOpen(*seen)) << seen->why.message;
  Send(0, std::string(2000, 'x'));
  EXPECT_TRUE(signal_.Wait([&] { return seen->frames.size() == 1; }));
}

TEST_F(Links, ServersEndIsNoticed) {
  Start();
  auto seen = Connect(Node());
  ASSERT_TRUE(AwaitOpen(*seen));
  Stop();
  ASSERT_TRUE(AwaitClosed(*seen));
  EXPECT_EQ(seen->why.code, ErrorCode::kUnavailable);
}

TEST_F(Links, StopAcceptingClosesLinks) {
  Start();
  auto seen = Connect(Node());
  ASSERT_TRUE(AwaitOpen(*seen));
  Send(0, "x");
  ASSERT_TRUE(signal_.Wait([&] { return seen->frames.size() == 1; }));
  server_loop_.Do([this] { server_->StopAccepting(); });
  EXPECT_TRUE(AwaitClosed(*seen));
  EXPECT_TRUE(signal_.Wait([&] { return links_closed_ == 1; }));
}

TEST_F(Links, NobodyListeningIsUnavailable) {
  Start();
  Stop();
  auto seen = Connect(Node());
  ASSERT_TRUE(AwaitClosed(*seen));
  EXPECT_EQ(seen->why.code, ErrorCode::kUnavailable);
}

TEST_F(Links, SilentServerIsGivenUpInTime) {
  // A listening socket nobody accepts from: the connection opens, the handshake gets no answer.
  int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ASSERT_EQ(listen(listener, 1), 0);
  sockaddr_storage address{};
  socklen_t size = sizeof(address);
  ASSERT_EQ(getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size), 0);
  std::uint16_t port = ntohs(reinterpret_cast<sockaddr_in*>(&address)->sin_port);
  Seen seen;
  std::unique_ptr<LinkClient> client = client_loop_.Do([&] {
    LinkClient::Handlers handlers;
    handlers.on_closed = [&](Error why) {
      signal_.Update([&] {
        seen.closed = true;
        seen.why = std::move(why);
      });
    };
    return LinkClient::Connect(client_loop_.loop(), {true, "127.0.0.1", std::to_string(port)},
                               Node(), "/", 50ms, std::move(handlers));
  });
  EXPECT_TRUE(AwaitClosed(seen));
  EXPECT_EQ(seen.why.code, ErrorCode::kUnavailable);
  client_loop_.Do([&] { client.reset(); });
  close(listener);
}

TEST_F(Links, DestroyingAClientTellsItNothing) {
  Start();
  auto seen = Connect(Node());
  ASSERT_TRUE(AwaitOpen(*seen));
  auto never_open = Connect(Node());
  client_loop_.Do([this] { clients_.clear(); });
  EXPECT_TRUE(signal_.Wait([&] { return links_closed_ >= 1; }));
  EXPECT_TRUE(AwaitConnections(0));
  client_loop_.Do([] {});
  EXPECT_FALSE(seen->closed);
  EXPECT_FALSE(never_open->closed);
}

}  // namespace
}  // namespace muster::net
