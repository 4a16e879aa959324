#include "domain/audit_filter.hpp"

#include <gtest/gtest.h>

namespace muster {
namespace {

AuditEntry Entry() {
  AuditEntry entry;
  entry.at = {1000};
  entry.actor = "alice";
  entry.act = "run.stop";
  entry.run = RunId(7);
  return entry;
}

TEST(AuditFilter, EachPartBoundsIt) {
  EXPECT_TRUE(Matches(Entry(), {}));
  EXPECT_TRUE(Matches(
      Entry(),
      {.by = "alice", .act = "run.stop", .since = {1000}, .until = {1001}, .run = RunId(7)}));
  EXPECT_FALSE(Matches(Entry(), {.by = "bob"}));
  EXPECT_FALSE(Matches(Entry(), {.act = "run.start"}));
  EXPECT_FALSE(Matches(Entry(), {.since = {1001}}));
  EXPECT_FALSE(Matches(Entry(), {.until = {1000}}));
  EXPECT_FALSE(Matches(Entry(), {.run = RunId(8)}));
}

TEST(AuditFilter, UnknownActsAreRefused) {
  for (const auto act : AuditActs()) EXPECT_TRUE(CheckAct(act)) << act;
  for (const std::string_view act : {"", "run", "run.starts", "run.start "}) {
    const auto known = CheckAct(act);
    ASSERT_FALSE(known) << act;
    EXPECT_EQ(known.error().code, ErrorCode::kInvalid);
  }
}

}  // namespace
}  // namespace muster
