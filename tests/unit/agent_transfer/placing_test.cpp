#include "agent/transfer/placing.hpp"

#include <array>
#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "support/temp_folder.hpp"

// What another user of the host may have prepared at the destination of a push by root.
namespace muster::agent {
namespace {

constexpr uid_t kOwner = 65534;  // of the destination
constexpr std::string_view kContent = "known content";

class Placings : public testing::TestWithParam<PathWalk::Way> {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root";
    ASSERT_TRUE(std::filesystem::create_directories(Path("place/inner")));
    ASSERT_TRUE(std::filesystem::create_directories(Path("private")));
    Give("place");
    Give("place/inner");
  }

  std::string Path(const std::string& name) const { return (folder_.Path() / name).string(); }
  void Give(const std::string& name, uid_t owner = kOwner) const {
    ASSERT_EQ(::lchown(Path(name).c_str(), owner, owner), 0);
  }
  Placing Place(const std::string& name = "place") const {
    return Placing(FindAccount("").value(), Path(name), GetParam());
  }
  static Looks Mode(std::uint32_t mode, uid_t owner = kOwner) { return {mode, {owner, owner}}; }
  void WriteFile(const std::string& name, mode_t mode) const {
    std::ofstream(Path(name)) << kContent;
    ASSERT_EQ(::chmod(Path(name).c_str(), mode), 0);
  }
  struct stat StatusOf(const std::string& name) const {
    struct stat status{};
    EXPECT_EQ(::lstat(Path(name).c_str(), &status), 0) << name;
    return status;
  }
  static Result<bool> IsThere(Placing& placing, const Looks& looks) {
    return placing.IsThere("file", crypto::Sha256(kContent), kContent.size(), looks);
  }

  TempFolder folder_;
};

TEST_P(Placings, NothingIsDoneBehindALinkBelowTheDestination) {
  std::filesystem::create_symlink(Path("private"), Path("place/link"));
  Give("place/link");
  auto placing = Place();
  EXPECT_EQ(placing.Write("link/file", kContent, Mode(0644)).error().code, ErrorCode::kDenied);
  EXPECT_EQ(placing.MakeFolder("link", Mode(0755)).error().code, ErrorCode::kDenied);
  EXPECT_EQ(placing.MakeFolder("link/folder", Mode(0755)).error().code, ErrorCode::kDenied);
  EXPECT_EQ(placing.IsThere("link/file", "", 0, Mode(0644)).error().code, ErrorCode::kDenied);
  EXPECT_TRUE(std::filesystem::is_empty(Path("private")));
}

TEST_P(Placings, ALinkInPlaceOfAFileBecomesTheFile) {
  WriteFile("private/file", 0600);
  std::filesystem::create_symlink(Path("private/file"), Path("place/file"));
  auto placing = Place();
  EXPECT_FALSE(IsThere(placing, Mode(0644)).value());
  EXPECT_EQ(placing.Write("file", "new", Mode(0644)).value(), Placed::kReplaced);
  EXPECT_EQ(StatusOf("private/file").st_uid, 0U);
  EXPECT_TRUE(S_ISREG(StatusOf("place/file").st_mode));
}

TEST_P(Placings, TheDestinationIsNoLinkOfAnotherUser) {
  std::filesystem::create_symlink(Path("private"), Path("link"));
  Give("link");
  auto placing = Place("link");
  EXPECT_EQ(placing.MakeFolder("", Mode(0755)).error().code, ErrorCode::kDenied);
  EXPECT_EQ(placing.Write("file", kContent, Mode(0644)).error().code, ErrorCode::kDenied);
  EXPECT_TRUE(std::filesystem::is_empty(Path("private")));
}

TEST_P(Placings, TheDestinationStaysTheFolderItWas) {
  auto placing = Place();
  EXPECT_EQ(placing.MakeFolder("", Mode(0755)).value(), Placed::kUnchanged);
  std::filesystem::rename(Path("place"), Path("moved"));
  std::filesystem::create_symlink(Path("private"), Path("place"));
  EXPECT_TRUE(placing.Write("inner/file", kContent, Mode(0644)));
  EXPECT_TRUE(std::filesystem::exists(Path("moved/inner/file")));
  EXPECT_TRUE(std::filesystem::is_empty(Path("private")));
}

TEST_P(Placings, AFileWithASecondNameIsNotGivenAway) {
  WriteFile("private/file", 0600);
  std::filesystem::create_hard_link(Path("private/file"), Path("place/file"));
  auto placing = Place();
  EXPECT_FALSE(IsThere(placing, Mode(0644)).value());
  EXPECT_EQ(placing.Write("file", kContent, Mode(0644)).value(), Placed::kReplaced);
  EXPECT_EQ(StatusOf("private/file").st_uid, 0U);
  EXPECT_EQ(StatusOf("private/file").st_mode & 07777U, 0600U);
  EXPECT_EQ(StatusOf("place/file").st_uid, kOwner);
}

TEST_P(Placings, AFileOfAnotherUserIsReplacedInsteadOfTakenOver) {
  WriteFile("place/file", 0644);
  Give("place/file");
  auto placing = Place();
  EXPECT_FALSE(IsThere(placing, Mode(0644, 0)).value()) << "would become root's";
  EXPECT_FALSE(IsThere(placing, Mode(04755)).value()) << "would get a special bit";
  EXPECT_TRUE(IsThere(placing, Mode(0600)).value());
  EXPECT_EQ(StatusOf("place/file").st_mode & 07777U, 0600U);
}

TEST_P(Placings, AFileOfOnesOwnIsSetRight) {
  WriteFile("place/file", 0600);
  auto placing = Place();
  EXPECT_TRUE(IsThere(placing, Mode(0644)).value());
  EXPECT_EQ(StatusOf("place/file").st_uid, kOwner);
  EXPECT_EQ(StatusOf("place/file").st_mode & 07777U, 0644U);
}

TEST_P(Placings, MakesFoldersAndFilesWithTheirLooks) {
  auto placing = Place("new");
  EXPECT_EQ(placing.MakeFolder("", Mode(0750)).value(), Placed::kNew);
  EXPECT_EQ(placing.MakeFolder("sub", Mode(0700)).value(), Placed::kNew);
  EXPECT_EQ(placing.Write("sub/" + std::string(250, 'n'), kContent, Mode(0640)).value(),
            Placed::kNew)
      << "a name too long for a temporary one beside it";
  EXPECT_EQ(StatusOf("new").st_mode & 07777U, 0750U);
  EXPECT_EQ(StatusOf("new/sub").st_uid, kOwner);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(Path("new/sub")), {}), 1);
}

std::string NameOfWay(const testing::TestParamInfo<PathWalk::Way>& way) {
  return way.param == PathWalk::Way::kKernel ? "Kernel" : "Stepwise";
}

INSTANTIATE_TEST_SUITE_P(Placing, Placings,
                         testing::Values(PathWalk::Way::kKernel, PathWalk::Way::kStepwise),
                         NameOfWay);

}  // namespace
}  // namespace muster::agent
