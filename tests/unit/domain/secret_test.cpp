#include "domain/secret.hpp"

#include <type_traits>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/secret_text.hpp"

namespace muster {
namespace {

using testing::ElementsAre;
using testing::Pair;

TEST(SecretName, TakesPathsOfWords) {
  EXPECT_TRUE(CheckSecretName("token"));
  EXPECT_TRUE(CheckSecretName("web.db-password_2"));
  EXPECT_TRUE(CheckSecretName(std::string(100, 'a')));
}

TEST(SecretName, RefusesWhatWouldNeedQuoting) {
  for (const std::string& name : {std::string(), std::string("a/b"), std::string("-x"),
                                  std::string("a b"), std::string("a:b"), std::string("a\nb"),
                                  std::string("p\xc3\xa4ss"), std::string(101, 'a')}) {
    const auto checked = CheckSecretName(name);
    ASSERT_FALSE(checked) << name;
    EXPECT_EQ(checked.error().code, ErrorCode::kInvalid);
  }
}

TEST(SecretValue, HasBounds) {
  EXPECT_FALSE(CheckSecretValue(""));
  EXPECT_FALSE(CheckSecretValue("abc"));
  EXPECT_TRUE(CheckSecretValue("abcd"));
  EXPECT_TRUE(CheckSecretValue(std::string(kMostSecretBytes, 'x')));
  EXPECT_FALSE(CheckSecretValue(std::string(kMostSecretBytes + 1, 'x')));
  EXPECT_FALSE(CheckSecretValue(std::string("ab\0cd", 5)));
}

TEST(SecretValue, IsNotPartOfARefusal) {
  const auto checked = CheckSecretValue(std::string("hunter2\0", 8));
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().message.find("hunter2"), std::string::npos);
}

TEST(MasksOf, CoversWhatAShellOrAFilterPrintsOfIt) {
  EXPECT_THAT(MasksOf("hunter2"), ElementsAre("hunter2"));
  EXPECT_THAT(MasksOf("hunter2\n"), ElementsAre("hunter2\n", "hunter2"));
  EXPECT_THAT(MasksOf("a long first\r\nx\nand a third\n"),
              ElementsAre("a long first\r\nx\nand a third\n", "a long first\r\nx\nand a third",
                          "a long first", "and a third"));
}

Result<std::string> FindSecret(std::string_view name) {
  if (name == "none") return Fail(ErrorCode::kNotFound, "no secret 'none'");
  return "value-of-" + std::string(name);
}

TEST(FillSecrets, PutsThemIntoTheEnvironmentAndTheMasks) {
  Command command;
  command.env = {{"A", "1"}, {"DB_PASSWORD", "default"}};
  command.masks = {"other"};
  command.secrets = {{"DB_PASSWORD", "db"}, {"KEY", "api"}};
  ASSERT_TRUE(FillSecrets(command, FindSecret));
  EXPECT_THAT(command.env, ElementsAre(Pair("A", "1"), Pair("DB_PASSWORD", "value-of-db"),
                                       Pair("KEY", "value-of-api")));
  EXPECT_THAT(command.masks, ElementsAre("other", "value-of-db", "value-of-api"));
}

TEST(FillSecrets, LeavesTheCommandWhenOneIsMissing) {
  Command command;
  command.secrets = {{"A", "db"}, {"B", "none"}};
  const Command before = command;
  const auto filled = FillSecrets(command, FindSecret);
  ASSERT_FALSE(filled);
  EXPECT_EQ(filled.error().code, ErrorCode::kNotFound);
  EXPECT_EQ(command, before);
}

TEST(SecretNamed, IsWhatFollowsThePrefix) {
  EXPECT_EQ(SecretNamed("secret:db.web"), "db.web");
  EXPECT_EQ(SecretNamed("secret:"), "");
  EXPECT_EQ(SecretNamed("Secret:db"), std::nullopt);
  EXPECT_EQ(SecretNamed("plain"), std::nullopt);
}

TEST(SecretText, CannotBePrinted) {
  EXPECT_FALSE(fmt::is_formattable<SecretText>::value);
  EXPECT_FALSE((std::is_convertible_v<SecretText, std::string_view>));
}

TEST(SecretText, WipesWhereItWasTakenFrom) {
  std::string bytes = "correct horse battery staple";
  const char* place = bytes.data();
  const std::size_t size = bytes.size();
  const SecretText taken = SecretText::Take(bytes);
  EXPECT_EQ(taken.Reveal(), "correct horse battery staple");
  EXPECT_TRUE(bytes.empty());
  // clear() keeps the buffer, so the place may still be looked at.
  for (std::size_t i = 0; i < size; ++i) EXPECT_EQ(place[i], '\0');
}

}  // namespace
}  // namespace muster
