#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "adapters/records/row_values.hpp"
#include "adapters/records/sql.hpp"

namespace muster::records {
namespace {

std::string Kept(const std::string& name) {
  std::ifstream file(std::string(MUSTER_TESTS) + "/data/schema/" + name);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// A version that a release has carried never changes: a table or an index that comes later says
// `since`, and is a step of its own. If a test below fails, either say so in tables.cpp, or, while
// no release has carried the version, keep the new text.
TEST(Schema, VersionOfAReleaseStaysAsItIs) {
  for (std::uint32_t version = 1; version <= kSchemaVersion; ++version) {
    EXPECT_EQ(CreateTables(Dialect::kSqlite, version), Kept(fmt::format("sqlite-{}.sql", version)));
    EXPECT_EQ(CreateTables(Dialect::kPostgres, version),
              Kept(fmt::format("postgres-{}.sql", version)));
  }
}

TEST(Schema, EveryTableAndIndexBelongsToAVersion) {
  for (const auto& table : Tables()) {
    EXPECT_GE(table.since, 1U) << table.name;
    EXPECT_LE(table.since, kSchemaVersion) << table.name;
    EXPECT_LE(table.keys, table.columns.size()) << table.name;
    for (const auto& index : table.indexes) EXPECT_LE(index.since, kSchemaVersion) << index.name;
  }
}

// Statements compare states with these numbers.
TEST(Schema, FinalStatesFollowTheOpenOnes) {
  for (std::size_t i = 0; i < kTaskStates; ++i)
    EXPECT_EQ(IsFinal(static_cast<TaskState>(i)), static_cast<int>(i) >= kFirstFinalTask);
  for (int i = 0; i <= static_cast<int>(RunState::kCancelled); ++i)
    EXPECT_EQ(IsFinal(static_cast<RunState>(i)), i >= kFirstFinalRun);
}

}  // namespace
}  // namespace muster::records
