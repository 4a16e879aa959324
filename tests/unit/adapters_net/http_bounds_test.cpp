#include "unit/adapters_net/raw_server.hpp"

// What a client takes of a server that does not end.
namespace muster::net {
namespace {

class HttpBounds : public testing::Test {
 protected:
  // What comes of a call that is answered with these bytes; as a stream, or whole.
  Result<HttpResponse> Answered(const std::string& answer, bool stream) {
    auto calling = std::async(std::launch::async, [&] {
      HttpClient client(raw_.At(), {}, kPatience);
      if (!stream) return client.Call(Get("/"));
      return client.Stream(Get("/"), kPatience, [](std::string_view) { return true; });
    });
    raw_.Accept();
    raw_.ReadUntil("\r\n\r\n");
    raw_.Send(answer);
    raw_.Close();
    return calling.get();
  }
  static std::string Sized(int status, std::size_t size) {
    return fmt::format("HTTP/1.1 {} X\r\nContent-Length: {}\r\n\r\n", status, size) +
           std::string(size, 'a');
  }

  RawServer raw_;
};

TEST_F(HttpBounds, ErrorsHaveABound) {
  for (const bool stream : {false, true}) {
    const auto whole = Answered(Sized(500, 512 << 10), stream);
    ASSERT_TRUE(whole) << whole.error().message;
    EXPECT_EQ(whole->status, 500);
    EXPECT_EQ(whole->body.size(), 512U << 10);
    const auto cut = Answered(Sized(500, 2 << 20), stream);
    ASSERT_FALSE(cut);
    EXPECT_EQ(cut.error().code, ErrorCode::kTimeout);
  }
}

TEST_F(HttpBounds, OnlyWhatWasAskedForMayBeLong) {
  const auto whole = Answered(Sized(200, 2 << 20), false);
  ASSERT_TRUE(whole) << whole.error().message;
  EXPECT_EQ(whole->body.size(), 2U << 20);
  EXPECT_TRUE(Answered(Sized(200, 2 << 20), true));
  EXPECT_FALSE(Answered(Sized(202, 2 << 20), true));
}

TEST_F(HttpBounds, WholeAnswersHaveABound) {
  const std::string head =
      fmt::format("HTTP/1.1 200 X\r\nContent-Length: {}\r\n\r\n", (64 << 20) + 1);
  const auto refused = Answered(head, false);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("not HTTP"), std::string::npos)
      << "refused by its head: " << refused.error().message;
}

TEST_F(HttpBounds, AnswersInDribsEndInTime) {
  std::atomic<bool> over{false};
  auto calling = std::async(std::launch::async, [&] {
    HttpClient client(raw_.At(), {}, std::chrono::milliseconds(500));
    auto answer = client.Call(Get("/"));
    over = true;
    return answer;
  });
  raw_.Accept();
  raw_.ReadUntil("\r\n\r\n");
  raw_.Send("HTTP/1.1 200 X\r\nContent-Length: 1000000\r\n\r\n");
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (!over && std::chrono::steady_clock::now() < deadline) {
    raw_.Send("a");
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_TRUE(over);
  raw_.Close();
  const auto answer = calling.get();
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::kTimeout);
}

TEST_F(HttpBounds, InterimAnswersHaveABound) {
  const std::string interim = "HTTP/1.1 103 Early\r\n\r\n";
  std::string eight;
  for (int i = 0; i < 8; ++i) eight += interim;
  const auto last = Answered(eight + Sized(200, 2), false);
  ASSERT_TRUE(last) << last.error().message;
  EXPECT_EQ(last->body, "aa");
  EXPECT_FALSE(Answered(eight + interim + Sized(200, 2), false));
}

}  // namespace
}  // namespace muster::net
