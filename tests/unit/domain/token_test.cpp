#include "domain/token.hpp"

#include <gtest/gtest.h>

namespace muster {
namespace {

TEST(Role, NamesAreReadBack) {
  for (const auto role : {Role::kViewer, Role::kOperator, Role::kAdmin})
    EXPECT_EQ(ParseRole(Name(role)), role);
  EXPECT_FALSE(ParseRole("root"));
  EXPECT_FALSE(ParseRole(""));
}

TEST(Privilege, EachRoleMayWhatTheOneBeforeItMay) {
  EXPECT_FALSE(RoleFor(Privilege::kPublic));
  EXPECT_FALSE(RoleFor(Privilege::kJoin));
  EXPECT_EQ(RoleFor(Privilege::kView), Role::kViewer);
  EXPECT_EQ(RoleFor(Privilege::kOperate), Role::kOperator);
  EXPECT_EQ(RoleFor(Privilege::kAdmin), Role::kAdmin);
  EXPECT_LT(Role::kViewer, Role::kOperator);
  EXPECT_LT(Role::kOperator, Role::kAdmin);
}

TEST(Token, EndsAtItsExpiryAndByRevocation) {
  Token token;
  EXPECT_TRUE(token.UsableAt({INT64_MAX}));
  token.expires = {1000};
  EXPECT_TRUE(token.UsableAt({999}));
  EXPECT_FALSE(token.UsableAt({1000}));
  token.revoked = {5};
  EXPECT_FALSE(token.UsableAt({6}));
}

TEST(TokenName, TakesPeopleAndProgramsAndNothingOfTheServers) {
  for (const auto* name : {"alice", "a", "ci-deploy_2", "bob@example.org", "7"})
    EXPECT_TRUE(CheckTokenName(name)) << name;
  for (const auto* name :
       {"", "admin", "join", "muster", "musterd", "a b", "-a", "a/b", "ä", "a\nb"})
    EXPECT_FALSE(CheckTokenName(name)) << name;
  EXPECT_TRUE(CheckTokenName(std::string(64, 'x')));
  EXPECT_FALSE(CheckTokenName(std::string(65, 'x')));
}

}  // namespace
}  // namespace muster
