#include "unit/adapters_net/fixture.hpp"

namespace muster::net {
namespace {

// Keeps the exchange of the one stream a test opens.
class HttpStream : public NetTest {
 protected:
  HttpStream() {
    handlers_.on_http = [this](HttpRequest, std::shared_ptr<HttpExchange> exchange) {
      exchange->BeginStream(200, {{"Content-Type", "text/event-stream"}});
      signal_.Update([&] { exchange_ = std::move(exchange); });
    };
  }
  ~HttpStream() override { exchange_.reset(); }

  bool AwaitExchange() {
    return signal_.Wait([this] { return exchange_ != nullptr; });
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

  std::shared_ptr<HttpExchange> exchange_;
};

TEST_F(HttpStream, HandsOverPiecesAsTheyCome) {
  Start();
  for (bool tls : {false, true}) {
    exchange_.reset();
    std::string got;
    auto reading = std::async(std::launch::async, [&] {
      return Client(tls).Stream(Get("/"), 20s, [&](std::string_view piece) {
        signal_.Update([&] { got += piece; });
        return true;
      });
    });
    ASSERT_TRUE(AwaitExchange());
    exchange_->Write("one");
    ASSERT_TRUE(signal_.Wait([&] { return got == "one"; }));
    exchange_->Write(" two");
    ASSERT_TRUE(signal_.Wait([&] { return got == "one two"; }));
    exchange_->End();
    auto response = reading.get();
    ASSERT_TRUE(response) << response.error().message;
    EXPECT_EQ(response->status, 200);
    EXPECT_EQ(response->body, "");
  }
}

TEST_F(HttpStream, EndsAtOnceWhenAborted) {
  Start();
  for (bool tls : {false, true}) {
    exchange_.reset();
    auto client = Client(tls);
    auto reading = std::async(std::launch::async, [&] {
      return client.Stream(Get("/"), 1h, [](std::string_view) { return true; });
    });
    ASSERT_TRUE(AwaitExchange());
    client.Abort();
    ASSERT_EQ(reading.wait_for(kPatience), std::future_status::ready);
    auto response = reading.get();
    ASSERT_FALSE(response);
    EXPECT_EQ(response.error().code, ErrorCode::kTimeout);
    EXPECT_FALSE(client.Call(Get("/")));
  }
}

TEST_F(HttpStream, WaitsForASlowReaderAndLosesNothing) {
  options_.limits.max_stream_unsent = 64 << 20;
  Start();
  constexpr std::size_t kPieces = 400;
  const std::string piece(64 * 1024, 'p');
  bool may_read = false;
  std::size_t got = 0;
  auto reading = std::async(std::launch::async, [&] {
    return Client(true).Stream(Get("/"), 20s, [&](std::string_view data) {
      signal_.Wait([&] { return may_read; });
      got += data.size();
      return true;
    });
  });
  ASSERT_TRUE(AwaitExchange());
  for (std::size_t i = 0; i < kPieces; ++i) exchange_->Write(piece);
  EXPECT_GT(exchange_->Unsent(), 0U);  // far more than the socket takes
  signal_.Update([&] { may_read = true; });
  ASSERT_TRUE(Eventually([&] { return exchange_->Unsent() == 0; }));
  exchange_->End();
  auto response = reading.get();
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(got, kPieces * piece.size());
}

TEST_F(HttpStream, TellsWhenTheClientGoesAway) {
  Start();
  for (bool tls : {false, true}) {
    exchange_.reset();
    auto stopped = std::async(std::launch::async, [&] {
      return Client(tls).Stream(Get("/"), 20s, [](std::string_view) { return false; });
    });
    ASSERT_TRUE(AwaitExchange());
    bool gone = false;
    exchange_->OnGone([&] { signal_.Update([&] { gone = true; }); });
    EXPECT_FALSE(exchange_->Gone());
    exchange_->Write("first");
    EXPECT_TRUE(stopped.get());
    EXPECT_TRUE(signal_.Wait([&] { return gone; }));
    EXPECT_TRUE(exchange_->Gone());
    exchange_->Write("into the void");
    exchange_->End();
  }
}

TEST_F(HttpStream, TellsALateListenerToo) {
  Start();
  {
    RawClient client(port_);
    client.Send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    client.ReadUntil("\r\n\r\n");
  }
  ASSERT_TRUE(AwaitExchange());
  ASSERT_TRUE(Eventually([&] { return exchange_->Gone(); }));
  bool gone = false;
  exchange_->OnGone([&] { signal_.Update([&] { gone = true; }); });
  EXPECT_TRUE(signal_.Wait([&] { return gone; }));
}

TEST_F(HttpStream, BreaksOffWhenNobodyCanEndIt) {
  Start();
  auto reading = std::async(std::launch::async, [&] {
    return Client(true).Stream(Get("/"), 20s, [](std::string_view) { return true; });
  });
  ASSERT_TRUE(AwaitExchange());
  exchange_->Write("half of it");
  signal_.Update([&] { exchange_.reset(); });
  auto response = reading.get();
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().code, ErrorCode::kTimeout);
}

TEST_F(HttpStream, KeepsTheConnectionAfterItsEnd) {
  Start();
  HttpClient client = Client(true);
  for (int i = 0; i < 2; ++i) {
    signal_.Update([&] { exchange_.reset(); });
    auto ending = std::async(std::launch::async, [&] {
      ASSERT_TRUE(AwaitExchange());
      exchange_->Write("x");
      exchange_->End();
    });
    std::string got;
    auto response = client.Stream(Get("/"), 20s, [&](std::string_view piece) {
      got += piece;
      return true;
    });
    ending.get();
    ASSERT_TRUE(response) << response.error().message;
    EXPECT_EQ(got, "x");
  }
  EXPECT_TRUE(AwaitConnections(1));
}

TEST_F(HttpStream, GoesToOldClientsWithoutChunks) {
  Start();
  RawClient client(port_);
  client.Send("GET / HTTP/1.0\r\n\r\n");
  ASSERT_TRUE(AwaitExchange());
  exchange_->Write("plain");
  exchange_->End();
  std::string text = client.ReadAll();
  EXPECT_TRUE(text.ends_with("\r\n\r\nplain")) << text;
}

TEST_F(HttpStream, StreamReturnsOtherStatusesWhole) {
  handlers_.on_http = [](HttpRequest, std::shared_ptr<HttpExchange> exchange) {
    exchange->Respond({404, {}, "none"});
  };
  Start();
  auto response = Client(true).Stream(Get("/"), 20s, [](std::string_view) {
    ADD_FAILURE() << "not the body of a 200";
    return true;
  });
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->status, 404);
  EXPECT_EQ(response->body, "none");
}

TEST_F(HttpStream, SilenceEndsInATimeout) {
  Start();
  auto response = Client(true).Stream(Get("/"), 50ms, [](std::string_view) { return true; });
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().code, ErrorCode::kTimeout);
}

}  // namespace
}  // namespace muster::net
