#include "unit/adapters_net/forward_fixture.hpp"

// Bodies without an end, or too long for memory, through a server that passes them on.
namespace muster::net {
namespace {

std::string Pattern(std::size_t at, std::size_t size) {
  std::string text(size, '\0');
  for (std::size_t i = 0; i < size; ++i) {
    text[i] = static_cast<char>((at + i) * 31 + (at + i) / 977);
  }
  return text;
}

// Keeps the exchange of the one stream a test opens at the far end.
class ForwardStream : public ForwardTest {
 protected:
  ForwardStream() {
    handlers_.on_http = [this](HttpRequest, std::shared_ptr<HttpExchange> exchange) {
      exchange->BeginStream(200, {{"Content-Type", "text/event-stream"}});
      signal_.Update([&] { far_ = std::move(exchange); });
    };
  }
  ~ForwardStream() override { far_.reset(); }

  bool AwaitFar() {
    return signal_.Wait([this] { return far_ != nullptr; });
  }

  std::shared_ptr<HttpExchange> far_;
};

TEST_F(ForwardStream, PassesEventsOnAtOnce) {
  StartBoth();
  std::string got;
  auto reading = std::async(std::launch::async, [&] {
    return FrontClient().Stream(Get("/"), 20s, [&](std::string_view piece) {
      signal_.Update([&] { got += piece; });
      return true;
    });
  });
  ASSERT_TRUE(AwaitFar());
  std::string sent;
  for (int i = 0; i < 20; ++i) {
    // The next is only written when this one has arrived, so none can wait for another.
    const std::string event = "data: " + std::to_string(i) + "\n\n";
    sent += event;
    far_->Write(event);
    ASSERT_TRUE(signal_.Wait([&] { return got == sent; })) << got;
  }
  far_->End();
  const auto response = reading.get();
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->status, 200);
  EXPECT_EQ(FindHeader(response->headers, "Content-Type"), "text/event-stream");
}

TEST_F(ForwardStream, TheHeadComesBeforeTheFirstEvent) {
  StartBoth();
  RawClient client(front_port_);
  client.Send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_NE(client.ReadUntil("\r\n\r\n").find("text/event-stream"), std::string::npos);
}

TEST_F(ForwardStream, ReusesTheConnectionAfterItsEnd) {
  StartBoth();
  HttpClient client = FrontClient();
  for (int i = 0; i < 3; ++i) {
    signal_.Update([&] { far_.reset(); });
    auto ending = std::async(std::launch::async, [&] {
      ASSERT_TRUE(AwaitFar());
      far_->Write("x");
      far_->End();
    });
    ASSERT_TRUE(client.Stream(Get("/"), 20s, [](std::string_view) { return true; }));
    ending.get();
  }
  EXPECT_TRUE(AwaitConnections(1));
}

TEST_F(ForwardStream, TellsTheOtherServerThatTheClientWent) {
  StartBoth();
  for (const bool tls : {false, true}) {
    signal_.Update([&] { far_.reset(); });
    auto stopped = std::async(std::launch::async, [&] {
      return FrontClient(tls).Stream(Get("/"), 20s, [](std::string_view) { return false; });
    });
    ASSERT_TRUE(AwaitFar());
    far_->Write("first");
    EXPECT_TRUE(stopped.get());
    EXPECT_TRUE(Eventually([&] { return far_->Gone(); }));
  }
  EXPECT_TRUE(AwaitConnections(0));
}

TEST_F(ForwardStream, TellsItAlsoBeforeAnyAnswer) {
  handlers_.on_http = [this](HttpRequest, std::shared_ptr<HttpExchange> exchange) {
    signal_.Update([&] { far_ = std::move(exchange); });
  };
  StartBoth();
  {
    RawClient client(front_port_);
    client.Send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    ASSERT_TRUE(AwaitFar());
  }
  EXPECT_TRUE(Eventually([&] { return far_->Gone(); }));
}

TEST_F(ForwardStream, ALostServerEndsTheClientsStream) {
  StartBoth();
  std::string got;
  auto reading = std::async(std::launch::async, [&] {
    return FrontClient().Stream(Get("/"), 20s, [&](std::string_view piece) {
      signal_.Update([&] { got += piece; });
      return true;
    });
  });
  ASSERT_TRUE(AwaitFar());
  far_->Write("half of it");
  ASSERT_TRUE(signal_.Wait([&] { return got == "half of it"; }));
  Stop();
  const auto response = reading.get();
  ASSERT_FALSE(response) << "it must not look complete";
  EXPECT_EQ(response.error().code, ErrorCode::kTimeout);
}

TEST_F(ForwardStream, SilenceEndsTheClientsStreamToo) {
  Start();
  StartFront({.to = At(true), .identity = Node(), .silence = 50ms});
  const auto response = FrontClient().Stream(Get("/"), 20s, [](std::string_view) { return true; });
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().code, ErrorCode::kTimeout);
  EXPECT_TRUE(Eventually([&] { return far_ && far_->Gone(); }));
}

TEST_F(ForwardStream, TheForwardersEndEndsStreams) {
  StartBoth();
  bool begun = false;
  auto reading = std::async(std::launch::async, [&] {
    return FrontClient().Stream(Get("/"), 20s, [&](std::string_view) {
      signal_.Update([&] { begun = true; });
      return true;
    });
  });
  ASSERT_TRUE(AwaitFar());
  far_->Write("begun");
  ASSERT_TRUE(signal_.Wait([&] { return begun; }));
  EndForwarder();
  EXPECT_FALSE(reading.get());
}

constexpr std::size_t kFile = 50 << 20;
constexpr std::size_t kPiece = 128 * 1024;

// The far end gives a file of 50 MB (as a sized answer, or in chunks), and takes one; it remembers
// how far each side got.
class ForwardFiles : public ForwardTest {
 protected:
  ForwardFiles() {
    const auto streams = [](std::string_view method, std::string_view) { return method == "PUT"; };
    handlers_.streams_body = streams;
    front_handlers_.streams_body = streams;
    handlers_.on_http = [this](HttpRequest request, std::shared_ptr<HttpExchange> exchange) {
      if (request.target == "/refused") return exchange->Respond({403, {}, "no"});
      if (request.method == "PUT") return Take(std::move(exchange));
      if (request.target == "/chunks") {
        exchange->BeginStream(200, {});
      } else {
        range_ = FindHeader(request.headers, "Range");
        exchange->BeginSized(206, {{"Content-Range", "bytes 0-1/2"}}, kFile);
      }
      Give(std::move(exchange), 0);
    };
  }

  void Give(std::shared_ptr<HttpExchange> exchange, std::size_t at) {
    auto* asked = exchange.get();
    asked->OnRoom(kPiece, [this, exchange = std::move(exchange), at] {
      exchange->Write(Pattern(at, kPiece));
      given_ = at + kPiece;
      if (given_ == kFile) return exchange->End();
      Give(exchange, given_);
    });
  }
  void Take(std::shared_ptr<HttpExchange> exchange) {
    auto* asked = exchange.get();
    asked->ReadBody([this, exchange = std::move(exchange)](BodyPiece piece) {
      if (piece.data != Pattern(taken_, piece.data.size())) same_ = false;
      taken_ += piece.data.size();
      if (!piece.last) return Take(exchange);
      exchange->Respond({201, {}, std::to_string(taken_)});
    });
  }
  static HttpRequest Put(std::string target) {
    return {.method = "PUT", .target = std::move(target)};
  }

  std::atomic<std::size_t> given_ = 0;
  std::atomic<std::size_t> taken_ = 0;
  std::atomic<bool> same_ = true;
  std::string range_;
};

TEST_F(ForwardFiles, PassesALongAnswerAtTheReadersPace) {
  StartBoth();
  for (const char* target : {"/sized", "/chunks"}) {
    given_ = 0;
    std::size_t got = 0;
    bool same = true;
    std::size_t furthest = 0;
    HttpRequest request = Get(target);
    request.headers = {{"Range", "bytes=0-1"}};
    const auto response = FrontClient().Stream(request, 20s, [&](std::string_view piece) {
      furthest = std::max(furthest, given_ - got);
      same = same && piece == Pattern(got, piece.size());
      got += piece.size();
      return true;
    });
    ASSERT_TRUE(response) << response.error().message;
    EXPECT_EQ(got, kFile);
    EXPECT_TRUE(same);
    EXPECT_LT(furthest, kFile / 2) << "it does not run ahead of the reader";
  }
  EXPECT_EQ(range_, "bytes=0-1");
}

TEST_F(ForwardFiles, HoldsLittleForAReaderThatWaits) {
  front_options_.limits.max_stream_unsent = 1 << 20;  // more at once would cut the client off
  StartBoth();
  bool may_read = false;
  std::size_t got = 0;
  auto reading = std::async(std::launch::async, [&] {
    return FrontClient().Stream(Get("/sized"), 20s, [&](std::string_view piece) {
      signal_.Wait([&] { return may_read; });
      got += piece.size();
      return true;
    });
  });
  // The far end comes to a halt long before the file's end: what is held on the way is bounded.
  std::size_t before = 0;
  ASSERT_TRUE(Eventually([&] {
    const std::size_t now = given_;
    poll(nullptr, 0, 100);
    return now > 0 && now == given_ && now == std::exchange(before, now);
  }));
  EXPECT_LT(given_, kFile / 2);
  signal_.Update([&] { may_read = true; });
  const auto response = reading.get();
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(got, kFile);
}

TEST_F(ForwardFiles, PassesALongUploadInPieces) {
  front_options_.limits.max_body = 1000;  // not for streamed ones
  StartBoth();
  std::size_t sent = 0;
  std::size_t furthest = 0;
  const auto response =
      FrontClient().Upload(Put("/file"), kFile, [&](char* into, std::size_t room) {
        furthest = std::max(furthest, sent - std::min<std::size_t>(sent, taken_));
        const std::string piece = Pattern(sent, std::min(room, kFile - sent));
        piece.copy(into, piece.size());
        sent += piece.size();
        return Result<std::size_t>(piece.size());
      });
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->status, 201);
  EXPECT_EQ(response->body, std::to_string(kFile));
  EXPECT_TRUE(same_);
  EXPECT_LT(furthest, kFile / 2) << "no more is taken from the client than goes on";
}

TEST_F(ForwardFiles, ServesExchangesOfAnotherLoop) {
  apart_ = true;
  StartBoth();
  HttpClient client = FrontClient();
  std::size_t sent = 0;
  const auto put = client.Upload(Put("/file"), kFile, [&](char* into, std::size_t room) {
    const std::string piece = Pattern(sent, std::min(room, kFile - sent));
    piece.copy(into, piece.size());
    sent += piece.size();
    return Result<std::size_t>(piece.size());
  });
  ASSERT_TRUE(put) << put.error().message;
  EXPECT_EQ(put->body, std::to_string(kFile));
  EXPECT_TRUE(same_);
  std::size_t got = 0;
  const auto get = client.Stream(Get("/chunks"), 20s, [&](std::string_view piece) {
    got += piece.size();
    return true;
  });
  ASSERT_TRUE(get) << get.error().message;
  EXPECT_EQ(got, kFile);
  // And one that leaves in the middle.
  EXPECT_TRUE(client.Stream(Get("/sized"), 20s, [](std::string_view) { return false; }));
  EXPECT_TRUE(
      Eventually([&] { return ForwardLoop().Do([&] { return forwarder_->Connections() <= 1; }); }));
}

TEST_F(ForwardFiles, PassesAShortOrEmptyUpload) {
  StartBoth();
  HttpClient client = FrontClient();
  for (const std::size_t size : {0, 1, 1000}) {
    taken_ = 0;
    const std::string body = Pattern(0, size);
    const auto response = client.Upload(Put("/file"), size, [&](char* into, std::size_t room) {
      return Result<std::size_t>(body.copy(into, room));
    });
    ASSERT_TRUE(response) << response.error().message;
    EXPECT_EQ(response->body, std::to_string(size));
  }
}

TEST_F(ForwardFiles, ARefusalReachesAClientThatStillSends) {
  StartBoth();
  std::size_t sent = 0;
  const auto response = FrontClient().Upload(Put("/refused"), kFile, [&](char*, std::size_t room) {
    const std::size_t size = std::min(room, kFile - sent);
    sent += size;
    return Result<std::size_t>(size);
  });
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->status, 403);
  EXPECT_EQ(response->body, "no");
  EXPECT_LT(sent, kFile);
  EXPECT_TRUE(AwaitConnections(0)) << "half a body is on that connection";
}

TEST_F(ForwardFiles, AClientThatGoesInTheMiddleEndsTheUpload) {
  StartBoth();
  {
    RawClient client(front_port_);
    client.Send("PUT /file HTTP/1.1\r\nHost: localhost\r\nContent-Length: 900000\r\n\r\n");
    client.Send(Pattern(0, 400'000));
    ASSERT_TRUE(Eventually([&] { return taken_ > 0; }));
  }
  EXPECT_TRUE(AwaitConnections(0));
}

TEST_F(ForwardFiles, SaysContinueWhenTheBodyIsWanted) {
  StartBoth();
  RawClient client(front_port_);
  client.Send(
      "PUT /file HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(client.ReadUntil("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  client.Send(Pattern(0, 5));
  EXPECT_TRUE(client.ReadUntil("\r\n\r\n5").starts_with("HTTP/1.1 201"));
}

}  // namespace
}  // namespace muster::net
