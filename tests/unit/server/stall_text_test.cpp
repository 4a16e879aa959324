#include "server/leading/stall_text.hpp"

#include <gtest/gtest.h>

namespace muster::server {
namespace {

TEST(StallText, FullDiskIsNamedWithItsFolder) {
  const auto text = StallText("sqlite: commit batch 3008: disk is full", "/var/lib/muster");
  EXPECT_NE(text.find("disk is full (/var/lib/muster)"), std::string::npos) << text;
  EXPECT_EQ(text.find("sqlite"), std::string::npos) << text;
}

TEST(StallText, DatabaseElsewhereHasADiskOfItsOwn) {
  const auto text = StallText("postgres: commit: the database's disk is full: could not extend",
                              "/var/lib/muster");
  EXPECT_EQ(text.find("/var/lib/muster"), std::string::npos) << text;
  EXPECT_NE(text.find("database's disk"), std::string::npos) << text;
}

TEST(StallText, OtherTroubleIsSaidInItsOwnWords) {
  EXPECT_NE(StallText("sqlite: commit batch 1: disk I/O error", "/d").find("disk I/O error"),
            std::string::npos);
}

}  // namespace
}  // namespace muster::server
