#include "cli/documents/file_root.hpp"

#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "cli/documents/document_files.hpp"
#include "support/temp_folder.hpp"

namespace muster::cli {
namespace {

namespace fs = std::filesystem;

// A repository `in` with links, beside files that it must not reach.
class Repository : public testing::Test {
 protected:
  Repository() {
    Put("secret", "outside");
    Put("in/a.sh", "inside");
    Put("in/sub/b.sh", "below");
    fs::create_symlink("../a.sh", At("in/sub/up"));
    fs::create_symlink("sub", At("in/folder"));
    fs::create_symlink("../secret", At("in/out"));
    fs::create_symlink(At("secret"), At("in/absolute"));
    fs::create_directory_symlink("..", At("in/parent"));
    fs::create_symlink("round", At("in/round"));
  }
  std::string At(const std::string& name) { return (folder_.Path() / name).string(); }
  void Put(const std::string& name, const std::string& text) {
    fs::create_directories(fs::path(At(name)).parent_path());
    std::ofstream(At(name), std::ios::binary) << text;
  }

  TempFolder folder_;
};

using FileRootTest = Repository;

ErrorCode CodeOf(const Result<std::string>& result) {
  return result ? ErrorCode::kInternal : result.error().code;
}

TEST_F(FileRootTest, ReadsWhatIsInside) {
  const auto root = FileRoot::Within(At("in"));
  ASSERT_TRUE(root);
  EXPECT_EQ(root->Read("a.sh", 100), "inside");
  EXPECT_EQ(root->Read("sub/../a.sh", 100), "inside");
  EXPECT_EQ(root->Read("sub/up", 100), "inside");
  EXPECT_EQ(root->Read("folder/b.sh", 100), "below");
  EXPECT_EQ(root->Read("./sub//b.sh", 100), "below");
}

TEST_F(FileRootTest, RefusesWhatLeadsOut) {
  const auto root = FileRoot::Within(At("in"));
  ASSERT_TRUE(root);
  for (const std::string path : {"../secret", "sub/../../secret", "out", "absolute",
                                 "parent/secret", "/etc/passwd", "folder/../../secret"})
    EXPECT_EQ(CodeOf(root->Read(path, 100)), ErrorCode::kDenied) << path;
}

TEST_F(FileRootTest, RefusesWhatIsNoFile) {
  const auto root = FileRoot::Within(At("in"));
  ASSERT_TRUE(root);
  ASSERT_EQ(::mkfifo(At("in/pipe").c_str(), 0600), 0);
  EXPECT_EQ(CodeOf(root->Read("pipe", 100)), ErrorCode::kInvalid);
  EXPECT_EQ(CodeOf(root->Read("sub", 100)), ErrorCode::kInvalid);
  EXPECT_EQ(CodeOf(root->Read("none", 100)), ErrorCode::kNotFound);
  EXPECT_EQ(CodeOf(root->Read("round", 100)), ErrorCode::kInvalid);
  EXPECT_EQ(CodeOf(root->Read("a.sh", 5)), ErrorCode::kInvalid);
}

TEST_F(FileRootTest, RefusesNamesThatBeginWithADot) {
  Put("in/.env", "token");
  Put("in/.git/config", "token");
  Put("in/..odd", "no parent");
  fs::create_symlink(".git/config", At("in/link"));
  fs::create_directory_symlink(".git", At("in/repository"));
  const auto root = FileRoot::Within(At("in"));
  ASSERT_TRUE(root);
  for (const std::string path : {".env", "./.env", "sub/../.env", ".git/config", ".git/../a.sh",
                                 "..odd", "link", "repository/config"})
    EXPECT_EQ(CodeOf(root->Read(path, 100)), ErrorCode::kDenied) << path;
  EXPECT_EQ(root->Read("./sub/../a.sh", 100), "inside");
  const auto all = FileRoot::Within(At("in"), {.dot_files = true});
  ASSERT_TRUE(all);
  for (const std::string path : {".env", "link", "repository/config"})
    EXPECT_EQ(all->Read(path, 100), "token") << path;
  // The folder itself is the caller's choice.
  const auto hidden = FileRoot::Within(At("in/.git"));
  ASSERT_TRUE(hidden);
  EXPECT_EQ(hidden->Read("config", 100), "token");
}

TEST_F(FileRootTest, RefusesTheCallersOwnTokenUnderEachOfItsNames) {
  Put("in/token", "mine");
  fs::create_symlink("token", At("in/link"));
  fs::create_hard_link(At("in/token"), At("in/second"));
  const auto root =
      FileRoot::Within(At("in"), {.dot_files = true, .credentials = {"", At("in/token")}});
  ASSERT_TRUE(root);
  for (const std::string path : {"token", "link", "second"})
    EXPECT_EQ(CodeOf(root->Read(path, 100)), ErrorCode::kDenied) << path;
  EXPECT_EQ(root->Read("a.sh", 100), "inside");
}

TEST_F(FileRootTest, NowhereHasNoFiles) {
  EXPECT_EQ(CodeOf(FileRoot::Nowhere().Read("a.sh", 100)), ErrorCode::kDenied);
}

class DocumentFilesTest : public Repository {
 protected:
  static std::string Job(const std::string& script) {
    return "apiVersion: muster/v1\nkind: job\nname: j\ntargets: all\nstages:\n  - name: one\n"
           "    script: {file: " +
           script + "}\n";
  }
};

TEST_F(DocumentFilesTest, KeepsToTheFolderThatWasGiven) {
  Put("in/sub/job.yaml", Job("../a.sh"));
  EXPECT_TRUE(ReadDocumentFiles({At("in")}, {})->reading.problems.empty());
  // Of a file that was named, the bound is its own folder.
  const auto alone = ReadDocumentFiles({At("in/sub/job.yaml")}, {});
  ASSERT_TRUE(alone);
  ASSERT_EQ(alone->reading.problems.size(), 1U);
  EXPECT_EQ(alone->reading.problems[0].position.line, 7U);
  EXPECT_TRUE(
      ReadDocumentFiles({At("in/sub/job.yaml")}, {.root = At("in")})->reading.problems.empty());
}

TEST_F(DocumentFilesTest, RefusesDocumentsThatLinkOut) {
  Put("other.yaml", Job("a.sh"));
  fs::create_symlink("../other.yaml", At("in/link.yaml"));
  const auto files = ReadDocumentFiles({At("in")}, {});
  ASSERT_FALSE(files);
  EXPECT_EQ(files.error().code, ErrorCode::kDenied);
  EXPECT_TRUE(ReadDocumentFiles({At("in")}, {.root = folder_.Path().string()}));
}

TEST_F(DocumentFilesTest, LooksAtNothingThatBeginsWithADot) {
  Put("in/job.yaml", Job("a.sh"));
  Put("in/.github/job.yaml", "no document");
  Put("in/.hidden.yaml", "no document");
  EXPECT_TRUE(ReadDocumentFiles({At("in")}, {})->reading.problems.empty());
  EXPECT_FALSE(
      ReadDocumentFiles({At("in")}, {.rules = {.dot_files = true}})->reading.problems.empty());
}

TEST_F(DocumentFilesTest, RefusesAFolderOutsideTheRoot) {
  Put("in/job.yaml", Job("a.sh"));
  Put("elsewhere/x", {});
  const auto files = ReadDocumentFiles({At("in")}, {.root = At("elsewhere")});
  ASSERT_FALSE(files);
  EXPECT_EQ(files.error().code, ErrorCode::kInvalid);
}

}  // namespace
}  // namespace muster::cli
