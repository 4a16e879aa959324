#include "adapters/net/event_loop.hpp"

#include <csignal>

#include "unit/adapters_net/fixture.hpp"

namespace muster::net {
namespace {

TEST(EventLoop, RunsPostedWorkInOrderUntilStopped) {
  EventLoop loop;
  std::string order;
  loop.Post([&] { order += 'a'; });
  loop.Post([&] {
    order += 'b';
    loop.Stop();
  });
  loop.Run();
  EXPECT_EQ(order, "ab");
}

TEST(EventLoop, FiresTimersByDueTimeAndNotTheCancelledOnes) {
  EventLoop loop;
  std::string order;
  loop.After(20ms, [&] {
    order += 'b';
    loop.Stop();
  });
  loop.After(1ms, [&] { order += 'a'; });
  EventLoop::TimerId cancelled = loop.After(2ms, [&] { order += 'x'; });
  loop.Cancel(cancelled);
  loop.Cancel(cancelled);
  loop.Run();
  EXPECT_EQ(order, "ab");
}

TEST(EventLoop, WatchesADescriptorUntilUnwatchedAndLeavesItOpen) {
  EventLoop loop;
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  int calls = 0;
  loop.WatchReadable(ends[0], [&] {
    char byte = 0;
    ASSERT_EQ(read(ends[0], &byte, 1), 1);
    if (++calls < 2) return;
    loop.Unwatch(ends[0]);
    loop.Post([&] { loop.Stop(); });
  });
  ASSERT_EQ(write(ends[1], "abc", 3), 3);
  loop.Run();
  EXPECT_EQ(calls, 2);
  char left = 0;
  EXPECT_EQ(read(ends[0], &left, 1), 1);  // still open, third byte unread
  close(ends[0]);
  close(ends[1]);
}

TEST(EventLoop, HandsOverSignals) {
  EventLoop loop;
  int received = 0;
  loop.OnSignal({SIGUSR1}, [&](int number) {
    received = number;
    loop.Stop();
  });
  loop.Post([] { raise(SIGUSR1); });
  loop.Run();
  EXPECT_EQ(received, SIGUSR1);
}

TEST(ParseEndpoint, TakesUrlsApart) {
  auto full = ParseEndpoint("https://host.example:9000");
  ASSERT_TRUE(full);
  EXPECT_TRUE(full->tls);
  EXPECT_EQ(full->host, "host.example");
  EXPECT_EQ(full->port, "9000");
  auto plain = ParseEndpoint("http://127.0.0.1/");
  ASSERT_TRUE(plain);
  EXPECT_FALSE(plain->tls);
  EXPECT_EQ(plain->port, "8440");
  auto other = ParseEndpoint("http://127.0.0.1", "2379");
  ASSERT_TRUE(other);
  EXPECT_EQ(other->port, "2379");
  auto v6 = ParseEndpoint("https://[::1]:1");
  ASSERT_TRUE(v6);
  EXPECT_EQ(v6->host, "::1");
  EXPECT_EQ(v6->port, "1");
}

TEST(ParseEndpoint, RefusesWhatIsNone) {
  for (const char* bad : {"", "host:1", "ftp://x", "https://", "https://x:0", "https://x:70000",
                          "https://x:8a", "https://x/path", "https://[::1", "https://u@x"}) {
    auto parsed = ParseEndpoint(bad);
    ASSERT_FALSE(parsed) << bad;
    EXPECT_EQ(parsed.error().code, ErrorCode::kInvalid) << bad;
  }
}

}  // namespace
}  // namespace muster::net
