#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/shim/account.hpp"
#include "agent/transfer/pace.hpp"
#include "agent/transfer/wildcards.hpp"

namespace muster::agent {
namespace {

TEST(Pace, HoldsTheRateOverTime) {
  Pace pace(1000);
  MonoTime now{5'000'000};
  std::uint64_t passed = 0;
  while (now < MonoTime{5'060'000}) {
    now = now + pace.Take(100, now);
    passed += 100;
  }
  EXPECT_NEAR(static_cast<double>(passed), 60'000, 1'000);
}

TEST(Pace, LetsAShortBurstPassAndNoMore) {
  Pace pace(1000);
  EXPECT_EQ(pace.Take(250, MonoTime{1'000'000}), Duration(0));
  EXPECT_EQ(pace.Take(100, MonoTime{1'000'000}), Duration(100));
  Pace free(0);
  EXPECT_EQ(free.Take(1ULL << 40, MonoTime{}), Duration(0));
}

TEST(ChooseTaskUser, AppliesThePolicyToOwnersToo) {
  const auto push = [](std::string owner, std::string user = "") {
    Command command;
    command.user = std::move(user);
    command.push =
        std::make_shared<const FilePush>(FilePush{.to = "/a", .owner = std::move(owner)});
    return command;
  };
  const RunAsPolicy open;
  EXPECT_EQ(*ChooseTaskUser(open, push("web")), "") << "the agent's own, which then gives it away";
  EXPECT_EQ(*ChooseTaskUser(open, push("web", "app")), "app");
  const RunAsPolicy strict{.default_user = "web", .allow = {"web", "app"}};
  EXPECT_EQ(*ChooseTaskUser(strict, push("")), "web");
  EXPECT_EQ(*ChooseTaskUser(strict, push("app:www")), "app") << "with the rights of the owner";
  EXPECT_EQ(ChooseTaskUser(strict, push("root")).error().code, ErrorCode::kDenied);
  EXPECT_EQ(ChooseTaskUser(strict, push("root", "web")).error().code, ErrorCode::kDenied);
  EXPECT_EQ(*ChooseTaskUser(strict, push(":www")), "web");
}

}  // namespace
}  // namespace muster::agent
