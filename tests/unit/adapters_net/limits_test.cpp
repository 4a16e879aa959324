#include "adapters/net/limits.hpp"

#include "unit/adapters_net/fixture.hpp"

namespace muster::net {
namespace {

// What a stranger can make the server do, and how it ends.
class Limits : public NetTest {
 protected:
  // Reads until the server closes; the answer's first line.
  static std::string StatusLine(const std::string& text) { return text.substr(0, text.find('\r')); }
  static bool IsJsonError(const std::string& text) {
    return text.find("Content-Type: application/json\r\n") != std::string::npos &&
           text.find(R"({"error":{"code":"invalid","message":")") != std::string::npos &&
           text.find("Connection: close\r\n") != std::string::npos;
  }
  template <typename Condition>
  static bool Eventually(Condition condition) {
    auto deadline = std::chrono::steady_clock::now() + kPatience;
    while (!condition()) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      poll(nullptr, 0, 2);
    }
    return true;
  }
  static std::string AddressOf(std::string_view remote) {
    return std::string(remote.substr(0, remote.rfind(':')));
  }
  // Connections of `from` that send this much and never go on.
  std::vector<std::unique_ptr<RawClient>> Flood(int count, std::string_view start,
                                                const char* from = "127.0.0.1") const {
    std::vector<std::unique_ptr<RawClient>> flood;
    for (int i = 0; i < count; ++i) {
      flood.push_back(std::make_unique<RawClient>(port_, from));
      flood.back()->Send(start);
    }
    return flood;
  }
  void ExpectServed() const {
    auto response = Client(true).Call(Get("/"));
    ASSERT_TRUE(response) << response.error().message;
    EXPECT_EQ(response->status, 200);
  }
  // Of connections that hold a place, longer than any client's patience.
  void LetNewcomersStay() {
    options_.limits.header_timeout = 10min;
    options_.limits.crowded_timeout = 10min;
    options_.limits.idle_timeout = 10min;
  }

  static constexpr std::string_view kHelloBegins{"\x16\x03\x01\x02", 4};

  // A link that never reads what it is sent.
  static void SendEndlessly(LinkConnection& link) {
    for (int i = 0; i < 1000; ++i) link.Send(std::string(100'000, 'x'));
  }
};

TEST_F(Limits, LongUrlIsRefused) {
  options_.limits.max_url = 100;
  Start();
  RawClient client(port_);
  client.Send("GET /" + std::string(100, 'u') + " HTTP/1.1\r\nHost: localhost\r\n\r\n");
  std::string text = client.ReadAll();
  EXPECT_EQ(StatusLine(text), "HTTP/1.1 414 URI Too Long");
  EXPECT_TRUE(IsJsonError(text)) << text;
  RawClient fits(port_);
  fits.Send("GET /" + std::string(99, 'u') +
            " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(StatusLine(fits.ReadAll()), "HTTP/1.1 200 OK");
}

TEST_F(Limits, ManyHeaderFieldsAreRefused) {
  options_.limits.max_header_fields = 10;
  Start();
  RawClient client(port_);
  std::string request = "GET / HTTP/1.1\r\nHost: localhost\r\n";
  for (int i = 0; i < 11; ++i) request += "X: y\r\n";
  client.Send(request + "\r\n");
  std::string text = client.ReadAll();
  EXPECT_EQ(StatusLine(text), "HTTP/1.1 431 Request Header Fields Too Large");
  EXPECT_TRUE(IsJsonError(text)) << text;
}

TEST_F(Limits, LongHeaderIsRefused) {
  options_.limits.max_header = 500;
  Start();
  RawClient client(port_);
  client.Send("GET / HTTP/1.1\r\nHost: localhost\r\nX: " + std::string(500, 'x') + "\r\n\r\n");
  std::string text = client.ReadAll();
  EXPECT_EQ(StatusLine(text), "HTTP/1.1 431 Request Header Fields Too Large");
  EXPECT_TRUE(IsJsonError(text)) << text;
}

TEST_F(Limits, TwoLengthsAreRefused) {
  Start();
  for (std::string_view fields : {"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n",
                                  "Content-Length: 2\r\nContent-Length: 3\r\n"}) {
    RawClient client(port_);
    client.Send("POST / HTTP/1.1\r\nHost: localhost\r\n" + std::string(fields) + "\r\n0\r\n\r\n");
    std::string text = client.ReadAll();
    EXPECT_EQ(StatusLine(text), "HTTP/1.1 400 Bad Request") << fields;
    EXPECT_TRUE(IsJsonError(text)) << text;
  }
}

TEST_F(Limits, HeadThatTricklesInIsGivenUp) {
  options_.limits.header_timeout = 1s;
  Start();
  RawClient client(port_);
  client.Send("GET / HTTP/1.1\r\nHost: localhost\r\n");
  // A byte again and again buys no time: the server ends it while they still come.
  std::atomic<bool> ended{false};
  std::thread trickle([&] {
    while (!ended) {
      client.Send("X");
      poll(nullptr, 0, 20);
    }
  });
  std::string text = client.ReadAll();
  ended = true;
  trickle.join();
  EXPECT_EQ(StatusLine(text), "HTTP/1.1 408 Request Timeout");
  EXPECT_TRUE(IsJsonError(text)) << text;
}

TEST_F(Limits, BodyThatTricklesInIsGivenUp) {
  options_.limits.body_timeout = 200ms;
  Start();
  RawClient client(port_);
  client.Send("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n");
  std::atomic<bool> ended{false};
  std::thread trickle([&] {
    while (!ended) {
      client.Send("x");
      poll(nullptr, 0, 20);
    }
  });
  std::string text = client.ReadAll();
  ended = true;
  trickle.join();
  EXPECT_EQ(StatusLine(text), "HTTP/1.1 408 Request Timeout");
}

TEST_F(Limits, AnswerNobodyReadsIsGivenUp) {
  options_.limits.write_timeout = 100ms;
  options_.limits.least_rate = 1 << 30;
  bool gone = false;
  handlers_.on_http = [&](HttpRequest, std::shared_ptr<HttpExchange> exchange) {
    exchange->OnGone([&] { signal_.Update([&] { gone = true; }); });
    exchange->Respond({200, {}, std::string(64 << 20, 'x')});
  };
  Start();
  RawClient client(port_);
  client.Send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  client.ReadUntil("\r\n\r\n");
  EXPECT_TRUE(signal_.Wait([&] { return gone; }));
  EXPECT_TRUE(AwaitConnections(0));
}

TEST_F(Limits, StreamTooFarBehindItsReaderIsCut) {
  options_.limits.max_stream_unsent = 1 << 20;
  std::shared_ptr<HttpExchange> stream;
  handlers_.on_http = [&](HttpRequest, std::shared_ptr<HttpExchange> exchange) {
    exchange->BeginStream(200, {});
    signal_.Update([&] { stream = std::move(exchange); });
  };
  Start();
  RawClient client(port_);
  client.Send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  ASSERT_TRUE(signal_.Wait([&] { return stream != nullptr; }));
  bool gone = false;
  stream->OnGone([&] { signal_.Update([&] { gone = true; }); });
  std::size_t most = 0;
  EXPECT_TRUE(Eventually([&] {
    stream->Write(std::string(100'000, 'x'));
    most = std::max(most, stream->Unsent());
    return stream->Gone();
  }));
  EXPECT_LE(most, options_.limits.max_stream_unsent);
  EXPECT_TRUE(signal_.Wait([&] { return gone; }));
  EXPECT_TRUE(AwaitConnections(0));
  stream.reset();
}

TEST_F(Limits, AnswersThatManyNamelessCallersDoNotReadAreCut) {
  options_.limits.max_open_unsent = 1 << 20;
  const auto text = std::make_shared<const std::string>(512 << 10, 'x');
  std::atomic<int> asked = 0;
  handlers_.on_http = [&](const HttpRequest&, const std::shared_ptr<HttpExchange>& exchange) {
    ++asked;
    exchange->Respond({200, {}, {}, text});
  };
  Start();
  // Nobody of them has 2 MiB to read.
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < 40; ++i) {
    clients.push_back(std::make_unique<RawClient>(port_));
    clients.back()->Send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  }
  EXPECT_TRUE(Eventually([&] { return asked == 40; }));
  EXPECT_TRUE(Eventually([&] { return server_->Connections() < 40; }));
  EXPECT_TRUE(signal_.Wait([&] { return !warnings_.empty(); }));
  clients.clear();
  EXPECT_TRUE(AwaitConnections(0));
  const auto read = Client(true).Call(Get("/"));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->body, *text);
}

TEST_F(Limits, OneAddressGetsItsShareOfConnections) {
  options_.limits.max_connections_per_address = 2;
  Start();
  HttpClient first = Client(true);
  ASSERT_EQ(first.Call(Get("/"))->status, 200);
  {
    HttpClient second = Client(true);
    ASSERT_EQ(second.Call(Get("/"))->status, 200);
    auto third = Client(true).Call(Get("/"));
    ASSERT_TRUE(third) << third.error().message;
    EXPECT_EQ(third->status, 429);
    EXPECT_EQ(second.Call(Get("/"))->status, 200);
  }
  // A place is free again once its connection has closed.
  EXPECT_TRUE(Eventually([&] { return Client(true).Call(Get("/"))->status == 200; }));
}

TEST_F(Limits, LinksAreNotCountedForTheirAddress) {
  options_.limits.max_connections_per_address = 1;
  int links = 0;
  handlers_.on_link = [&](std::shared_ptr<LinkConnection>) { signal_.Update([&] { ++links; }); };
  Start();
  LoopThread loop;
  std::vector<std::unique_ptr<LinkClient>> clients;
  loop.Do([&] {
    for (int i = 0; i < 3; ++i)
      clients.push_back(
          LinkClient::Connect(loop.loop(), At(true), Node(), "/api/v1/link", 20s,
                              {.on_open = [] {}, .on_frame = {}, .on_closed = [](Error) {}}));
  });
  EXPECT_TRUE(signal_.Wait([&] { return links == 3; }));
  EXPECT_EQ(Client(true).Call(Get("/"))->status, 200);
  loop.Do([&] { clients.clear(); });
}

TEST_F(Limits, FloodOfHandshakesMakesWayForOthers) {
  options_.limits.max_handshakes = 4;
  options_.limits.crowded_timeout = 50ms;
  Start();
  const auto flood = Flood(20, kHelloBegins);
  ASSERT_TRUE(signal_.Wait([this] { return !warnings_.empty(); }));
  // With header_timeout at its 10 s, five rounds of the flood would outlast the client's patience.
  ExpectServed();
}

TEST_F(Limits, FloodOfHandshakesTakesNoPlaceOfOtherAddresses) {
  options_.limits.max_handshakes = 4;
  options_.source_of = AddressOf;
  LetNewcomersStay();
  Start();
  const auto flood = Flood(20, kHelloBegins, "127.0.0.2");
  ASSERT_TRUE(AwaitConnections(20));
  ExpectServed();
}

TEST_F(Limits, SilentConnectionsTakeNoPlaceOfTheirOwnAddress) {
  options_.limits.max_handshakes = 4;
  LetNewcomersStay();
  Start();
  const auto flood = Flood(20, "");
  ASSERT_TRUE(AwaitConnections(20));
  ExpectServed();
}

TEST_F(Limits, ConnectionThatWaitsForAPlaceIsNotOverdue) {
  options_.limits.max_handshakes = 1;
  options_.limits.header_timeout = 300ms;
  options_.limits.crowded_timeout = 300ms;
  Start();
  // Each holds the place for its whole time, so the last one waits for longer than that.
  const auto flood = Flood(5, kHelloBegins);
  ASSERT_TRUE(AwaitConnections(5));
  ExpectServed();
}

TEST_F(Limits, StormFromOneAddressIsServedInFull) {
  options_.limits.max_handshakes = 2;
  Start();
  std::atomic<int> served{0};
  std::vector<std::thread> clients;
  for (int i = 0; i < 30; ++i) {
    clients.emplace_back([&] {
      auto response = Client(true).Call(Get("/"));
      if (response && response->status == 200) ++served;
    });
  }
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(served, 30);
}

TEST_F(Limits, SilentConnectionsGiveWayWhenAllAreTaken) {
  options_.limits.max_connections = 10;
  LetNewcomersStay();
  Start();
  const auto flood = Flood(200, "");
  ExpectServed();
  EXPECT_EQ(flood.front()->ReadAll(), "");  // the oldest was closed
}

TEST_F(Limits, WaitingConnectionsGiveWayToOtherAddressesWhenAllAreTaken) {
  options_.limits.max_connections = 10;
  options_.limits.max_handshakes = 4;
  options_.source_of = AddressOf;
  LetNewcomersStay();
  Start();
  const auto flood = Flood(200, kHelloBegins, "127.0.0.2");
  ASSERT_TRUE(Eventually([this] { return server_->Connections() >= 70; }));
  ExpectServed();
}

TEST_F(Limits, LastTenthOfConnectionsIsForCertificates) {
  options_.limits.max_connections = 10;
  int links = 0;
  handlers_.on_link = [&](std::shared_ptr<LinkConnection>) { signal_.Update([&] { ++links; }); };
  Start();
  std::vector<HttpClient> clients;
  for (int i = 0; i < 9; ++i) {
    clients.push_back(Client(true));
    ASSERT_EQ(clients.back().Call(Get("/"))->status, 200);
  }
  EXPECT_EQ(Client(true).Call(Get("/"))->status, 503);
  LoopThread loop;
  std::unique_ptr<LinkClient> link;
  loop.Do([&] {
    link = LinkClient::Connect(loop.loop(), At(true), Node(), "/api/v1/link", 20s,
                               {.on_open = [] {}, .on_frame = {}, .on_closed = [](Error) {}});
  });
  EXPECT_TRUE(signal_.Wait([&] { return links == 1; }));
  // That was the last one.
  EXPECT_EQ(HttpClient(At(true), Node(), 20s).Call(Get("/"))->status, 503);
  loop.Do([&] { link.reset(); });
}

TEST_F(Limits, LinkThatDoesNotReadIsCutOff) {
  options_.limits.max_link_unsent = 1 << 20;
  std::size_t most = 0;
  handlers_.on_link = [&](const std::shared_ptr<LinkConnection>& link) {
    SendEndlessly(*link);
    most = link->Unsent();
  };
  Start();
  LoopThread loop;
  std::unique_ptr<LinkClient> client;
  bool closed = false;
  loop.Do([&] {
    client =
        LinkClient::Connect(loop.loop(), At(true), Node(), "/api/v1/link", 20s,
                            {.on_open = [] {},
                             .on_frame = [](std::string) {},
                             .on_closed = [&](Error) { signal_.Update([&] { closed = true; }); }});
  });
  EXPECT_TRUE(signal_.Wait([&] { return links_closed_ == 1 && closed; }));
  EXPECT_LE(most, options_.limits.max_link_unsent);
  EXPECT_FALSE(warnings_.empty());
  loop.Do([&] { client.reset(); });
}

TEST_F(Limits, RefusedHandshakesAreToldWithTheirSource) {
  std::vector<std::string> refused;
  handlers_.on_refused = [&](std::string_view source, std::string_view) {
    signal_.Update([&] { refused.emplace_back(source); });
  };
  Start();
  RawClient client(port_);
  client.Send(std::string("\x16\x03\x01\x00\x05hello rubbish", 18));
  client.ReadAll();
  EXPECT_EQ(Client(true).Call(Get("/api/v1/link"))->status, 403);
  EXPECT_TRUE(signal_.Wait([&] { return refused.size() == 2; }));
  EXPECT_EQ(refused, std::vector<std::string>(2, "127.0.0.1"));
}

TEST(SourceOf, IsTheAddressAndOfIpv6TheNetwork) {
  EXPECT_EQ(SourceOf("10.0.0.7:51514"), "10.0.0.7");
  EXPECT_EQ(SourceOf("[2001:db8:1:2:aaaa::1]:80"), "2001:db8:1:2::/64");
  EXPECT_EQ(SourceOf("[2001:db8:1:2:bbbb::9]:81"), "2001:db8:1:2::/64");
  EXPECT_EQ(SourceOf("[::ffff:10.0.0.7]:80"), "10.0.0.7");
  EXPECT_EQ(SourceOf("[fe80::1%eth0]:80"), "fe80::/64");
  EXPECT_EQ(SourceOf("?"), "?");
}

TEST(ConnectionSourceOf, IsOneForLoopback) {
  EXPECT_EQ(ConnectionSourceOf("127.0.0.1:80"), "127.0.0.1");
  EXPECT_EQ(ConnectionSourceOf("127.9.0.7:80"), "127.0.0.1");
  EXPECT_EQ(ConnectionSourceOf("[::ffff:127.0.0.2]:80"), "127.0.0.1");
  EXPECT_EQ(ConnectionSourceOf("12.7.0.1:80"), "12.7.0.1");
  EXPECT_EQ(ConnectionSourceOf("[2001:db8:1:2:bbbb::9]:81"), "2001:db8:1:2::/64");
}

}  // namespace
}  // namespace muster::net
