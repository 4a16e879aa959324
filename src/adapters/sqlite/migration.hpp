#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "adapters/sqlite/database.hpp"

namespace muster::sqlite {

// The tables of one kind of database, as the story of how they came to be: those of version 1, then
// one step for each version after it. A step that a release has carried never changes; a change of
// the tables is a new step at the end. A fresh database takes the same steps, so there is one
// story.
struct Schema {
  std::string first;               // SQL that makes version 1
  std::vector<std::string> steps;  // steps[i] brings version i + 1 to i + 2
  std::string rows;                // SQL for a fresh database only, after its tables
  bool copy_before = false;        // keep a copy of an older file before its steps

  std::int64_t Version() const { return 1 + static_cast<std::int64_t>(steps.size()); }
};

// Makes the tables, or brings older ones up to date, in one transaction: after an error or a crash
// the database is as it was. With copy_before the older file is first copied to FILE.vN.bak, where
// N is its version. kInvalid: a newer musterd wrote the database, or an earlier one.
Result<> BringUpToDate(Database& database, const Schema& schema);

// Copies one moment of the database into `file` (mode 0600, synced, replaced as a whole), while
// others may go on reading and writing it.
Result<> CopyDatabase(Database& database, const std::filesystem::path& file);

}  // namespace muster::sqlite
