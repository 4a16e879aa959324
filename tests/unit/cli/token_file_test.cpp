#include "cli/client/token_file.hpp"

#include <fstream>
#include <sys/stat.h>

#include <gtest/gtest.h>

#include "support/temp_folder.hpp"

namespace muster::cli {
namespace {

std::string FileOf(const TempFolder& folder, const char* text, mode_t mode) {
  const auto path = (folder.Path() / "token").string();
  std::ofstream(path) << text;
  EXPECT_EQ(chmod(path.c_str(), mode), 0);
  return path;
}

TEST(TokenFile, IsReadWithoutBlanksAroundIt) {
  const TempFolder folder;
  const auto path = FileOf(folder, " mst_1\n", 0600);
  EXPECT_EQ(*ReadTokenFile(path), "mst_1");
  EXPECT_EQ(TokenFileWarning(path), "");
}

TEST(TokenFile, ThatOthersMayWriteIsRefused) {
  const TempFolder folder;
  for (const mode_t mode : {0620, 0602, 0666}) {
    const auto token = ReadTokenFile(FileOf(folder, "mst_1", mode));
    ASSERT_FALSE(token) << mode;
    EXPECT_EQ(token.error().code, ErrorCode::kInvalid);
  }
}

TEST(TokenFile, ThatOthersMayReadIsWarnedOf) {
  const TempFolder folder;
  for (const mode_t mode : {0640, 0604}) {
    const auto path = FileOf(folder, "mst_1", mode);
    EXPECT_TRUE(ReadTokenFile(path));
    EXPECT_NE(TokenFileWarning(path).find("chmod 600 " + path), std::string::npos);
  }
}

TEST(TokenFile, MustHoldAToken) {
  const TempFolder folder;
  EXPECT_EQ(ReadTokenFile(FileOf(folder, "\n", 0600)).error().code, ErrorCode::kInvalid);
  EXPECT_EQ(ReadTokenFile("/nonexistent/token").error().code, ErrorCode::kInvalid);
  EXPECT_EQ(TokenFileWarning("/nonexistent/token"), "");
}

}  // namespace
}  // namespace muster::cli
