#include "unit/adapters_net/fixture.hpp"

// Bodies too large for memory, both ways: streamed requests, sized answers at the reader's pace.
namespace muster::net {
namespace {

// Gives `text` in pieces of at most `most` bytes.
HttpClient::Source From(const std::string& text, std::size_t most = SIZE_MAX) {
  return [&text, most, at = std::size_t{0}](char* into, std::size_t room) mutable {
    const std::size_t size = std::min({room, most, text.size() - at});
    text.copy(into, size, at);
    at += size;
    return Result<std::size_t>(size);
  };
}

std::string Pattern(std::size_t size) {
  std::string text(size, '\0');
  for (std::size_t i = 0; i < size; ++i) text[i] = static_cast<char>(i * 31 + i / 977);
  return text;
}

// PUT bodies come in pieces; what came is kept, and answered with its length.
class HttpUpload : public NetTest {
 protected:
  HttpUpload() {
    handlers_.streams_body = [](std::string_view method, std::string_view target) {
      return method == "PUT" && target.starts_with("/files/");
    };
    handlers_.on_http = [this](HttpRequest request, std::shared_ptr<HttpExchange> exchange) {
      if (request.target == "/files/refused") return exchange->Respond({403, {}, "no"});
      if (request.method != "PUT") return exchange->Respond({200, {}, request.body});
      if (request.target == "/files/held") {
        return signal_.Update([&] { held_ = std::move(exchange); });
      }
      Take(std::move(exchange));
    };
  }
  ~HttpUpload() override { held_.reset(); }

  void Take(std::shared_ptr<HttpExchange> exchange) {
    auto* asked = exchange.get();
    asked->ReadBody([this, exchange = std::move(exchange)](BodyPiece piece) {
      signal_.Update([&] {
        largest_ = std::max(largest_, piece.data.size());
        got_ += piece.data;
      });
      if (!piece.last) return Take(exchange);
      exchange->Respond({201, {}, std::to_string(got_.size())});
    });
  }
  static HttpRequest Put(std::string target) {
    return {.method = "PUT", .target = std::move(target)};
  }

  std::string got_;
  std::size_t largest_ = 0;
  std::shared_ptr<HttpExchange> held_;
};

TEST_F(HttpUpload, HandsOverALargeBodyInPieces) {
  options_.limits.max_body = 1000;  // not for streamed ones
  Start();
  const std::string body = Pattern(3'000'001);
  for (const bool tls : {false, true}) {
    got_.clear();
    HttpClient client = Client(tls);
    const auto response = client.Upload(Put("/files/a"), body.size(), From(body, 70'000));
    ASSERT_TRUE(response) << response.error().message;
    EXPECT_EQ(response->status, 201);
    EXPECT_EQ(response->body, std::to_string(body.size()));
    EXPECT_TRUE(got_ == body);
    EXPECT_LE(largest_, 256U * 1024);
    const auto next = client.Call(Post("/", "and on it goes"));
    ASSERT_TRUE(next) << next.error().message;
    EXPECT_EQ(next->body, "and on it goes");
    EXPECT_TRUE(AwaitConnections(1)) << "the connection is kept";
  }
}

TEST_F(HttpUpload, TakesAnEmptyBody) {
  Start();
  const auto response = Client(true).Upload(Put("/files/a"), 0, From(""));
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->body, "0");
}

TEST_F(HttpUpload, LimitsOtherBodiesAsBefore) {
  options_.limits.max_body = 1000;
  Start();
  const std::string body = Pattern(2000);
  const auto response = Client(true).Upload(Put("/other"), body.size(), From(body));
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->status, 413);
  RawClient chunked(port_);
  chunked.Send(
      "PUT /other HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n7d0\r\n" + body +
      "\r\n");
  EXPECT_TRUE(chunked.ReadAll().starts_with("HTTP/1.1 413"));
}

TEST_F(HttpUpload, NeedsALength) {
  Start();
  RawClient client(port_);
  client.Send("PUT /files/a HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n");
  EXPECT_TRUE(client.ReadAll().starts_with("HTTP/1.1 411"));
}

TEST_F(HttpUpload, ARefusalReachesAClientThatStillSends) {
  Start();
  const std::string body = Pattern(20'000'000);
  std::size_t asked_for = 0;
  const auto whole = From(body);
  const auto response =
      Client(true).Upload(Put("/files/refused"), body.size(), [&](char* into, std::size_t room) {
        auto got = whole(into, room);
        asked_for += *got;
        return got;
      });
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->status, 403);
  EXPECT_EQ(response->body, "no");
  EXPECT_LT(asked_for, body.size());
}

TEST_F(HttpUpload, ReadsNoMoreThanWasAskedFor) {
  Start();
  const std::string body = Pattern(40'000'000);
  std::size_t sent = 0;
  const auto whole = From(body);
  HttpClient client(At(true), Trusting(), 300ms);
  const auto response =
      client.Upload(Put("/files/held"), body.size(), [&](char* into, std::size_t room) {
        auto got = whole(into, room);
        sent += *got;
        return got;
      });
  ASSERT_FALSE(response);  // it gives up, as nobody takes anything
  EXPECT_EQ(response.error().code, ErrorCode::kTimeout);
  EXPECT_LT(sent, body.size());
}

TEST_F(HttpUpload, SaysContinueOnlyWhenTheBodyIsWanted) {
  Start();
  RawClient client(port_);
  client.Send(
      "PUT /files/held HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nExpect: "
      "100-continue\r\n\r\n");
  ASSERT_TRUE(signal_.Wait([&] { return held_ != nullptr; }));
  Take(held_);
  EXPECT_EQ(client.ReadUntil("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  client.Send("hello");
  EXPECT_TRUE(client.ReadUntil("\r\n\r\n5").starts_with("HTTP/1.1 201"));
  RawClient refused(port_);
  refused.Send(
      "PUT /files/refused HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nExpect: "
      "100-continue\r\n\r\n");
  EXPECT_TRUE(refused.ReadAll().starts_with("HTTP/1.1 403"));
}

TEST_F(HttpUpload, DropsWhoeverWaitsWhenTheClientGoes) {
  Start();
  auto witness = std::make_shared<int>();
  {
    RawClient client(port_);
    client.Send("PUT /files/held HTTP/1.1\r\nHost: localhost\r\nContent-Length: 500\r\n\r\nhalf");
    ASSERT_TRUE(signal_.Wait([&] { return held_ != nullptr; }));
    held_->ReadBody([witness](BodyPiece) { ADD_FAILURE() << "it never came whole"; });
  }
  EXPECT_TRUE(AwaitConnections(0));
  held_.reset();
  EXPECT_EQ(server_loop_.Do([&] { return witness.use_count(); }), 1);
}

TEST_F(HttpUpload, ClosesWhenTheBodyStalls) {
  options_.limits.body_timeout = 50ms;
  Start();
  RawClient client(port_);
  client.Send("PUT /files/a HTTP/1.1\r\nHost: localhost\r\nContent-Length: 500\r\n\r\nhalf");
  EXPECT_EQ(client.ReadAll(), "");
}

TEST_F(HttpUpload, KnowsARequestThatCameWhileAnotherWasAnswered) {
  Start();
  RawClient client(port_);
  client.Send("PUT /files/held HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n");
  ASSERT_TRUE(signal_.Wait([&] { return held_ != nullptr; }));
  client.Send("GET /second HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\ntwo");
  for (int round = 0; round < 5; ++round) server_loop_.Do([] {});  // it is read meanwhile
  held_->Respond({200, {}, "first"});
  client.ReadUntil("two");
  client.Send("GET /third HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nthree");
  EXPECT_TRUE(client.ReadUntil("three").ends_with("three"));
}

// Answers with a file of 5 MB, read as the client takes it.
class HttpDownload : public NetTest {
 protected:
  HttpDownload() {
    handlers_.on_http = [this](HttpRequest request, std::shared_ptr<HttpExchange> exchange) {
      const std::size_t promised = file_.size() + (request.target == "/short" ? 1 : 0);
      exchange->BeginSized(206, {{"Content-Range", "bytes 0-4/5"}}, promised);
      Give(std::move(exchange), 0);
    };
  }
  void Give(std::shared_ptr<HttpExchange> exchange, std::size_t at) {
    auto* asked = exchange.get();
    asked->OnRoom(kPiece, [this, exchange = std::move(exchange), at] {
      most_unsent_ = std::max<std::size_t>(most_unsent_, exchange->Unsent() + kPiece);
      exchange->Write(file_.substr(at, kPiece));
      if (at + kPiece >= file_.size()) return exchange->End();
      Give(exchange, at + kPiece);
    });
  }

  static constexpr std::size_t kPiece = 100'000;
  const std::string file_ = Pattern(5'000'000);
  std::atomic<std::size_t> most_unsent_ = 0;
};

TEST_F(HttpDownload, SendsAtTheReadersPace) {
  Start();
  for (const bool tls : {false, true}) {
    HttpClient client = Client(tls);
    std::string got;
    const auto response = client.Stream(Get("/"), 20s, [&](std::string_view piece) {
      got += piece;
      return true;
    });
    ASSERT_TRUE(response) << response.error().message;
    EXPECT_EQ(response->status, 206);
    EXPECT_EQ(FindHeader(response->headers, "Content-Length"), std::to_string(file_.size()));
    EXPECT_TRUE(got == file_);
    EXPECT_LT(most_unsent_, 2 * kPiece);
    EXPECT_TRUE(client.Call(Get("/")));
    EXPECT_TRUE(AwaitConnections(1)) << "the connection is kept";
  }
}

TEST_F(HttpDownload, TellsHeadTheLengthOnly) {
  Start();
  HttpClient client = Client(true);
  HttpRequest request = Get("/");
  request.method = "HEAD";
  for (int i = 0; i < 2; ++i) {
    const auto response = client.Call(request);
    ASSERT_TRUE(response) << response.error().message;
    EXPECT_EQ(FindHeader(response->headers, "Content-Length"), std::to_string(file_.size()));
    EXPECT_EQ(response->body, "");
  }
}

TEST_F(HttpDownload, BreaksOffWhenItEndsTooSoon) {
  Start();
  const auto response =
      Client(true).Stream(Get("/short"), 20s, [](std::string_view) { return true; });
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().code, ErrorCode::kTimeout);
}

}  // namespace
}  // namespace muster::net
