#include "adapters/copy/tables.hpp"

#include <fmt/format.h>

#include "adapters/records/sql.hpp"

namespace muster::copy {
namespace {

CopyTable CopyOf(const records::Table& table) {
  CopyTable copy{.sqlite = std::string(table.name),
                 .postgres = std::string(table.name),
                 .columns = ColumnList(table),
                 .types = {}};
  if (!table.generated.empty()) copy.types += static_cast<char>(records::ColumnType::kNumber);
  for (const auto& column : table.columns) copy.types += static_cast<char>(column.type);
  return copy;
}

const std::string& SqliteColumns(const CopyTable& table) {
  return table.sqlite_columns.empty() ? table.columns : table.sqlite_columns;
}

}  // namespace

std::span<const CopyTable> RecordTables() {
  static const std::vector<CopyTable> tables = [] {
    std::vector<CopyTable> made;
    for (const auto& table : records::Tables())
      if (!table.only_postgres) made.push_back(CopyOf(table));
    return made;
  }();
  return tables;
}

const CopyTable& DayTable() {
  static const CopyTable day{
      .sqlite = "chunk",
      .postgres = "",
      .columns = "run, visit, ordinal, host, attempt, start, stream, time, size, codec, data",
      .types = "iiiiiiiiiib",
      .sqlite_columns =
          "run, visit, ordinal, host, attempt, offset, stream, time, size, codec, data"};
  return day;
}

std::string SqliteRead(const CopyTable& table) {
  return fmt::format("SELECT {} FROM {}", SqliteColumns(table), table.sqlite);
}

std::string SqliteWrite(const CopyTable& table) {
  std::string values = "?";
  for (std::size_t i = 1; i < table.types.size(); ++i) values += ", ?";
  return fmt::format("INSERT INTO {} ({}) VALUES ({})", table.sqlite, SqliteColumns(table), values);
}

std::string PostgresRead(const CopyTable& table, std::string_view name) {
  return fmt::format("COPY {} ({}) TO STDOUT (FORMAT binary)", name, table.columns);
}

std::string PostgresWrite(const CopyTable& table, std::string_view name) {
  return fmt::format("COPY {} ({}) FROM STDIN (FORMAT binary)", name, table.columns);
}

}  // namespace muster::copy
