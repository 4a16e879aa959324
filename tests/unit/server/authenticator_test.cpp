#include "server/auth/authenticator.hpp"

#include <gtest/gtest.h>

#include "adapters/crypto/digest.hpp"
#include "server/auth/refusal_log.hpp"
#include "server/gateway/privileges.hpp"

namespace muster::server {
namespace {

constexpr WallTime kNow{1'000'000};

Token TokenOf(std::string name, std::string_view secret) {
  Token token;
  token.name = std::move(name);
  token.hash = crypto::Sha256(secret);
  token.role = Role::kOperator;
  return token;
}

class Authentication : public testing::Test {
 protected:
  ErrorCode Refused(const std::string& header, WallTime now = kNow) {
    const auto actor = people_.Check(header, now);
    EXPECT_FALSE(actor);
    return actor ? ErrorCode::kInternal : actor.error().code;
  }
  Authenticator people_{"root-secret"};
};

TEST_F(Authentication, FirstAdminIsKnownFromTheStart) {
  const auto actor = people_.Check("Bearer root-secret", kNow);
  ASSERT_TRUE(actor);
  EXPECT_EQ(actor->name, kBootstrapAdmin);
  EXPECT_EQ(actor->role, Role::kAdmin);
}

TEST_F(Authentication, VouchedCallerHasTheRoleThatIsOnRecord) {
  EXPECT_EQ(people_.Vouched("alice", kNow).error().code, ErrorCode::kUnavailable);
  Token revoked = TokenOf("bob", "bobs");
  revoked.revoked = kNow;
  people_.Take({TokenOf("alice", "alices"), revoked}, {}, true);
  const auto alice = people_.Vouched("alice", kNow);
  ASSERT_TRUE(alice);
  EXPECT_EQ(alice->role, Role::kOperator);
  EXPECT_EQ(people_.Vouched("bob", kNow).error().code, ErrorCode::kDenied);
  EXPECT_EQ(people_.Vouched("carol", kNow).error().code, ErrorCode::kDenied);
  EXPECT_EQ(people_.Vouched(std::string(kBootstrapAdmin), kNow)->role, Role::kAdmin);
}

TEST_F(Authentication, OthersMustWaitUntilTokensAreLoaded) {
  EXPECT_EQ(Refused("Bearer alices"), ErrorCode::kUnavailable);
  EXPECT_EQ(Refused("Basic alices"), ErrorCode::kDenied);
  people_.Take({TokenOf("alice", "alices")}, {}, true);
  EXPECT_EQ(people_.Check("Bearer alices", kNow)->name, "alice");
  EXPECT_EQ(Refused("Bearer bobs"), ErrorCode::kDenied);
}

TEST_F(Authentication, EndedTokensAreRefusedWithWhatBecameOfThem) {
  auto alice = TokenOf("alice", "alices");
  auto bob = TokenOf("bob", "bobs");
  alice.expires = {2'000'000};
  people_.Take({alice, bob}, {}, true);
  EXPECT_TRUE(people_.Check("Bearer alices", {1'999'999}));
  EXPECT_EQ(Refused("Bearer alices", {2'000'000}), ErrorCode::kDenied);
  bob.revoked = kNow;
  people_.Take({bob}, {}, false);
  EXPECT_NE(people_.Check("Bearer bobs", kNow).error().message.find("revoked"), std::string::npos);
}

TEST_F(Authentication, NameGivenAgainEndsTheOldSecret) {
  people_.Take({TokenOf("alice", "old")}, {}, true);
  people_.Take({TokenOf("alice", "new")}, {}, false);
  EXPECT_EQ(Refused("Bearer old"), ErrorCode::kDenied);
  EXPECT_TRUE(people_.Check("Bearer new", kNow));
  EXPECT_EQ(people_.List().size(), 1U);
  people_.Take({}, {"alice"}, false);
  EXPECT_EQ(Refused("Bearer new"), ErrorCode::kDenied);
}

TEST_F(Authentication, NewLoadForgetsWhatIsNotInIt) {
  people_.Take({TokenOf("alice", "alices")}, {}, true);
  people_.Take({}, {}, true);
  EXPECT_EQ(Refused("Bearer alices"), ErrorCode::kDenied);
}

TEST(RefusalLog, LeavesOutAFloodAndSaysHowMuch) {
  RefusalLog log(2, std::chrono::seconds(10));
  EXPECT_EQ(log.Admit({20'000}), 0U);
  EXPECT_EQ(log.Admit({20'001}), 0U);
  for (int i = 0; i < 7; ++i) EXPECT_FALSE(log.Admit({25'000}));
  EXPECT_EQ(log.Admit({30'000}), 7U);
  EXPECT_EQ(log.Admit({30'001}), 0U);
}

TEST(RefusalLog, WordsFromOutsideStayOnTheirLine) {
  EXPECT_EQ(ForLog("a\nb\"c\\\x7f\xff"), "a?b?c???");
  EXPECT_EQ(ForLog(std::string(500, 'x')), std::string(200, 'x') + "…");
  EXPECT_EQ(ForLog(std::string(200, 'x')), std::string(200, 'x'));
}

TEST(LinkPrivileges, BeforeItsWelcomeANodeMayOnlySayHelloAndBeat) {
  link::NodeFrame frame;
  frame.hello = link::Hello();
  frame.beat = link::Beat();
  frame.chunks.emplace_back();
  frame.reports.emplace_back();
  auto early = frame;
  DropUnpermitted(early, HostId());
  EXPECT_TRUE(early.hello && early.beat);
  EXPECT_TRUE(early.chunks.empty() && early.reports.empty());
  auto later = frame;
  DropUnpermitted(later, HostId(1));
  EXPECT_EQ(later, frame);
}

TEST(LinkPrivileges, EveryKindOfMessageIsInTheTable) {
  link::NodeFrame frame;
  frame.hello = link::Hello();
  frame.beat = link::Beat();
  frame.chunks.emplace_back();
  frame.reports.emplace_back();
  for (const auto& message : kLinkMessages) message.drop(frame);
  EXPECT_TRUE(frame.Empty());
}

}  // namespace
}  // namespace muster::server
