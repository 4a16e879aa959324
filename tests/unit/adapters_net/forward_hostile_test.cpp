#include "unit/adapters_net/forward_fixture.hpp"
#include "unit/adapters_net/raw_server.hpp"

// What a forwarder makes of a server that closes, says nothing or talks nonsense.
namespace muster::net {
namespace {

class ForwardHostile : public ForwardTest {
 protected:
  void StartRaw(Duration silence = 20s) { StartFront({.to = raw_.At(), .silence = silence}); }

  std::future<Result<HttpResponse>> Calling(HttpRequest request) {
    return std::async(std::launch::async, [this, request] { return CallFront(request); });
  }
  // A kept-alive connection that carried one request already.
  void WarmUp() {
    auto calling = Calling(Get("/warm"));
    raw_.Accept();
    raw_.ReadUntil("\r\n\r\n");
    raw_.Send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    ASSERT_EQ(calling.get()->status, 200);
  }
  // Reads the second request on it, then closes without a word.
  void DisappointNext(std::string_view end = "\r\n\r\n") {
    raw_.ReadUntil(end);
    raw_.Close();
  }
  int StatusFor(std::string_view answer, HttpRequest request = Get("/")) {
    auto calling = Calling(std::move(request));
    raw_.Accept();
    raw_.ReadUntil("\r\n\r\n");
    raw_.Send(answer);
    raw_.Close();
    const auto response = calling.get();
    return response ? response->status : 0;
  }

  RawServer raw_;
};

TEST_F(ForwardHostile, RepeatsAHarmlessRequestOnce) {
  StartRaw();
  HttpRequest keyed = Post("/", "body");
  keyed.headers = {{"Idempotency-Key", "k"}};
  HttpRequest put = Post("/", "body");
  put.method = "PUT";
  for (const HttpRequest& request : {Get("/"), keyed, put}) {
    WarmUp();
    auto calling = Calling(request);
    const std::string end = request.body.empty() ? "\r\n\r\n" : "\r\n\r\nbody";
    DisappointNext(end);
    raw_.Accept();
    EXPECT_TRUE(raw_.ReadUntil(end).starts_with(request.method));
    raw_.Send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok");
    const auto response = calling.get();
    ASSERT_TRUE(response) << response.error().message;
    EXPECT_EQ(response->status, 200);
    EXPECT_EQ(response->body, "ok");
  }
}

TEST_F(ForwardHostile, NeverRepeatsMoreThanOnce) {
  StartRaw();
  WarmUp();
  auto calling = Calling(Get("/"));
  DisappointNext();
  raw_.Accept();
  raw_.ReadUntil("\r\n\r\n");
  raw_.Close();
  EXPECT_EQ(calling.get()->status, 504);
}

TEST_F(ForwardHostile, DoesNotRepeatWhatMayHaveHappened) {
  StartRaw();
  WarmUp();
  auto post = Calling(Post("/", "body"));
  DisappointNext("\r\n\r\nbody");
  EXPECT_EQ(post.get()->status, 504);
  // Nor anything of which an answer had begun.
  WarmUp();
  auto get = Calling(Get("/"));
  raw_.ReadUntil("\r\n\r\n");
  raw_.Send("HTTP/1.1 200");
  raw_.Close();
  EXPECT_EQ(get.get()->status, 504);
}

TEST_F(ForwardHostile, NoticesAClosedConnectionBeforeItIsUsed) {
  StartRaw();
  WarmUp();
  raw_.Close();
  ASSERT_TRUE(
      Eventually([&] { return front_loop_.Do([&] { return forwarder_->Connections() == 0; }); }));
  auto calling = Calling(Post("/", "body"));
  raw_.Accept();
  raw_.ReadUntil("\r\n\r\nbody");
  raw_.Send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
  EXPECT_EQ(calling.get()->status, 200);
}

TEST_F(ForwardHostile, SaysTimeoutWhenItIsLostBeforeTheAnswerIsWhole) {
  StartRaw();
  EXPECT_EQ(StatusFor(""), 504);
  EXPECT_EQ(StatusFor("HTTP/1.1 200 OK\r\n"), 504);
  EXPECT_EQ(StatusFor("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhal"), 504);
}

TEST_F(ForwardHostile, SaysTimeoutWhenItSaysNothing) {
  StartRaw(50ms);
  auto calling = Calling(Post("/", "x"));
  raw_.Accept();
  const auto response = calling.get();
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->status, 504);
  EXPECT_NE(response->body.find(R"("code":"timeout")"), std::string::npos);
  EXPECT_TRUE(raw_.ReadAll().ends_with("x")) << "and closes";
}

TEST_F(ForwardHostile, AnswersNonsenseWithBadGateway) {
  StartRaw();
  const std::string kLong(100'000, 'x');
  std::string endless_head = "HTTP/1.1 200 OK\r\n";
  for (int i = 0; i < 5000; ++i) endless_head += "X-" + std::to_string(i) + ": " + "abcdefghij\r\n";
  std::string interims;
  for (int i = 0; i < 30; ++i) interims += "HTTP/1.1 100 Continue\r\n\r\n";
  for (const std::string& answer :
       {std::string("garbage\r\n\r\n"), std::string(64, '\0'), std::string("SSH-2.0-x\r\n"),
        "HTTP/1.1 200 OK\r\nX: " + kLong + "\r\n\r\n", endless_head + "\r\n", kLong, interims,
        std::string("HTTP/1.1 101 Switching Protocols\r\n\r\n"),
        std::string("HTTP/1.1 999 Odd\r\n\r\n"), std::string("HTTP/1.1 2000 Odd\r\n\r\n"),
        std::string("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n"),
        std::string("HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n"),
        std::string("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: "
                    "chunked\r\n\r\n0\r\n\r\n")}) {
    EXPECT_EQ(StatusFor(answer), 502) << answer.substr(0, 80);
  }
}

TEST_F(ForwardHostile, BreaksOffWhenABodyTurnsToNonsense) {
  StartRaw();
  const std::string head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (const std::string& rest : {std::string("zz\r\n"), std::string("5\r\nhelloXX"),
                                  "5\r\nhello\r\n" + std::string(200'000, '1'),
                                  "0\r\n" + std::string(200'000, 't'), std::string("5\r\nhel")}) {
    EXPECT_EQ(StatusFor(head + rest), 0) << rest.substr(0, 40);
  }
  EXPECT_EQ(StatusFor("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\nhalf"), 0);
}

TEST_F(ForwardHostile, TakesAnswersThatEndWithTheConnection) {
  StartRaw();
  auto calling = Calling(Get("/"));
  raw_.Accept();
  raw_.ReadUntil("\r\n\r\n");
  raw_.Send("HTTP/1.0 200 OK\r\n\r\nuntil the end");
  raw_.Close();
  const auto response = calling.get();
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->body, "until the end");
}

TEST_F(ForwardHostile, PassesOverInterimAnswers) {
  StartRaw();
  EXPECT_EQ(StatusFor("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: "
                      "x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"),
            200);
}

TEST_F(ForwardHostile, NeverReusesAConnectionThatSaidTooMuch) {
  StartRaw();
  auto first = Calling(Get("/"));
  raw_.Accept();
  raw_.ReadUntil("\r\n\r\n");
  raw_.Send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\n\r\n");
  EXPECT_EQ(first.get()->body, "ok");
  auto second = Calling(Post("/", "body"));
  raw_.Accept();  // a new one
  raw_.ReadUntil("\r\n\r\nbody");
  raw_.Send("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
  EXPECT_EQ(second.get()->status, 404);
}

TEST_F(ForwardHostile, HeadersOfTheAnswerCannotBreakOut) {
  StartRaw();
  auto calling = Calling(Get("/"));
  raw_.Accept();
  raw_.ReadUntil("\r\n\r\n");
  raw_.Send("HTTP/1.1 200 OK\r\nX-A: one\r\n two\r\nContent-Length: 0\r\n\r\n");
  const auto response = calling.get();
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(FindHeader(response->headers, "X-A").find('\n'), std::string_view::npos);
}

}  // namespace
}  // namespace muster::net
