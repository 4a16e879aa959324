#include "cli/files/host_share.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace muster::cli {
namespace {

const std::vector<std::string> kAsked = {"/srv/app"};

bool IsAdmitted(HostShare& share, const std::string& path, std::uint64_t size) {
  const auto admitted = share.Admit({path, std::string(32, 'x'), size, 0644});
  if (!admitted) EXPECT_EQ(admitted.error().code, ErrorCode::kDenied);
  return admitted.has_value();
}

TEST(HostShare, CountsEveryFile) {
  HostShare share(kAsked, 100);
  EXPECT_TRUE(IsAdmitted(share, "/srv/app/a", 60));
  EXPECT_FALSE(IsAdmitted(share, "/srv/app/b", 41)) << "the same content counts again";
  EXPECT_FALSE(IsAdmitted(share, "/srv/app/b", UINT64_MAX));
  EXPECT_TRUE(IsAdmitted(share, "/srv/app/b", 40));
  EXPECT_TRUE(IsAdmitted(share, "/srv/app/empty", 0));
  EXPECT_FALSE(IsAdmitted(share, "/srv/app/c", 1));
}

TEST(HostShare, TakesWhatWasAskedForOnce) {
  HostShare share(kAsked, 100);
  EXPECT_FALSE(IsAdmitted(share, "/srv/other", 1));
  EXPECT_TRUE(IsAdmitted(share, "/srv/app/a", 1));
  EXPECT_FALSE(IsAdmitted(share, "/srv/app/a", 1));
}

TEST(HostShare, BoundsTheNumberOfFiles) {
  HostShare share(kAsked, 100);
  for (std::size_t i = 0; i < kMostPulledFiles; ++i)
    ASSERT_TRUE(IsAdmitted(share, "/srv/app/" + std::to_string(i), 0));
  EXPECT_FALSE(IsAdmitted(share, "/srv/app/more", 0));
}

TEST(ModeHere, GivesOthersNoRightToWrite) {
  EXPECT_EQ(ModeHere(06777), 0755U);
  EXPECT_EQ(ModeHere(0666), 0644U);
  EXPECT_EQ(ModeHere(0400), 0600U);
  EXPECT_EQ(ModeHere(0), 0600U);
  EXPECT_EQ(ModeHere(0177777), 0755U);
}

}  // namespace
}  // namespace muster::cli
