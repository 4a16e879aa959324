#include "server/keeping/logs_kept.hpp"

#include <gtest/gtest.h>

namespace muster::server {
namespace {

TEST(LogsKeptTest, EverythingIsKeptWithoutBounds) {
  EXPECT_EQ(LogsKept{}.LossOf(WallTime{1}), LogLoss::kNone);
}

TEST(LogsKeptTest, OldOutputIsDroppedByRetention) {
  const LogsKept kept{.since = WallTime{100}};
  EXPECT_EQ(kept.LossOf(WallTime{99}), LogLoss::kRetention);
  EXPECT_EQ(kept.LossOf(WallTime{100}), LogLoss::kNone);
}

TEST(LogsKeptTest, RestoreWithoutOutputIsTheReasonForWhatTheBackupLacked) {
  // The backup was taken when retention kept what is from 20 on.
  const LogsKept kept{
      .since = WallTime{100}, .restored = WallTime{80}, .since_at_backup = WallTime{20}};
  EXPECT_EQ(kept.LossOf(WallTime{10}), LogLoss::kRetention) << "it was gone before the backup";
  EXPECT_EQ(kept.LossOf(WallTime{50}), LogLoss::kRestore);
  EXPECT_EQ(kept.LossOf(WallTime{90}), LogLoss::kRetention) << "it is from after the restore";
  EXPECT_EQ(kept.LossOf(WallTime{100}), LogLoss::kNone);
}

}  // namespace
}  // namespace muster::server
