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
  // A link that never reads what it is sent.
  static void SendEndlessly(LinkConnection& link) {
    for (int i = 0; i < 1000; ++i) link.Send(std::string(100'000, 'x'));
  }
};

TEST_F(Limits, LongUrlIsRefused) {
  options_.limits.max_url = 100;
  Start();
  RawClient client(port_);
  client.Send("GET /" + std::string(100, 'u') + " HTTP/1.1\r\nHost: x\r\n\r\n");
  std::string text = client.ReadAll();
  EXPECT_EQ(StatusLine(text), "HTTP/1.1 414 URI Too Long");
  EXPECT_TRUE(IsJsonError(text)) << text;
  RawClient fits(port_);
  fits.Send("GET /" + std::string(99, 'u') + " HTTP/1.1\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(StatusLine(fits.ReadAll()), "HTTP/1.1 200 OK");
}

TEST_F(Limits, ManyHeaderFieldsAreRefused) {
  options_.limits.max_header_fields = 10;
  Start();
  RawClient client(port_);
  std::string request = "GET / HTTP/1.1\r\n";
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
  client.Send("GET / HTTP/1.1\r\nX: " + std::string(500, 'x') + "\r\n\r\n");
  std::string text = client.ReadAll();
  EXPECT_EQ(StatusLine(text), "HTTP/1.1 431 Request Header Fields Too Large");
  EXPECT_TRUE(IsJsonError(text)) << text;
}

TEST_F(Limits, TwoLengthsAreRefused) {
  Start();
  for (std::string_view fields : {"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n",
                                  "Content-Length: 2\r\nContent-Length: 3\r\n"}) {
    RawClient client(port_);
    client.Send("POST / HTTP/1.1\r\nHost: x\r\n" + std::string(fields) + "\r\n0\r\n\r\n");
    std::string text = client.ReadAll();
    EXPECT_EQ(StatusLine(text), "HTTP/1.1 400 Bad Request") << fields;
    EXPECT_TRUE(IsJsonError(text)) << text;
  }
}

TEST_F(Limits, HeadThatTricklesInIsGivenUp) {
  options_.limits.header_timeout = 200ms;
  Start();
  RawClient client(port_);
  client.Send("GET / HTTP/1.1\r\n");
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
  client.Send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n");
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
  client.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
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
  client.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
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
  std::vector<std::unique_ptr<RawClient>> flood;
  for (int i = 0; i < 20; ++i) {
    flood.push_back(std::make_unique<RawClient>(port_));
    flood.back()->Send(std::string("\x16\x03\x01\x02", 4));  // a handshake that never goes on
  }
  ASSERT_TRUE(signal_.Wait([this] { return !warnings_.empty(); }));
  EXPECT_LE(server_loop_.Do([this] { return server_->Connections(); }), 4U);
  // With header_timeout at its 10 s, five rounds of the flood would outlast the client's patience.
  auto response = HttpClient(At(true), Trusting(), 20s).Call(Get("/"));
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->status, 200);
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

}  // namespace
}  // namespace muster::net
