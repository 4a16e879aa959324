#include "server/keeping/file_retention.hpp"

#include <set>

#include <gtest/gtest.h>

#include "adapters/artifacts/memory_artifacts.hpp"
#include "adapters/crypto/digest.hpp"
#include "ports/clock.hpp"

namespace muster::server {
namespace {

class FileRetention : public ::testing::Test {
 protected:
  class SetClock final : public Clock {
   public:
    Now Read() const override { return now; }
    Now now{WallTime{1'000'000}, MonoTime{1}};
  };

  std::string Put(const std::string& content) {
    const std::string sha256 = crypto::Sha256(content);
    auto upload = files_.Begin(sha256, "token op", content.size(), 0);
    EXPECT_TRUE((*upload)->Append(content));
    EXPECT_TRUE((*upload)->Finish());
    return sha256;
  }
  std::set<std::string> Left() {
    std::set<std::string> left;
    for (const auto& file : *files_.List("", 100)) left.insert(file.sha256);
    return left;
  }
  std::size_t Drop(const IsNamed& is_named) {
    const auto gone =
        DropOldFiles(files_, clock_.now.wall + -Duration(1000), is_named, [] { return true; });
    EXPECT_TRUE(gone);
    return gone ? *gone : 0;
  }

  SetClock clock_;
  MemoryArtifacts files_{clock_};
};

TEST_F(FileRetention, DropsWhatIsOldAndNamedByNothing) {
  const auto old = Put("old");
  const auto named = Put("named");
  clock_.now.wall = clock_.now.wall + Duration(5000);
  const auto fresh = Put("fresh");
  EXPECT_EQ(Drop([&](const std::string& sha256) -> Result<bool> { return sha256 == named; }), 1U);
  EXPECT_EQ(Left(), (std::set{named, fresh}));
}

TEST_F(FileRetention, WhatIsUsedMeanwhileStays) {
  const auto file = Put("x");
  clock_.now.wall = clock_.now.wall + Duration(5000);
  const auto used_meanwhile = [&](const std::string& sha256) -> Result<bool> {
    EXPECT_TRUE(files_.Find(sha256));
    return false;
  };
  EXPECT_EQ(Drop(used_meanwhile), 0U);
  EXPECT_EQ(Left(), std::set{file});
}

TEST_F(FileRetention, DoubtKeepsEverything) {
  const auto file = Put("x");
  clock_.now.wall = clock_.now.wall + Duration(5000);
  const auto gone = DropOldFiles(
      files_, clock_.now.wall,
      [](const std::string&) -> Result<bool> { return Fail(ErrorCode::kUnavailable, "no leader"); },
      [] { return true; });
  EXPECT_FALSE(gone);
  EXPECT_EQ(Left(), std::set{file});
}

}  // namespace
}  // namespace muster::server
