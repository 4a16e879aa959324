#include "adapters/files/beneath.hpp"

#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "support/own_terminal.hpp"
#include "support/temp_folder.hpp"

namespace muster::files {
namespace {

namespace fs = std::filesystem;

// A folder `in` with links, beside files that it must not reach.
class BeneathTest : public testing::Test {
 protected:
  BeneathTest() {
    Put("secret");
    Put("in/a.sh");
    Put("in/sub/b.sh");
    fs::create_symlink("../a.sh", At("in/sub/up"));
    fs::create_symlink("sub", At("in/folder"));
    fs::create_symlink(".", At("in/here"));
    fs::create_symlink("../secret", At("in/out"));
    fs::create_symlink(At("secret"), At("in/absolute"));
    fs::create_directory_symlink("..", At("in/parent"));
    fs::create_symlink("round", At("in/round"));
    root_ = Fd(::open(At("in").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  }
  std::string At(const std::string& name) { return (folder_.Path() / name).string(); }
  void Put(const std::string& name) {
    fs::create_directories(fs::path(At(name)).parent_path());
    std::ofstream(At(name)) << "x";
  }
  static ino_t InodeOf(const Fd& fd) {
    struct stat status{};
    return ::fstat(fd.Get(), &status) == 0 ? status.st_ino : 0;
  }

  TempFolder folder_;
  Fd root_;
};

TEST_F(BeneathTest, WalkAgreesWithTheKernel) {
  for (const std::string path : {"a.sh",
                                 "sub/../a.sh",
                                 "sub/up",
                                 "folder/b.sh",
                                 "./sub//b.sh",
                                 "../secret",
                                 "out",
                                 "absolute",
                                 "parent/secret",
                                 "/etc/passwd",
                                 "folder/../../secret",
                                 "none",
                                 "a.sh/x",
                                 "round",
                                 "sub/..",
                                 "folder",
                                 ".",
                                 "sub/up/x",
                                 "here",
                                 "here/a.sh",
                                 "here/here/sub/b.sh"})
    for (const auto links : {Links::kInside, Links::kNone})
      for (const int flags :
           {O_RDONLY, O_PATH, O_PATH | O_NOFOLLOW, O_RDONLY | O_DIRECTORY, O_PATH | O_DIRECTORY}) {
        errno = 0;
        const Fd walked = WalkBeneath(root_.Get(), path, flags, links);
        const int walk_error = walked ? 0 : errno;
        errno = 0;
        const Fd opened = OpenBeneath(root_.Get(), path, flags, links);
        const int open_error = opened ? 0 : errno;
        EXPECT_EQ(walk_error, open_error) << path << " " << flags << " " << int(links);
        if (walked && opened) EXPECT_EQ(InodeOf(walked), InodeOf(opened)) << path << " " << flags;
      }
}

TEST_F(BeneathTest, MakesFoldersAsFarAsThereIsRoom) {
  std::size_t room = 3;
  EXPECT_TRUE(MakeBeneath(root_.Get(), "sub/x/y", 0777, room));
  EXPECT_EQ(room, 1U);
  EXPECT_TRUE(MakeBeneath(root_.Get(), "sub/x/y", 0777, room));
  EXPECT_EQ(room, 1U);
  EXPECT_FALSE(MakeBeneath(root_.Get(), "sub/1/2", 0777, room));
  EXPECT_EQ(errno, EDQUOT);
  EXPECT_FALSE(fs::exists(At("in/sub/1/2")));
}

TEST_F(BeneathTest, TakesNoTerminal) {
  const OwnTerminal terminal;
  const fs::path path = terminal.Path();
  const Fd folder(::open(path.parent_path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  for (const auto open : {&OpenBeneath, &WalkBeneath})
    EXPECT_EQ(OwnTerminal::WhenOpened([&] {
                return static_cast<bool>(
                    open(folder.Get(), path.filename(), O_RDONLY | O_NONBLOCK, Links::kNone));
              }),
              OwnTerminal::Seen::kOpened);
}

TEST_F(BeneathTest, MakesNoFolderThroughALink) {
  std::size_t room = 10;
  for (const std::string path : {"folder/new", "parent/new", "sub/up/new", "absolute/new"}) {
    EXPECT_FALSE(MakeBeneath(root_.Get(), path, 0777, room)) << path;
    EXPECT_EQ(errno, ELOOP) << path;
  }
  EXPECT_FALSE(MakeBeneath(root_.Get(), "a.sh/new", 0777, room));
  EXPECT_EQ(errno, ENOTDIR);
  EXPECT_EQ(room, 10U);
  EXPECT_FALSE(fs::exists(At("new")));
}

}  // namespace
}  // namespace muster::files
