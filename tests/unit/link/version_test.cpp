#include "link/version.hpp"

#include <gtest/gtest.h>

namespace muster::link {
namespace {

TEST(Version, ReadsThreeNumbers) {
  EXPECT_EQ(Version::Parse("1.4.2"), (Version{1, 4, 2}));
  EXPECT_EQ(Version::Parse("1.4.2-rc1"), (Version{1, 4, 2}));
  EXPECT_EQ(Version::Parse("0.10.0+git"), (Version{0, 10, 0}));
  for (const char* text : {"", "sim", "1", "1.4", "1.4.", "1.4.2x", ".4.2", "-1.4.2", "1,4,2"})
    EXPECT_FALSE(Version::Parse(text)) << text;
}

TEST(VersionMisfit, LetsInTwoMinorVersionsBehindAndOneAhead) {
  for (const char* node : {"1.5.0", "1.5.9", "1.4.0", "1.3.7", "1.6.0", "of-my-own", ""})
    EXPECT_FALSE(VersionMisfit("1.5.3", node)) << node;
}

TEST(VersionMisfit, KeepsOutWhatIsFurtherApart) {
  for (const char* node : {"1.2.9", "1.7.0", "0.5.3", "2.5.3"})
    EXPECT_TRUE(VersionMisfit("1.5.3", node)) << node;
}

TEST(VersionMisfit, SaysWhichSideToUpgrade) {
  EXPECT_EQ(VersionMisfit("1.5.3", "0.9.0"),
            "agent 0.9.0 does not work with server 1.5.3: upgrade the agent");
  EXPECT_EQ(VersionMisfit("1.5.3", "2.0.0"),
            "agent 2.0.0 does not work with server 1.5.3: upgrade the server");
}

}  // namespace
}  // namespace muster::link
