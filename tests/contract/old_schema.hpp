#pragma once

#include <filesystem>
#include <string>

#include <gtest/gtest.h>
#include <sqlite3.h>

namespace muster {

// Takes the tables that today's musterd made in `folder` back to those of schema 1, then runs
// `rows`: what a musterd of then left behind.
inline void BackToSchema1(const std::filesystem::path& folder, const std::string& rows) {
  constexpr const char* kTables = R"(
    DROP TABLE trigger_row; DROP TABLE slot;
    DROP TABLE freeze; DROP TABLE secret; DROP TABLE notice; DROP TABLE document; DROP TABLE document_head;
    DROP TABLE plan; DROP TABLE visit; DROP TABLE hold; ALTER TABLE run DROP COLUMN whole;
    DELETE FROM meta WHERE name = 'audit_hash';
    DROP TABLE token; DROP TABLE audit_host; DROP TABLE pending_join; DROP INDEX invite_used;
    DROP INDEX audit_removed; DROP INDEX audit_actor; DROP INDEX audit_act; DROP INDEX audit_at; DROP INDEX audit_run;
    ALTER TABLE audit DROP COLUMN client; ALTER TABLE audit DROP COLUMN reason;
    ALTER TABLE audit DROP COLUMN run; ALTER TABLE audit DROP COLUMN hosts;
    ALTER TABLE audit DROP COLUMN names; ALTER TABLE audit DROP COLUMN command;
    ALTER TABLE audit DROP COLUMN command_sha256; ALTER TABLE audit DROP COLUMN previous;
    ALTER TABLE audit DROP COLUMN hash;
    PRAGMA user_version = 1;
  )";
  sqlite3* raw = nullptr;
  ASSERT_EQ(sqlite3_open((folder / "muster.db").c_str(), &raw), SQLITE_OK);
  for (const char* sql : {kTables, rows.c_str()}) {
    char* problem = nullptr;
    EXPECT_EQ(sqlite3_exec(raw, sql, nullptr, nullptr, &problem), SQLITE_OK) << problem;
    sqlite3_free(problem);
  }
  sqlite3_close(raw);
}

}  // namespace muster
