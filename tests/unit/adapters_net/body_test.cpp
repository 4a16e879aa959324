#include <atomic>
#include <map>
#include <optional>
#include <thread>
#include <vector>

#include "adapters/net/body_budget.hpp"
#include "unit/adapters_net/fixture.hpp"

namespace muster::net {
namespace {

TEST(BodyBudget, GivesRoomUntilItIsTaken) {
  const auto budget = std::make_shared<BodyBudget>(400);
  auto first = budget->Take(200, true);
  EXPECT_TRUE(first);
  EXPECT_FALSE(budget->Take(101, true));
  EXPECT_TRUE(budget->Take(100, true)) << "and gives it back at once";
  EXPECT_EQ(budget->Taken(), 200U);
  first.reset();
  EXPECT_EQ(budget->Taken(), 0U);
  EXPECT_FALSE(budget->Take(SIZE_MAX, true));
}

TEST(BodyBudget, UnknownCallersHaveAShareOfTheirOwn) {
  const auto budget = std::make_shared<BodyBudget>(400);
  const auto unknown = budget->Take(100, false);
  EXPECT_TRUE(unknown);
  EXPECT_FALSE(budget->Take(1, false));
  EXPECT_TRUE(budget->Take(300, true));
}

// Callers are known by a header, and sent away by another.
class BodyVerdicts : public NetTest {
 protected:
  BodyVerdicts() {
    options_.limits.max_body = 100'000;
    options_.limits.max_open_body = 1'000;
    handlers_.judge_body = [this](const HttpRequest& head,
                                  std::function<void(BodyVerdict)> decide) {
      ++judged_;
      EXPECT_TRUE(head.body.empty());
      BodyVerdict verdict{.known_caller = !FindHeader(head.headers, "Known").empty()};
      if (!FindHeader(head.headers, "Refused").empty())
        verdict.refuse = [](const HttpRequest& request,
                            const std::shared_ptr<HttpExchange>& exchange) {
          exchange->Respond({401, {}, "refused " + request.method + request.body});
        };
      if (FindHeader(head.headers, "Later").empty()) return decide(std::move(verdict));
      server_loop_.loop().After(std::chrono::milliseconds(20),
                                [decide, verdict] { decide(verdict); });
    };
  }
  static std::string Head(const std::string& headers, std::size_t length) {
    return "POST / HTTP/1.1\r\nHost: localhost\r\n" + headers +
           "Content-Length: " + std::to_string(length) + "\r\n\r\n";
  }
  std::string Answer(const std::string& bytes) {
    RawClient client(port_);
    client.Send(bytes);
    return client.ReadAll();
  }

  std::atomic<int> judged_ = 0;
};

TEST_F(BodyVerdicts, ABodyIsTakenWhenItsHeadIsGood) {
  Start();
  for (const std::string more : {"", "Later: yes\r\n"}) {
    const auto answer = Answer(Head("Known: yes\r\nConnection: close\r\n" + more, 5) + "hello");
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 200 ")) << answer;
    EXPECT_TRUE(answer.ends_with("POSThello")) << answer;
  }
  EXPECT_EQ(judged_, 2);
  const auto chunks = Answer(
      "POST / HTTP/1.1\r\nHost: localhost\r\nKnown: yes\r\nConnection: close\r\nTransfer-Encoding: "
      "chunked\r\n\r\n"
      "5\r\nhello\r\n0\r\n\r\n");
  EXPECT_TRUE(chunks.ends_with("POSThello")) << chunks;
}

TEST_F(BodyVerdicts, RequestsWithoutABodyAreNotJudged) {
  Start();
  Answer("GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  Answer("POST / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
  EXPECT_EQ(judged_, 0);
}

TEST_F(BodyVerdicts, ARefusedBodyIsNotReadAndTheConnectionCloses) {
  Start();
  for (const std::string more : {"", "Later: yes\r\n", "Expect: 100-continue\r\n"}) {
    const auto answer = Answer(Head("Refused: yes\r\n" + more, 50'000));
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 401 ")) << answer;
    EXPECT_TRUE(answer.ends_with("refused POST")) << answer;
    EXPECT_NE(answer.find("Connection: close"), std::string::npos);
  }
  // What follows is the body, not a request.
  const auto smuggled =
      Answer(Head("Refused: yes\r\n", 30) + "GET /x HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_TRUE(smuggled.ends_with("refused POST")) << smuggled;
}

// Asio reports an event of a socket that was closed to the next socket that it gives the same
// place, so a connection can be called readable before its first byte came. It was closed then.
TEST_F(BodyVerdicts, AConnectionWhoseFirstByteIsLateIsAnswered) {
  Start();
  std::atomic<int> unanswered = 0;
  const auto ask = [&](RawClient& client) {
    client.Send(Head("Refused: yes\r\n", 2));
    client.Send("{}");
    if (client.ReadUntil("refused POST").empty()) ++unanswered;
  };
  std::vector<std::thread> clients;
  for (int i = 0; i < 4; ++i)
    clients.emplace_back([&] {
      for (int times = 0; times < 2'000; ++times) {
        RawClient late(port_);
        RawClient other(port_);
        ask(other);
        other.Close();
        ask(late);
      }
    });
  for (auto& client : clients) client.join();
  EXPECT_EQ(unanswered, 0);
}

TEST_F(BodyVerdicts, ABodyThatComesWithTheRequestBeforeItWaitsForItsVerdict) {
  Start();
  for (const std::string verdict : {"Refused: yes\r\n", "Known: yes\r\nConnection: close\r\n"}) {
    RawClient client(port_);
    client.Send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n" + Head(verdict + "Later: yes\r\n", 5));
    EXPECT_TRUE(client.ReadUntil("GET").starts_with("HTTP/1.1 200 "));
    client.Send("hello");
    const auto answer = client.ReadAll();
    EXPECT_TRUE(answer.ends_with(verdict.starts_with("Known") ? "POSThello" : "refused POST"))
        << answer;
  }
}

TEST_F(BodyVerdicts, ContinueIsSaidAfterTheVerdict) {
  Start();
  RawClient client(port_);
  client.Send(Head("Known: yes\r\nLater: yes\r\nExpect: 100-continue\r\n", 2));
  EXPECT_TRUE(client.ReadUntil("\r\n\r\n").starts_with("HTTP/1.1 100 "));
  client.Send("ok");
  EXPECT_TRUE(client.ReadUntil("POSTok").starts_with("HTTP/1.1 200 "));
}

TEST_F(BodyVerdicts, CallersThatAreNotKnownSendLess) {
  Start();
  EXPECT_TRUE(Answer(Head("", 1'001)).starts_with("HTTP/1.1 413 "));
  EXPECT_TRUE(Answer(Head("Connection: close\r\n", 1'000) + std::string(1'000, 'x'))
                  .starts_with("HTTP/1.1 200 "));
  EXPECT_TRUE(Answer(Head("Known: yes\r\nConnection: close\r\n", 1'001) + std::string(1'001, 'x'))
                  .starts_with("HTTP/1.1 200 "));
  EXPECT_TRUE(Answer(Head("Known: yes\r\n", 100'001)).starts_with("HTTP/1.1 413 "));
}

TEST_F(BodyVerdicts, BodiesTogetherHaveABound) {
  options_.limits.max_buffered = 40'000;  // 30,000 for callers that are known
  std::vector<std::shared_ptr<HttpExchange>> held;
  handlers_.on_http = [&](const HttpRequest&, std::shared_ptr<HttpExchange> exchange) {
    signal_.Update([&] { held.push_back(std::move(exchange)); });
  };
  Start();
  RawClient first(port_);
  first.Send(Head("Known: yes\r\n", 8'000) + std::string(8'000, 'x'));
  ASSERT_TRUE(signal_.Wait([&] { return held.size() == 1; }));
  const auto refused = Answer(Head("Known: yes\r\n", 8'000));
  EXPECT_TRUE(refused.starts_with("HTTP/1.1 503 ")) << refused;
  EXPECT_NE(refused.find("Retry-After: 1"), std::string::npos);
  // Its client may go: the request is still in memory.
  first.Close();
  ASSERT_TRUE(AwaitConnections(0));
  EXPECT_TRUE(Answer(Head("Known: yes\r\n", 8'000)).starts_with("HTTP/1.1 503 "));
  signal_.Update([&] { held.clear(); });
  RawClient second(port_);
  second.Send(Head("Known: yes\r\n", 8'000) + std::string(8'000, 'x'));
  EXPECT_TRUE(signal_.Wait([&] { return held.size() == 1; }));
  held.clear();
}

TEST_F(BodyVerdicts, AVerdictThatNeverComesIsNotAwaitedForEver) {
  options_.limits.header_timeout = 1s;
  handlers_.judge_body = [](const HttpRequest&, const std::function<void(BodyVerdict)>&) {};
  Start();
  EXPECT_TRUE(Answer(Head("", 5) + "hello").starts_with("HTTP/1.1 408 "));
}

// Answers that are not read.
class SlowReaders : public NetTest {};

TEST_F(SlowReaders, TheLongestIsCutWhenAllTogetherWaitForTooMuch) {
  options_.limits.max_unsent = 20 << 20;
  options_.limits.idle_timeout = 100ms;  // swept often
  options_.limits.max_stream_unsent = 64 << 20;
  std::map<std::string, std::shared_ptr<HttpExchange>> held;  // by target
  handlers_.on_http = [&](const HttpRequest& request, std::shared_ptr<HttpExchange> exchange) {
    exchange->BeginStream(200, {});
    // More than the sockets hold.
    exchange->Write(std::string(request.target == "/long" ? 40 << 20 : 9 << 20, 'x'));
    signal_.Update([&] { held[request.target] = std::move(exchange); });
  };
  Start();
  RawClient brief(port_);
  brief.Send("GET /brief HTTP/1.1\r\nHost: localhost\r\n\r\n");
  RawClient lengthy(port_);
  lengthy.Send("GET /long HTTP/1.1\r\nHost: localhost\r\n\r\n");
  ASSERT_TRUE(signal_.Wait([&] { return held.size() == 2; }));
  EXPECT_TRUE(AwaitConnections(1));
  EXPECT_TRUE(held["/long"]->Gone());
  EXPECT_FALSE(held["/brief"]->Gone());
  held.clear();
}

}  // namespace
}  // namespace muster::net
