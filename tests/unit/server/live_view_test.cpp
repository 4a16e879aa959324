#include "server/live/live_view.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::server {
namespace {

using testing::ElementsAre;
using testing::UnorderedElementsAre;

class LiveViewHosts : public testing::Test {
 protected:
  LiveViewHosts() {
    std::uint64_t id = 0;
    for (const auto* name : {"web1", "web2", "db1"}) {
      engine::HostNews news;
      news.host.id = HostId(++id);
      news.host.name = name;
      news.online = id != 2;
      view_.Take({news});
    }
  }
  std::vector<std::string> Names(const std::optional<std::set<std::string>>& names = {}) {
    std::vector<std::string> seen;
    view_.WithHosts(
        [&](const std::vector<const Host*>& hosts, const std::function<bool(HostId)>& online) {
          for (const Host* host : hosts)
            seen.push_back(host->name + (online(host->id) ? "+" : "-"));
        },
        names);
    return seen;
  }

  LiveView view_;
};

TEST_F(LiveViewHosts, AreHandedOutAll) {
  EXPECT_THAT(Names(), UnorderedElementsAre("web1+", "web2-", "db1+"));
}

TEST_F(LiveViewHosts, OrOnlyThoseOfSomeNames) {
  EXPECT_THAT(Names(std::set<std::string>{"web2", "db1", "nobody"}), ElementsAre("db1+", "web2-"));
  EXPECT_THAT(Names(std::set<std::string>{}), ElementsAre());
}

TEST_F(LiveViewHosts, FollowAHostThatIsRemoved) {
  engine::HostNews gone;
  gone.host.id = HostId(1);
  gone.host.name = "web1";
  gone.removed = true;
  view_.Take({gone});
  EXPECT_THAT(Names(std::set<std::string>{"web1"}), ElementsAre());
}

TEST_F(LiveViewHosts, AreKnownByTheirKeyWhenRevoked) {
  engine::HostNews news;
  news.host.id = HostId(1);
  news.host.name = "web1";
  news.host.key = "old";
  view_.Take({news});
  EXPECT_FALSE(view_.Revoked("old"));
  news.host.state = HostState::kRevoked;
  view_.Take({news});
  EXPECT_TRUE(view_.Revoked("old"));
  EXPECT_FALSE(view_.Revoked("other"));
  // It joins with a new key.
  news.host.state = HostState::kActive;
  news.host.key = "new";
  view_.Take({news});
  EXPECT_FALSE(view_.Revoked("old"));
  EXPECT_FALSE(view_.Revoked("new"));
  news.host.state = HostState::kRevoked;
  view_.Take({news});
  view_.Forget();
  EXPECT_FALSE(view_.Revoked("new"));
}

TEST(LiveViewRuns, AreNotOpenOnceTheyHaveEnded) {
  LiveView view;
  engine::RunNews news;
  news.run = RunId(7);
  news.state = RunState::kRunning;
  news.is_new = true;
  news.whole = std::make_shared<const muster::Run>();
  news.targets = std::make_shared<const Targets>();
  view.Take({news});
  EXPECT_TRUE(view.IsOpen(RunId(7)));
  EXPECT_FALSE(view.IsOpen(RunId(8)));
  EXPECT_FALSE(view.IsOpen(RunId()));
  news.state = RunState::kSucceeded;
  news.is_new = false;
  view.Take({news});
  EXPECT_TRUE(view.FindRun(RunId(7))) << "until the next news";
  EXPECT_FALSE(view.IsOpen(RunId(7)));
}

// A server that leads again knows nothing of what happened while another one led.
TEST_F(LiveViewHosts, AreForgottenWithTheirLeadership) {
  engine::RunNews run{.run = RunId(7),
                      .state = RunState::kRunning,
                      .is_new = true,
                      .whole = std::make_shared<muster::Run>(),
                      .targets = std::make_shared<Targets>()};
  view_.Take({run});
  ASSERT_TRUE(view_.FindRun(RunId(7)));
  view_.Forget();
  EXPECT_THAT(Names(), ElementsAre());
  EXPECT_FALSE(view_.FindRun(RunId(7)));
  EXPECT_FALSE(view_.HostIdOf("web1"));
  EXPECT_EQ(view_.CountHosts().all, 0U);
}

}  // namespace
}  // namespace muster::server
