#include "unit/adapters_net/forward_fixture.hpp"

namespace muster::net {
namespace {

class Forward : public ForwardTest {};

TEST_F(Forward, CarriesRequestAndAnswer) {
  HttpRequest seen;
  handlers_.on_http = [&](HttpRequest request, std::shared_ptr<HttpExchange> exchange) {
    seen = request;
    exchange->Respond({201, {{"X-Theirs", "a"}, {"X-Theirs", "b"}}, request.body + "!"});
  };
  StartBoth();
  HttpRequest request = Post("/a/b?c=%20d", "hello");
  request.headers = {{"X-Mine", "1"}, {"Host", "outside:1"}, {"Authorization", "Bearer t"}};
  const auto response = CallFront(request);
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->status, 201);
  EXPECT_EQ(response->body, "hello!");
  EXPECT_EQ(
      std::ranges::count(response->headers, std::pair<std::string, std::string>("X-Theirs", "a")),
      1);
  EXPECT_EQ(
      std::ranges::count(response->headers, std::pair<std::string, std::string>("X-Theirs", "b")),
      1);
  EXPECT_EQ(seen.method, "POST");
  EXPECT_EQ(seen.target, "/a/b?c=%20d");
  EXPECT_EQ(seen.body, "hello");
  EXPECT_EQ(FindHeader(seen.headers, "x-mine"), "1");
  EXPECT_EQ(FindHeader(seen.headers, "host"), "outside:1");
  EXPECT_EQ(FindHeader(seen.headers, "authorization"), "Bearer t");
  EXPECT_EQ(seen.peer_key, crypto::KeyIdOfCert(certificates_.node_cert)) << "it shows who it is";
}

TEST_F(Forward, LeavesOutHeadersOfOneConnection) {
  HttpRequest seen;
  handlers_.on_http = [&](HttpRequest request, std::shared_ptr<HttpExchange> exchange) {
    seen = request;
    exchange->Respond({200, {{"Keep-Alive", "timeout=5"}, {"Upgrade", "h2c"}, {"X-Ok", "1"}}, ""});
  };
  StartBoth();
  RawClient client(front_port_);
  client.Send(
      "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close, X-Hop\r\nX-Hop: 1\r\nX-Far: "
      "2\r\nTE: "
      "trailers\r\nUpgrade: websocket\r\nProxy-Authorization: x\r\n\r\n");
  const std::string text = client.ReadAll();
  EXPECT_TRUE(text.starts_with("HTTP/1.1 200")) << text;
  EXPECT_EQ(text.find("timeout=5"), std::string::npos) << text;
  EXPECT_EQ(text.find("h2c"), std::string::npos) << text;
  EXPECT_NE(text.find("X-Ok: 1"), std::string::npos) << text;
  EXPECT_EQ(FindHeader(seen.headers, "X-Far"), "2");
  for (const char* name : {"X-Hop", "TE", "Upgrade", "Proxy-Authorization", "Connection"}) {
    EXPECT_EQ(FindHeader(seen.headers, name), "") << name;
  }
}

TEST_F(Forward, AddsItsOwnHeadersOverTheClients) {
  HttpRequest seen;
  handlers_.on_http = [&](HttpRequest request, std::shared_ptr<HttpExchange> exchange) {
    seen = request;
    exchange->Respond({200, {}, ""});
  };
  more_ = {{"X-Caller", "ann"}};
  StartBoth();
  HttpRequest request = Get("/");
  request.headers = {{"x-caller", "admin"}, {"X-CALLER", "root"}};
  ASSERT_TRUE(CallFront(request));
  EXPECT_EQ(std::ranges::count_if(seen.headers,
                                  [](const auto& header) {
                                    return header.first == "X-Caller" ||
                                           header.first == "x-caller" || header.first == "X-CALLER";
                                  }),
            1);
  EXPECT_EQ(FindHeader(seen.headers, "X-Caller"), "ann");
}

TEST_F(Forward, KeepsItsConnection) {
  StartBoth();
  for (int i = 0; i < 5; ++i) {
    const auto response = CallFront(Post("/", std::to_string(i)));
    ASSERT_TRUE(response) << response.error().message;
    EXPECT_EQ(response->body, "POST" + std::to_string(i));
  }
  EXPECT_TRUE(AwaitConnections(1));
}

TEST_F(Forward, CarriesManyAtOnceWithinItsLimit) {
  std::atomic<int> together = 0;
  std::atomic<int> most = 0;
  std::vector<std::shared_ptr<HttpExchange>> held;
  handlers_.on_http = [&](HttpRequest request, std::shared_ptr<HttpExchange> exchange) {
    most = std::max<int>(most, ++together);
    // Answered a little later, so that others come meanwhile.
    auto answer = [&together, exchange, request] {
      --together;
      exchange->Respond({200, {}, request.target});
    };
    server_loop_.loop().After(2ms, answer);
  };
  Start();
  Forwarder::Options options{.to = At(true), .identity = Node(), .connect = 20s};
  options.most_connections = 3;
  StartFront(options);
  std::vector<std::future<void>> callers;
  for (int caller = 0; caller < 8; ++caller) {
    callers.push_back(std::async(std::launch::async, [this, caller] {
      HttpClient client = FrontClient();
      for (int i = 0; i < 10; ++i) {
        const std::string target = "/" + std::to_string(caller) + "/" + std::to_string(i);
        const auto response = client.Call(Get(target));
        ASSERT_TRUE(response) << response.error().message;
        EXPECT_EQ(response->status, 200);
        EXPECT_EQ(response->body, target);
      }
    }));
  }
  for (auto& caller : callers) caller.get();
  EXPECT_LE(most, 3);
  EXPECT_GT(most, 1);
}

TEST_F(Forward, SaysSoWhenAllConnectionsAreTaken) {
  std::shared_ptr<HttpExchange> held;
  handlers_.on_http = [&](HttpRequest, std::shared_ptr<HttpExchange> exchange) {
    signal_.Update([&] { held = std::move(exchange); });
  };
  Start();
  Forwarder::Options options{.to = At(true), .identity = Node(), .connect = 50ms};
  options.most_connections = 1;
  StartFront(options);
  auto first = std::async(std::launch::async, [&] { return CallFront(Get("/1")); });
  ASSERT_TRUE(signal_.Wait([&] { return held != nullptr; }));
  const auto second = CallFront(Get("/2"));
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_EQ(second->status, 503);
  held->Respond({200, {}, "first"});
  EXPECT_EQ(first.get()->body, "first");
  held.reset();
}

TEST_F(Forward, AnswersWithoutBodies) {
  handlers_.on_http = [](HttpRequest request, std::shared_ptr<HttpExchange> exchange) {
    if (request.target == "/304") return exchange->Respond({304, {{"ETag", "\"x\""}}, ""});
    if (request.target == "/empty") return exchange->Respond({200, {}, ""});
    exchange->Respond({204, {}, ""});
  };
  StartBoth();
  HttpClient client = FrontClient();
  for (int round = 0; round < 2; ++round) {
    for (const auto& [target, status] :
         {std::pair{"/204", 204}, std::pair{"/304", 304}, std::pair{"/empty", 200}}) {
      const auto response = client.Call(Get(target));
      ASSERT_TRUE(response) << response.error().message;
      EXPECT_EQ(response->status, status);
      EXPECT_EQ(response->body, "");
      if (status == 304) EXPECT_EQ(FindHeader(response->headers, "ETag"), "\"x\"");
    }
  }
  EXPECT_TRUE(AwaitConnections(1));
}

TEST_F(Forward, AnswersHeadWithTheLengthAlone) {
  handlers_.on_http = [](HttpRequest request, std::shared_ptr<HttpExchange> exchange) {
    if (request.target == "/stream") {
      exchange->BeginStream(200, {});
      exchange->Write("never shown");
      return exchange->End();
    }
    exchange->Respond({200, {}, std::string(request.target == "/long" ? 100'000 : 11, 'x')});
  };
  StartBoth();
  HttpClient client = FrontClient();
  for (const auto& [target, length] :
       {std::pair{"/", "11"}, std::pair{"/long", "100000"}, std::pair{"/stream", ""}}) {
    HttpRequest request = Get(target);
    request.method = "HEAD";
    const auto response = client.Call(request);
    ASSERT_TRUE(response) << response.error().message;
    EXPECT_EQ(FindHeader(response->headers, "Content-Length"), length);
    EXPECT_EQ(response->body, "");
  }
  EXPECT_TRUE(AwaitConnections(1)) << "the connection is kept";
}

TEST_F(Forward, SaysUnavailableWhenNobodyListens) {
  Start();
  const Endpoint nobody = At(true);
  Stop();
  StartFront({.to = nobody, .identity = Node()});
  const auto response = CallFront(Post("/", "x"));
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->status, 503);
  EXPECT_NE(response->body.find(R"({"error":{"code":"unavailable")"), std::string::npos);
  EXPECT_NE(response->body.find("https://127.0.0.1:" + nobody.port), std::string::npos);
  EXPECT_EQ(FindHeader(response->headers, "Retry-After"), "1");
}

TEST_F(Forward, SaysUnavailableWhenTheCertificateIsNotTheOthers) {
  Start();
  const auto stranger = *crypto::MakeCa("another CA", 24h);
  StartFront({.to = At(true), .identity = {.ca_pem = stranger.cert_pem}});
  const auto response = CallFront(Get("/"));
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->status, 503);
}

TEST_F(Forward, UsesANewIdentityForNewConnections) {
  Start();
  const auto stranger = *crypto::MakeCa("another CA", 24h);
  StartFront({.to = At(true), .identity = {.ca_pem = stranger.cert_pem}});
  EXPECT_EQ(CallFront(Get("/"))->status, 503);
  front_loop_.Do([&] { forwarder_->UseIdentity(Node()); });
  EXPECT_EQ(CallFront(Get("/"))->status, 200);
}

TEST_F(Forward, EndsWhatIsUnderWayWhenItGoes) {
  std::shared_ptr<HttpExchange> held;
  handlers_.on_http = [&](HttpRequest, std::shared_ptr<HttpExchange> exchange) {
    signal_.Update([&] { held = std::move(exchange); });
  };
  StartBoth();
  auto calling = std::async(std::launch::async, [&] { return CallFront(Post("/", "x")); });
  ASSERT_TRUE(signal_.Wait([&] { return held != nullptr; }));
  EndForwarder();
  const auto response = calling.get();
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->status, 504);
  EXPECT_TRUE(AwaitConnections(0));
  held.reset();
}

TEST_F(Forward, ClosesConnectionsThatNobodyNeeds) {
  Start();
  StartFront({.to = At(true), .identity = Node(), .idle = 20ms});
  ASSERT_TRUE(CallFront(Get("/")));
  EXPECT_TRUE(AwaitConnections(0));
  EXPECT_TRUE(CallFront(Get("/")));
}

}  // namespace
}  // namespace muster::net
