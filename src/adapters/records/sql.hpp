#pragma once

#include <string>
#include <vector>

#include "adapters/records/table.hpp"

// The statements that follow from a table's description. Parameters are `?`.
namespace muster::records {

enum class Dialect : std::uint8_t { kSqlite, kPostgres };

// What a version of the schema brings: tables and indexes, each ended by a semicolon.
std::string CreateTables(Dialect dialect, std::uint32_t version);

// Writes a whole row, in place of one with its key. SQLite: a parameter for each column;
// PostgreSQL: an array of many rows' values for each.
std::string PutRow(const Table& table, Dialect dialect);
// Removes the row with a key, which is the parameters.
std::string DropRow(const Table& table, Dialect dialect);

// Drops what belongs to a run, its own row last, unless tasks of it are left. The run is both
// parameters of each.
std::vector<std::string> DropOfRun(Dialect dialect);

// "a", "b": all columns, that of a generated number first.
std::string ColumnList(const Table& table);

}  // namespace muster::records
