#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "adapters/sqlite/database.hpp"
#include "base/result.hpp"

namespace muster::copy {

// One column of a row on its way; valid until the next row.
struct Cell {
  std::string_view bytes;  // a number: eight bytes, the highest first
  bool null = false;
};

// A table that both stores have, and how a row of one is a row of the other. What is not said here
// is not copied: tests/contract/copy_tables_test.cpp holds the list against both schemas.
struct CopyTable {
  std::string_view sqlite;    // its name there
  std::string_view postgres;  // and there
  std::string_view columns;   // names, with a space between
  std::string_view types;     // of each: i number, t text, b bytes, n bytes or nothing
  // Where SQLite's columns are others: what reads them as the list says, and what writes such a
  // row.
  std::string_view read = {};
  std::string_view write = {};
  // Binds what `write` wants beyond the listed columns.
  Result<> (*bind_more)(std::span<const Cell> row, sqlite::Statement& statement) = nullptr;
};

// Tables of records, in the order they are copied; the fence is the last.
std::span<const CopyTable> RecordTables();

// One day of output. PostgreSQL's table has the day in its name, which `postgres` does not say.
const CopyTable& DayTable();

std::vector<std::string> ColumnsOf(const CopyTable& table);

// The statements for a table.
std::string SqliteRead(const CopyTable& table);
std::string SqliteWrite(const CopyTable& table);
std::string PostgresRead(const CopyTable& table, std::string_view name);   // COPY … TO STDOUT
std::string PostgresWrite(const CopyTable& table, std::string_view name);  // COPY … FROM STDIN

}  // namespace muster::copy
