#include <filesystem>
#include <fstream>
#include <sys/stat.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "adapters/crypto/digest.hpp"
#include "cli/files/fetched_files.hpp"
#include "cli/files/local_files.hpp"
#include "support/temp_folder.hpp"

namespace muster::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class PlanCopyTest : public testing::Test {
 protected:
  std::string At(const std::string& name) { return (folder_.Path() / name).string(); }
  void Write(const std::string& name, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(At(name)).parent_path());
    std::ofstream(At(name), std::ios::binary) << text;
    ::chmod(At(name).c_str(), 0640);
  }
  std::vector<std::string> Names(const Result<CopyPlan>& plan) {
    std::vector<std::string> names;
    if (!plan) return {plan.error().message};
    for (const auto& file : plan->files)
      names.push_back(file.entry.path + (file.entry.folder ? "/" : ""));
    return names;
  }

  TempFolder folder_;
  std::vector<std::string> left_out_;
};

TEST_F(PlanCopyTest, OneFileKeepsItsNameForAFolder) {
  Write("kernel.deb", "x");
  const auto plan = PlanCopy({At("kernel.deb")}, "/var/tmp/", left_out_);
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_FALSE(plan->tree);
  EXPECT_EQ(plan->to, "/var/tmp/");
  EXPECT_EQ(plan->name, "kernel.deb");
  ASSERT_EQ(plan->files.size(), 1U);
  EXPECT_EQ(plan->files[0].entry.path, "");
  EXPECT_EQ(plan->files[0].entry.mode, 0640U);
}

TEST_F(PlanCopyTest, OneFolderIsATree) {
  Write("conf/b/c", "x");
  Write("conf/a", "x");
  std::filesystem::create_symlink("a", At("conf/link"));
  std::filesystem::create_directory_symlink("/etc", At("conf/etc"));
  const auto plan = PlanCopy({At("conf/")}, "/etc/app", left_out_);
  EXPECT_THAT(Names(plan), ElementsAre("/", "a", "b/", "b/c", "link"));
  EXPECT_TRUE(plan->tree);
  EXPECT_EQ(plan->name, "conf");
  EXPECT_THAT(left_out_, ElementsAre(At("conf/etc") + " is a link to a folder"));
}

TEST_F(PlanCopyTest, ALinkOfAnotherUserLeadsToTheirOwnFilesOnly) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a link away";
  constexpr uid_t kOther = 65534;
  const auto give = [&](const std::string& name) {
    ASSERT_EQ(::lchown(At(name).c_str(), kOther, kOther), 0);
  };
  Write("secret", "x");
  Write("conf/theirs", "x");
  give("conf/theirs");
  for (const char* name : {"a", "b"}) {
    std::filesystem::create_symlink("../secret", At("conf/") + name);
  }
  std::filesystem::create_symlink("theirs", At("conf/c"));
  give("conf/b");
  give("conf/c");
  const auto plan = PlanCopy({At("conf")}, "/etc/app", left_out_);
  EXPECT_THAT(Names(plan), ElementsAre("/", "a", "c", "theirs"));
  EXPECT_THAT(left_out_, ElementsAre(HasSubstr("conf/b is a link of another user (uid 65534)")));
  // One that takes a file's place later is not followed either.
  std::filesystem::remove(At("conf/a"));
  std::filesystem::create_symlink("../secret", At("conf/a"));
  give("conf/a");
  const auto hash = HashFile(plan->files[1].path, plan->files[1].root);
  ASSERT_FALSE(hash);
  EXPECT_EQ(hash.error().code, ErrorCode::kDenied);
}

TEST_F(PlanCopyTest, SeveralGoIntoAFolder) {
  Write("a", "x");
  Write("dir/b", "x");
  const auto plan = PlanCopy({At("a"), At("dir")}, "/srv", left_out_);
  EXPECT_THAT(Names(plan), ElementsAre("a", "dir/", "dir/b"));
  EXPECT_TRUE(plan->tree);
  EXPECT_EQ(plan->to, "/srv/");
  EXPECT_EQ(plan->name, "");
}

TEST_F(PlanCopyTest, SaysWhatCannotBeSent) {
  Write("a", "x");
  Write("other/a", "x");
  Write("bad\xff", "x");
  ASSERT_EQ(::mkfifo(At("pipe").c_str(), 0600), 0);
  const auto said = [&](const std::vector<std::string>& sources, const std::string& to) {
    const auto plan = PlanCopy(sources, to, left_out_);
    return plan ? "" : plan.error().message;
  };
  EXPECT_THAT(said({At("none")}, "/a"), HasSubstr("No such file"));
  EXPECT_THAT(said({At("a")}, "a"), HasSubstr("begins with /"));
  EXPECT_THAT(said({At("pipe")}, "/a"), HasSubstr("neither a file nor a folder"));
  EXPECT_THAT(said({At("a"), At("other/a")}, "/a"), HasSubstr("the same file"));
  EXPECT_THAT(said({At("a"), At("bad\xff")}, "/a"), HasSubstr("not UTF-8"));
}

TEST_F(PlanCopyTest, HashesAFile) {
  const std::string text(3'000'000, 'x');
  Write("a", text);
  const auto hash = HashFile(At("a"));
  ASSERT_TRUE(hash);
  EXPECT_EQ(hash->sha256, crypto::Sha256(text));
  EXPECT_EQ(hash->size, text.size());
  EXPECT_FALSE(HashFile(At("none")));
}

TEST(LocalNameOf, StaysInTheHostsFolder) {
  EXPECT_EQ(LocalNameOf("web1", "/etc/app.conf"), "web1/etc/app.conf");
  EXPECT_EQ(LocalNameOf("web1", "/a\nb"), "web1/a\nb");
  for (const char* path : {"/../x", "/a/../../x", "relative", "/a//b", "/", "/a/.", ""})
    EXPECT_FALSE(LocalNameOf("web1", path)) << path;
  EXPECT_FALSE(LocalNameOf("..", "/a"));
  EXPECT_FALSE(LocalNameOf("a/b", "/a"));
}

}  // namespace
}  // namespace muster::cli
