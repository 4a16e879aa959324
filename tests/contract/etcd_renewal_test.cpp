#include <atomic>

#include <gtest/gtest.h>

#include "adapters/etcd/keeper.hpp"
#include "adapters/system/system_clock.hpp"
#include "support/eventually.hpp"
#include "support/odd_server.hpp"

// Renewals against endpoints that answer as a test wants them to.
namespace muster::etcd {
namespace {

using namespace std::chrono_literals;

// What a request is about: "range", "keepalive", "grant", "txn".
std::string KindOf(std::string_view line) {
  const std::string_view path = line.substr(0, line.rfind(' '));
  return std::string(path.substr(path.rfind('/') + 1));
}

std::string AnswerTo(const std::string& kind) {
  constexpr std::string_view kHeader = R"("header":{"cluster_id":"1","revision":"2"})";
  if (kind == "txn") return OddServer::Http(R"({"header":{"revision":"3"},"succeeded":true})");
  if (kind == "grant") return OddServer::Http(fmt::format(R"({{{},"ID":"7","TTL":"2"}})", kHeader));
  if (kind == "keepalive")
    return OddServer::Http(fmt::format(R"({{"result":{{{},"ID":"7","TTL":"2"}}}})", kHeader));
  return OddServer::Http(fmt::format("{{{}}}", kHeader));
}

// The second endpoint is as a member of etcd that led long ago: it renews from its own memory, and
// finds no majority for a read. The first renews until it has a leader: an answer that comes late
// on a busy machine costs the claim, which is then made again with a lease that must still be good.
TEST(EtcdRenewal, DoesNotCountAtAnEndpointThatCannotBeReadFrom) {
  std::atomic<int> elected = 0;
  const OddServer first([&](std::string_view line) {
    const std::string kind = KindOf(line);
    return kind == "keepalive" && elected > 0 ? "" : AnswerTo(kind);
  });
  std::atomic<int> renewed = 0;
  const OddServer second([&](std::string_view line) {
    const std::string kind = KindOf(line);
    if (kind != "keepalive") return std::string();
    ++renewed;
    return AnswerTo(kind);
  });
  const EtcdOptions options{.endpoints = {first.Url(), second.Url()}};
  const SystemClock clock;
  Session session;
  Gateway gateway(*ParseEndpoints(options.endpoints), options, 300ms, session,
                  Gateway::Role::kLogsIn);
  View view{Keys(options.prefix)};
  Turns turns(clock, [] {});
  std::atomic<int> lost = 0;
  ASSERT_TRUE(turns.Enter("a", [&] { ++elected; }, [&] { ++lost; }));
  const Keeper keeper(gateway, {Keys(options.prefix), options.lease}, clock, turns, view);
  ASSERT_TRUE(Eventually([&] { return elected == 1; }));
  EXPECT_TRUE(Eventually([&] { return lost == 1; }));
  EXPECT_GT(renewed, 0);
  EXPECT_TRUE(Eventually([&] { return !keeper.Trouble().empty(); }));
}

}  // namespace
}  // namespace muster::etcd
