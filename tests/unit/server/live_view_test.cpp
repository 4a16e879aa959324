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

TEST_F(LiveViewHosts, WereSeenWhenTheySpokeLast) {
  constexpr Now kNow{WallTime{1'000'000}, MonoTime{50'000}};
  engine::HostNews news;
  news.host.id = HostId(1);
  news.host.name = "web1";
  news.host.last_hello = WallTime{900'000};
  news.online = true;
  view_.Take({news});
  EXPECT_EQ(view_.FindHost("web1")->LastSeen(kNow), WallTime{900'000}) << "its Hello is all so far";
  view_.Heard({{HostId(1), MonoTime{43'000}}, {HostId(1), MonoTime{42'000}}, {HostId(99), {}}});
  EXPECT_EQ(view_.FindHost("web1")->LastSeen(kNow), WallTime{993'000});
  news.online = false;
  news.host.last_hello = WallTime{993'500};
  view_.Take({news});
  EXPECT_EQ(view_.FindHost("web1")->LastSeen(kNow), WallTime{993'500}) << "the link has ended";
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

TEST(LiveViewRuns, TriggerRunsWhileAnyOfItsRunsIsOpen) {
  LiveView view;
  muster::Run run;
  run.trigger = "nightly";
  for (const std::uint64_t id : {7, 8})
    view.Take({engine::RunNews{.run = RunId(id),
                               .state = RunState::kRunning,
                               .logs_open = 1,
                               .is_new = true,
                               .whole = std::make_shared<const muster::Run>(run),
                               .targets = std::make_shared<const Targets>()}});
  const auto end = [&view](std::uint64_t id) {
    view.Take({engine::RunNews{.run = RunId(id), .state = RunState::kFailed, .logs_open = 1}});
  };
  end(8);
  EXPECT_TRUE(view.HasOpenRun("nightly")) << "an earlier run goes on";
  EXPECT_FALSE(view.HasOpenRun("hourly"));
  end(7);
  EXPECT_FALSE(view.HasOpenRun("nightly")) << "only output is still to come";
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
