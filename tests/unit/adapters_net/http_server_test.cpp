#include "unit/adapters_net/fixture.hpp"

namespace muster::net {
namespace {

class HttpServer : public NetTest {};

TEST_F(HttpServer, AnswersPlainHttpOnLoopback) {
  Start();
  HttpClient client = Client(false);
  auto response = client.Call(Post("/x?y=1", "hello"));
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->status, 200);
  EXPECT_EQ(response->body, "POSThello");
}

TEST_F(HttpServer, PassesOnTargetHeadersAndRemote) {
  HttpRequest seen;
  handlers_.on_http = [&](HttpRequest request, std::shared_ptr<HttpExchange> exchange) {
    seen = std::move(request);
    exchange->Respond({204, {}, "never shown"});
  };
  Start();
  HttpRequest request = Get("/a/b?c=%20d");
  request.headers = {{"X-Mine", "1"}};
  auto response = Client(true).Call(request);
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->status, 204);
  EXPECT_EQ(response->body, "");
  EXPECT_EQ(seen.target, "/a/b?c=%20d");
  EXPECT_EQ(FindHeader(seen.headers, "x-mine"), "1");
  EXPECT_TRUE(seen.tls);
  EXPECT_TRUE(seen.remote.starts_with("127.0.0.1:")) << seen.remote;
}

TEST_F(HttpServer, KeepsTheConnectionForTheNextRequest) {
  Start();
  HttpClient client = Client(true);
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(client.Call(Get("/")));
  EXPECT_TRUE(AwaitConnections(1));
}

TEST_F(HttpServer, AnswersPipelinedRequestsOneAfterTheOther) {
  Start();
  RawClient client(port_);
  client.Send(
      "GET /1 HTTP/1.1\r\nHost: localhost\r\n\r\nPUT /2 HTTP/1.1\r\nHost: "
      "localhost\r\nContent-Length: "
      "2\r\nConnection: close\r\n\r\nok");
  std::string text = client.ReadAll();
  std::size_t first = text.find("\r\n\r\nGET");
  std::size_t second = text.find("\r\n\r\nPUTok");
  ASSERT_NE(first, std::string::npos) << text;
  ASSERT_NE(second, std::string::npos) << text;
  EXPECT_LT(first, second);
}

TEST_F(HttpServer, CarriesLargeBodiesBothWays) {
  Start();
  std::string body(4 << 20, 'x');
  for (std::size_t i = 0; i < body.size(); i += 997) body[i] = static_cast<char>('a' + i % 26);
  for (bool tls : {false, true}) {
    auto response = Client(tls).Call(Post("/", body));
    ASSERT_TRUE(response) << response.error().message;
    EXPECT_TRUE(response->body == "POST" + body);
  }
}

TEST_F(HttpServer, RefusesABodyOverTheLimitWithAnAnswer) {
  options_.limits.max_body = 1000;
  Start();
  for (bool tls : {false, true}) {
    auto response = Client(tls).Call(Post("/", std::string(3 << 20, 'x')));
    ASSERT_TRUE(response) << response.error().message;
    EXPECT_EQ(response->status, 413);
    EXPECT_NE(response->body.find(R"({"error":{"code":"invalid")"), std::string::npos);
  }
}

TEST_F(HttpServer, RefusesAChunkedBodyOverTheLimit) {
  options_.limits.max_body = 1000;
  Start();
  RawClient client(port_);
  client.Send("POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n800\r\n");
  client.Send(std::string(0x800, 'x'));
  EXPECT_TRUE(client.ReadAll().starts_with("HTTP/1.1 413 "));
}

TEST_F(HttpServer, AnswersGarbageWith400) {
  Start();
  RawClient client(port_);
  client.Send("\x01\x02 garbage\r\n\r\n");
  std::string text = client.ReadAll();
  EXPECT_TRUE(text.starts_with("HTTP/1.1 400 ")) << text;
  EXPECT_NE(text.find(R"({"error":{"code":"invalid","message":)"), std::string::npos);
}

TEST_F(HttpServer, SurvivesAGarbledTlsHandshakeAndWarns) {
  Start();
  RawClient client(port_);
  client.Send(std::string("\x16\x03\x01\x00\x05hello rubbish", 18));
  client.ReadAll();
  EXPECT_TRUE(signal_.Wait([this] { return !warnings_.empty(); }));
  EXPECT_TRUE(Client(true).Call(Get("/")));
}

TEST_F(HttpServer, RefusesAHeaderOverTheLimit) {
  Start();
  RawClient client(port_);
  client.Send("GET / HTTP/1.1\r\nHost: localhost\r\nX: " + std::string(20'000, 'x'));
  EXPECT_TRUE(client.ReadAll().starts_with("HTTP/1.1 431 "));
}

TEST_F(HttpServer, ClosesAConnectionWhoseHeaderDoesNotCome) {
  options_.limits.header_timeout = 1s;  // a first byte that is later gets no answer
  Start();
  RawClient silent(port_);
  RawClient slow(port_);
  slow.Send("GET / HT");
  EXPECT_EQ(silent.ReadAll(), "");
  EXPECT_TRUE(slow.ReadAll().starts_with("HTTP/1.1 408 "));
  slow.Close();
  EXPECT_TRUE(AwaitConnections(0));
}

TEST_F(HttpServer, ClosesAnIdleConnectionAndTheClientReconnects) {
  options_.limits.idle_timeout = 50ms;
  Start();
  HttpClient client = Client(true);
  ASSERT_TRUE(client.Call(Get("/")));
  ASSERT_TRUE(AwaitConnections(0));
  EXPECT_TRUE(client.Call(Post("/", "again")));
}

TEST_F(HttpServer, SendsContinueToThoseWhoExpectIt) {
  Start();
  RawClient client(port_);
  client.Send(
      "POST / HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
  EXPECT_EQ(client.ReadUntil("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  client.Send("ok");
  EXPECT_TRUE(client.ReadUntil("POSTok").starts_with("HTTP/1.1 200 OK"));
}

TEST_F(HttpServer, AnswersHeadWithoutABody) {
  Start();
  RawClient client(port_);
  client.Send("HEAD / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  std::string text = client.ReadAll();
  EXPECT_NE(text.find("Content-Length: 4\r\n"), std::string::npos) << text;
  EXPECT_TRUE(text.ends_with("\r\n\r\n")) << text;
}

TEST_F(HttpServer, LeavesOutHeadersThatWouldBreakTheFraming) {
  handlers_.on_http = [](HttpRequest, std::shared_ptr<HttpExchange> exchange) {
    exchange->Respond({200, {{"X-Bad", "a\r\nX-Evil: 1"}, {"Content-Length", "9"}}, "ok"});
  };
  Start();
  auto response = Client(false).Call(Get("/"));
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->body, "ok");
  EXPECT_EQ(FindHeader(response->headers, "X-Evil"), "");
}

TEST_F(HttpServer, AnswersForThoseWhoForgetTo) {
  handlers_.on_http = [](HttpRequest, std::shared_ptr<HttpExchange>) {};
  Start();
  auto response = Client(true).Call(Get("/"));
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->status, 500);
}

TEST_F(HttpServer, TurnsAnExceptionInto500AndAWarning) {
  handlers_.on_http = [](HttpRequest, std::shared_ptr<HttpExchange>) {
    throw std::runtime_error("oops");
  };
  Start();
  auto response = Client(true).Call(Get("/"));
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->status, 500);
  EXPECT_TRUE(signal_.Wait([this] { return !warnings_.empty(); }));
}

TEST_F(HttpServer, TakesAnswersFromOtherThreads) {
  std::vector<std::thread> answering;
  handlers_.on_http = [&](HttpRequest request, std::shared_ptr<HttpExchange> exchange) {
    answering.emplace_back([exchange = std::move(exchange), target = request.target] {
      exchange->Respond({200, {}, target});
    });
  };
  Start();
  std::vector<std::thread> asking;
  for (int i = 0; i < 20; ++i) {
    asking.emplace_back([this, i] {
      std::string target = "/" + std::to_string(i);
      auto response = Client(i % 2 == 0).Call(Get(target));
      ASSERT_TRUE(response) << response.error().message;
      EXPECT_EQ(response->body, target);
    });
  }
  for (auto& thread : asking) thread.join();
  for (auto& thread : answering) thread.join();
}

TEST_F(HttpServer, Answers503OverTheLimitOfConnections) {
  options_.limits.max_connections = 1;
  Start();
  HttpClient first = Client(true);
  ASSERT_TRUE(first.Call(Get("/")));
  auto second = Client(true).Call(Get("/"));
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_EQ(second->status, 503);
}

TEST_F(HttpServer, StopAcceptingAnswersWhatIsInHandAndClosesTheIdle) {
  std::shared_ptr<HttpExchange> held;
  handlers_.on_http = [&](HttpRequest request, std::shared_ptr<HttpExchange> exchange) {
    if (request.target == "/held") {
      signal_.Update([&] { held = std::move(exchange); });
    } else {
      exchange->Respond({200, {}, "ok"});
    }
  };
  Start();
  HttpClient idle = Client(true);
  ASSERT_TRUE(idle.Call(Get("/")));
  auto waiting = std::async(std::launch::async, [this] { return Client(true).Call(Get("/held")); });
  ASSERT_TRUE(signal_.Wait([&] { return held != nullptr; }));
  server_loop_.Do([this] { server_->StopAccepting(); });
  held->Respond({200, {}, "late"});
  auto response = waiting.get();
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->body, "late");
  auto refused = idle.Call(Get("/"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kUnavailable);
}

TEST_F(HttpServer, ExchangeMayOutliveServerAndLoop) {
  std::shared_ptr<HttpExchange> held;
  {
    LoopThread other;
    Signal signal;
    ServerHandlers handlers;
    handlers.on_http = [&](HttpRequest, std::shared_ptr<HttpExchange> exchange) {
      signal.Update([&] { held = std::move(exchange); });
    };
    auto server = other.Do([&] { return std::move(*Server::Listen(other.loop(), {}, handlers)); });
    RawClient client(server->Port());
    client.Send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    ASSERT_TRUE(signal.Wait([&] { return held != nullptr; }));
    other.Do([&] { server.reset(); });
  }
  EXPECT_TRUE(held->Gone());
  held->Respond({200, {}, "nobody hears"});
}

TEST_F(HttpServer, ReportsAPortThatIsTakenAndAnAddressThatIsNone) {
  Start();
  ServerOptions taken = options_;
  taken.port = port_;
  auto second = server_loop_.Do([&] { return Server::Listen(server_loop_.loop(), taken, {}); });
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::kUnavailable);
  ServerOptions wrong = options_;
  wrong.address = "nowhere";
  auto third = server_loop_.Do([&] { return Server::Listen(server_loop_.loop(), wrong, {}); });
  ASSERT_FALSE(third);
  EXPECT_EQ(third.error().code, ErrorCode::kInvalid);
  ServerOptions bad_key = options_;
  bad_key.tls.key_pem = crypto::GenerateKey();
  auto fourth = server_loop_.Do([&] { return Server::Listen(server_loop_.loop(), bad_key, {}); });
  ASSERT_FALSE(fourth);
  EXPECT_EQ(fourth.error().code, ErrorCode::kInvalid);
}

TEST_F(HttpServer, SpeaksOnlyTlsBeyondLoopback) {
  options_.address = "0.0.0.0";
  Start();
  RawClient client(port_);
  client.Send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_TRUE(client.ReadAll().starts_with("HTTP/1.1 400 "));
  EXPECT_TRUE(Client(true).Call(Get("/")));
}

}  // namespace
}  // namespace muster::net
