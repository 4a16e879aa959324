#include "domain/log_mark.hpp"

#include <gtest/gtest.h>

namespace muster {
namespace {

TEST(LogMark, CarriesTheMaskedDigestAsTheNodeToldIt) {
  LogTotals totals{
      .bytes = 3, .stdout_sha256 = std::string(32, 'o'), .stderr_sha256 = kEmptySha256};
  EXPECT_EQ(MarkOf(totals, 3, totals.stdout_sha256, kEmptySha256)->masked_sha256, "");
  totals.masked_sha256 = std::string(32, 'm');
  const auto mark = MarkOf(totals, 3, totals.stdout_sha256, kEmptySha256);
  ASSERT_TRUE(mark);
  EXPECT_EQ(mark->masked_sha256, totals.masked_sha256);
  EXPECT_EQ(mark->state, LogState::kComplete);
}

}  // namespace
}  // namespace muster
