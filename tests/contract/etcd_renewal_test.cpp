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
  if (kind == "grant") return OddServer::Http(fmt::format(R"({{{},"ID":"7","TTL":"2"}})", kHeader));
  if (kind == "keepalive")
    return OddServer::Http(fmt::format(R"({{"result":{{{},"ID":"7","TTL":"2"}}}})", kHeader));
  return OddServer::Http(fmt::format(R"({{{},"succeeded":true}})", kHeader));
}

class EtcdRenewal : public testing::Test {
 protected:
  void Note(const std::string& kind) EXCLUDES(mutex_) {
    base::Lock lock(mutex_);
    asked_.push_back(kind);
  }
  std::vector<std::string> Asked() const EXCLUDES(mutex_) {
    base::Lock lock(mutex_);
    return asked_;
  }

 private:
  mutable base::Mutex mutex_;
  std::vector<std::string> asked_ GUARDED_BY(mutex_);
};

// The second endpoint may be a member of etcd that led long ago and renews from its own memory;
// only a read there says that it does not.
TEST_F(EtcdRenewal, AtAnotherEndpointThanTheReadCountsOnlyBehindAReadThere) {
  const OddServer first([](std::string_view line) {
    const std::string kind = KindOf(line);
    return kind == "keepalive" ? "" : AnswerTo(kind);
  });
  const OddServer second([this](std::string_view line) {
    Note(KindOf(line));
    return AnswerTo(KindOf(line));
  });
  const EtcdOptions options{.endpoints = {first.Url(), second.Url()}};
  const SystemClock clock;
  Session session;
  Gateway gateway(*ParseEndpoints(options.endpoints), options, 300ms, session,
                  Gateway::Role::kLogsIn);
  View view{Keys(options.prefix)};
  Turns turns(clock, [] {});
  const Keeper keeper(gateway, {Keys(options.prefix), options.lease}, clock, turns, view);
  EXPECT_TRUE(Eventually([&] { return Asked().size() >= 4; }));
  const std::vector<std::string> expected{"keepalive", "range", "keepalive", "range"};
  auto asked = Asked();
  asked.resize(4);
  EXPECT_EQ(asked, expected);
}

}  // namespace
}  // namespace muster::etcd
