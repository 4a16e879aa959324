#include "adapters/sqlite/migration.hpp"

#include <array>
#include <sys/stat.h>

#include <gtest/gtest.h>

#include "support/temp_folder.hpp"

namespace muster::sqlite {
namespace {

constexpr const char* kFirst = "CREATE TABLE a (x INTEGER); INSERT INTO a VALUES (7);";
constexpr std::array<const char*, 2> kSteps = {
    "ALTER TABLE a ADD COLUMN y INTEGER NOT NULL DEFAULT 1",
    "CREATE TABLE b (z INTEGER); INSERT INTO b SELECT x + y FROM a"};

Schema SchemaOf(std::size_t steps) {
  return {.first = kFirst,
          .steps = {kSteps.begin(), kSteps.begin() + steps},
          .rows = "",
          .copy_before = true};
}

std::unique_ptr<Database> OpenAt(const std::filesystem::path& file) {
  auto opened = Database::Open(file, Database::Mode::kReadWrite);
  EXPECT_TRUE(opened) << opened.error().message;
  return std::move(*opened);
}

TEST(Migration, FreshDatabaseTakesEveryStepAndKeepsNoCopy) {
  TempFolder folder;
  auto database = OpenAt(folder.Path() / "x.db");
  ASSERT_TRUE(BringUpToDate(*database, SchemaOf(2)));
  EXPECT_EQ(database->AskInt("PRAGMA user_version"), 3);
  EXPECT_EQ(database->AskInt("SELECT z FROM b"), 8);
  EXPECT_FALSE(std::filesystem::exists(folder.Path() / "x.db.v0.bak"));
}

TEST(Migration, OlderDatabaseIsCopiedThenBroughtUpToDate) {
  TempFolder folder;
  const auto file = folder.Path() / "x.db";
  auto database = OpenAt(file);
  ASSERT_TRUE(BringUpToDate(*database, SchemaOf(0)));
  ASSERT_TRUE(database->Execute("UPDATE a SET x = 40"));
  ASSERT_TRUE(BringUpToDate(*database, SchemaOf(2)));
  EXPECT_EQ(database->AskInt("SELECT z FROM b"), 41);

  auto copy = OpenAt(file.string() + ".v1.bak");
  EXPECT_EQ(copy->AskInt("PRAGMA user_version"), 1);
  EXPECT_EQ(copy->AskInt("SELECT x FROM a"), 40);
  struct stat about{};
  ASSERT_EQ(stat((file.string() + ".v1.bak").c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777, 0600U);
}

TEST(Migration, DatabaseOfThisVersionIsLeftAlone) {
  TempFolder folder;
  auto database = OpenAt(folder.Path() / "x.db");
  ASSERT_TRUE(BringUpToDate(*database, SchemaOf(1)));
  ASSERT_TRUE(BringUpToDate(*database, SchemaOf(1)));
  EXPECT_EQ(database->AskInt("SELECT count(*) FROM a"), 1);
  EXPECT_FALSE(std::filesystem::exists(folder.Path() / "x.db.v2.bak"));
}

TEST(Migration, StepThatFailsLeavesTheDatabaseAsItWas) {
  TempFolder folder;
  auto database = OpenAt(folder.Path() / "x.db");
  ASSERT_TRUE(BringUpToDate(*database, SchemaOf(0)));
  const std::vector<std::string> bad = {kSteps[0], "INSERT INTO nowhere VALUES (1)"};
  ASSERT_FALSE(BringUpToDate(*database, {.first = kFirst, .steps = bad, .rows = ""}));
  EXPECT_EQ(database->AskInt("PRAGMA user_version"), 1);
  EXPECT_FALSE(database->AskInt("SELECT y FROM a"));
}

TEST(Migration, NewerDatabaseIsRefusedUntouched) {
  TempFolder folder;
  auto database = OpenAt(folder.Path() / "x.db");
  ASSERT_TRUE(BringUpToDate(*database, SchemaOf(2)));
  const auto refused = BringUpToDate(*database, SchemaOf(1));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kInvalid);
  EXPECT_EQ(database->AskInt("PRAGMA user_version"), 3);
}

}  // namespace
}  // namespace muster::sqlite
