#include "agent/transfer/path_walk.hpp"

#include <array>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "support/own_terminal.hpp"
#include "support/temp_folder.hpp"

namespace muster::agent {
namespace {

constexpr uid_t kNobody = 65534;
constexpr uid_t kMallory = 12345;

// Both ways must give the same answers: the second one is for kernels without openat2.
class Walks : public testing::TestWithParam<PathWalk::Way> {
 protected:
  void SetUp() override {
    ASSERT_TRUE(std::filesystem::create_directories(Path("real/inner")));
    std::ofstream(Path("real/file")) << "text";
  }

  std::string Path(const std::string& name) const { return (folder_.Path() / name).string(); }
  void Link(const std::string& target, const std::string& name, uid_t owner) const {
    std::filesystem::create_symlink(target, Path(name));
    if (owner != ::geteuid()) {
      ASSERT_EQ(::lchown(Path(name).c_str(), owner, owner), 0);
    }
  }
  PathWalk Walk(uid_t user = ::geteuid()) const { return PathWalk(user, GetParam()); }

  static bool IsSame(const Fd& fd, const std::string& path) {
    struct stat mine{};
    struct stat there{};
    return ::fstat(fd.Get(), &mine) == 0 && ::stat(path.c_str(), &there) == 0 &&
           mine.st_ino == there.st_ino && mine.st_dev == there.st_dev;
  }
  static ErrorCode CodeOf(const Result<Fd>& opened) {
    return opened ? ErrorCode::kInternal : opened.error().code;
  }

  TempFolder folder_;
};

TEST_P(Walks, OpensAPathWithoutLinks) {
  auto walk = Walk();
  const auto folder = walk.Folder(Path("real/inner"));
  ASSERT_TRUE(folder) << folder.error().message;
  EXPECT_TRUE(IsSame(*folder, Path("real/inner")));
  const auto file = walk.Open(Path("real/inner/../file"), O_RDONLY);
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_TRUE(IsSame(*file, Path("real/file")));
  EXPECT_TRUE(IsSame(walk.Folder("/").value(), "/"));
}

TEST_P(Walks, TellsWhatIsMissingAndWhatIsNoFolder) {
  auto walk = Walk();
  EXPECT_EQ(CodeOf(walk.Folder(Path("none"))), ErrorCode::kNotFound);
  EXPECT_EQ(CodeOf(walk.Folder(Path("none/inner"))), ErrorCode::kNotFound);
  EXPECT_EQ(CodeOf(walk.Folder(Path("real/file"))), ErrorCode::kInvalid);
  EXPECT_EQ(CodeOf(walk.Folder(Path("real/file/inner"))), ErrorCode::kInvalid);
}

TEST_P(Walks, FollowsLinksOfItsOwnUser) {
  Link("real", "relative", ::geteuid());
  Link(Path("relative/inner/.."), "absolute", ::geteuid());
  auto walk = Walk();
  for (const char* path : {"relative/inner", "absolute/inner", "absolute/../relative/inner"}) {
    const auto folder = walk.Folder(Path(path));
    ASSERT_TRUE(folder) << folder.error().message;
    EXPECT_TRUE(IsSame(*folder, Path("real/inner")));
  }
  EXPECT_TRUE(walk.Open(Path("relative/file"), O_RDONLY));
}

TEST_P(Walks, GivesUpOnACircle) {
  Link("two", "one", ::geteuid());
  Link("one", "two", ::geteuid());
  EXPECT_EQ(CodeOf(Walk().Folder(Path("one"))), ErrorCode::kDenied);
}

TEST_P(Walks, FollowsNoLinkBelow) {
  Link("inner", "real/link", ::geteuid());
  auto walk = Walk();
  const auto root = walk.Folder(Path("real"));
  ASSERT_TRUE(root);
  EXPECT_TRUE(IsSame(walk.Below(root->Get(), "inner").value(), Path("real/inner")));
  EXPECT_TRUE(IsSame(walk.Below(root->Get(), "").value(), Path("real")));
  EXPECT_EQ(CodeOf(walk.Below(root->Get(), "link")), ErrorCode::kDenied);
  EXPECT_EQ(CodeOf(walk.Below(root->Get(), "file")), ErrorCode::kInvalid);
  EXPECT_EQ(CodeOf(walk.Below(root->Get(), "inner/none")), ErrorCode::kNotFound);
}

TEST_P(Walks, StaysInAFolderThatWasMoved) {
  auto walk = Walk();
  const auto root = walk.Folder(Path("real"));
  ASSERT_TRUE(root);
  std::filesystem::rename(Path("real"), Path("moved"));
  Link("/etc", "real", ::geteuid());
  EXPECT_TRUE(IsSame(walk.Below(root->Get(), "inner").value(), Path("moved/inner")));
}

TEST_P(Walks, TakesNoTerminal) {
  const OwnTerminal terminal;
  Link(terminal.Path(), "terminal", ::geteuid());
  for (const auto& path : {terminal.Path(), Path("terminal")})
    EXPECT_EQ(OwnTerminal::WhenOpened(
                  [&] { return Walk().Open(path, O_RDONLY | O_NONBLOCK).has_value(); }),
              OwnTerminal::Seen::kOpened)
        << path;
}

class RootWalks : public Walks {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root";
    Walks::SetUp();
    ::chmod(folder_.Path().c_str(), 0755);
  }
  void Give(const std::string& name, uid_t owner) const {
    ASSERT_EQ(::lchown(Path(name).c_str(), owner, owner), 0);
  }
};

TEST_P(RootWalks, FollowsLinksOfRootForAllUsers) {
  Link("real", "link", 0);
  EXPECT_TRUE(Walk(0).Folder(Path("link/inner")));
  EXPECT_TRUE(Walk(kNobody).Folder(Path("link/inner")));
}

TEST_P(RootWalks, FollowsNoLinkOfAnotherUserToWhatIsNotThatUsers) {
  Link("real", "link", kMallory);
  Link("real/file", "file", kMallory);
  for (const uid_t user : {uid_t{0}, kNobody}) {
    EXPECT_EQ(CodeOf(Walk(user).Folder(Path("link"))), ErrorCode::kDenied);
    EXPECT_EQ(CodeOf(Walk(user).Folder(Path("link/inner"))), ErrorCode::kDenied);
    EXPECT_EQ(CodeOf(Walk(user).Open(Path("file"), O_RDONLY)), ErrorCode::kDenied);
  }
  EXPECT_TRUE(Walk(kMallory).Folder(Path("link")));
}

TEST_P(RootWalks, FollowsALinkOfAnotherUserToWhatIsThatUsers) {
  Link("real", "link", kMallory);
  Link("real/file", "file", kMallory);
  Give("real", kMallory);
  Give("real/file", kMallory);
  EXPECT_TRUE(Walk(0).Folder(Path("link")));
  EXPECT_TRUE(Walk(0).Open(Path("file"), O_RDONLY));
  EXPECT_EQ(CodeOf(Walk(0).Folder(Path("link/inner"))), ErrorCode::kDenied) << "root's";
}

TEST_P(RootWalks, FollowsNoChainOfTwoOtherUsers) {
  Link("real", "second", kNobody);
  Link("second", "first", kMallory);
  Give("real", kNobody);
  EXPECT_TRUE(Walk(0).Folder(Path("second")));
  EXPECT_EQ(CodeOf(Walk(0).Folder(Path("first"))), ErrorCode::kDenied);
}

std::string WayName(const testing::TestParamInfo<PathWalk::Way>& info) {
  return info.param == PathWalk::Way::kKernel ? "Kernel" : "Stepwise";
}

constexpr std::array kBothWays = {PathWalk::Way::kKernel, PathWalk::Way::kStepwise};
INSTANTIATE_TEST_SUITE_P(PathWalk, Walks, testing::ValuesIn(kBothWays), WayName);
INSTANTIATE_TEST_SUITE_P(PathWalk, RootWalks, testing::ValuesIn(kBothWays), WayName);

}  // namespace
}  // namespace muster::agent
