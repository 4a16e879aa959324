#include "domain/approvers.hpp"

#include <gtest/gtest.h>

namespace muster {
namespace {

TEST(Approvers, StarterMayNotAnswerWhatIsNotForStarters) {
  const ApproveAction wanted{.message = "", .by = {}, .not_starter = true};
  EXPECT_EQ(CheckApprover({"alice", "carol"}, wanted, "alice", Role::kAdmin).error().code,
            ErrorCode::kDenied);
  EXPECT_EQ(CheckApprover({"alice", "carol"}, wanted, "carol", Role::kAdmin).error().code,
            ErrorCode::kDenied);
  EXPECT_TRUE(CheckApprover({"alice"}, wanted, "bob", Role::kOperator));
}

TEST(Approvers, AreNamesAndRolesAtLeast) {
  const ApproveAction wanted{.message = "", .by = {"bob", "admin"}};
  EXPECT_TRUE(CheckApprover({}, wanted, "bob", Role::kOperator));
  EXPECT_TRUE(CheckApprover({}, wanted, "root", Role::kAdmin));
  EXPECT_EQ(CheckApprover({}, wanted, "carol", Role::kOperator).error().code, ErrorCode::kDenied);
  EXPECT_EQ(CheckApprover({}, wanted, "gone", std::nullopt).error().code, ErrorCode::kDenied);
}

TEST(Approvers, StartersAreThoseOfTheRunsAboveToo) {
  muster::Run run;
  run.by = "alice";
  run.starters = {"bob", "alice"};
  muster::Run above;
  above.by = "carol";
  above.starters = {"bob"};
  const muster::Run* parents[] = {&above};
  EXPECT_EQ(StartersOf(run, parents), (std::vector<std::string>{"alice", "bob", "carol"}));
}

TEST(Approvers, ReadAsAPersonSaysIt) {
  EXPECT_EQ(ApproversText({"bob", "admin"}, {"alice"}), "bob, admin, not alice");
  EXPECT_EQ(ApproversText({}, {}), "an operator");
}

}  // namespace
}  // namespace muster
