#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace muster::copy {

// One column of a row on its way; valid until the next row.
struct Cell {
  std::string_view bytes;  // a number: eight bytes, the highest first
  bool null = false;
};

// A table that both stores have. Its rows are the same in both but for their types.
struct CopyTable {
  std::string sqlite;    // its name there
  std::string postgres;  // and there
  std::string columns;   // quoted, with commas between
  std::string types;     // of each: i number, t text, b bytes, n bytes or nothing
  // Where SQLite's columns have other names.
  std::string sqlite_columns = {};
};

// Tables of records, in the order they are copied; the fence is the last.
std::span<const CopyTable> RecordTables();  // as records/table.hpp describes them

// One day of output. PostgreSQL's table has the day in its name, which `postgres` does not say.
const CopyTable& DayTable();

// The statements for a table.
std::string SqliteRead(const CopyTable& table);
std::string SqliteWrite(const CopyTable& table);
std::string PostgresRead(const CopyTable& table, std::string_view name);   // COPY … TO STDOUT
std::string PostgresWrite(const CopyTable& table, std::string_view name);  // COPY … FROM STDIN

}  // namespace muster::copy
