#include "cli/hosts/targets_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/runs/run_choice.hpp"

namespace muster::cli {
namespace {

using testing::HasSubstr;

TEST(TargetsOfFile, FoldsNamesAndKeepsExpressionsWhole) {
  EXPECT_EQ(*TargetsOfFile("web1\nweb2\r\n\n# all of them\nweb3  # the third\n"), "web[1-3]");
  EXPECT_EQ(*TargetsOfFile("a\nzone=sh1 and not x\n"), "a,(zone=sh1 and not x)");
  EXPECT_EQ(*TargetsOfFile("web*"), "(web*)");
  EXPECT_EQ(*TargetsOfFile("all"), "(all)");
}

TEST(TargetsOfFile, NamesTheLineItCannotRead) {
  const auto bad = TargetsOfFile("web1\n\nzone=\n");
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().code, ErrorCode::kInvalid);
  EXPECT_THAT(bad.error().message, HasSubstr("line 3"));
  // Each line stands for itself: what is open in one is not closed by the next.
  EXPECT_FALSE(TargetsOfFile("(a\nb)\n"));
}

TEST(TargetsOfFile, RefusesAnEmptyFile) {
  for (const auto* text : {"", "\n\n", "# nobody\n"}) EXPECT_FALSE(TargetsOfFile(text)) << text;
}

TEST(EitherTargets, JoinsWhatIsThere) {
  EXPECT_EQ(EitherTargets("", "b"), "b");
  EXPECT_EQ(EitherTargets("a", ""), "a");
  EXPECT_EQ(EitherTargets("a and b", "c"), "(a and b),(c)");
}

TEST(RunIdOf, TakesTheLetterAsSaid) {
  EXPECT_EQ(RunIdOf("42"), "r42");
  EXPECT_EQ(RunIdOf("42.3"), "r42.3");
  EXPECT_EQ(RunIdOf("r42"), "r42");
  EXPECT_EQ(RunIdOf("R42"), "r42");
  EXPECT_EQ(RunIdOf("nonsense"), "nonsense");
  EXPECT_EQ(RunIdOf(""), "");
}

}  // namespace
}  // namespace muster::cli
