#include "adapters/records/sql.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace muster::records {
namespace {

// Some names are words of SQL.
std::string Quoted(std::string_view name) { return fmt::format("\"{}\"", name); }

template <typename Columns, typename Write>
std::string Joined(const Columns& columns, std::string_view between, Write write) {
  std::string text;
  for (const auto& column : columns) {
    if (!text.empty()) text += between;
    text += write(column);
  }
  return text;
}

auto KeyOf(const Table& table) { return table.columns.first(table.keys); }
auto RestOf(const Table& table) { return table.columns.subspan(table.keys); }

std::string Names(std::span<const Column> columns) {
  return Joined(columns, ", ", [](const Column& column) { return Quoted(column.name); });
}

std::string Parameters(std::size_t count) {
  std::string text = "?";
  for (std::size_t i = 1; i < count; ++i) text += ", ?";
  return text;
}

// SQLite finds a row with one number as its key by that number alone.
bool IsRowNumber(const Table& table) {
  return table.keys == 1 && table.columns[0].type == ColumnType::kNumber;
}

std::string_view SqliteType(ColumnType type) {
  switch (type) {
    case ColumnType::kNumber:
      return "INTEGER";
    case ColumnType::kText:
      return "TEXT";
    case ColumnType::kBytes:
    case ColumnType::kMaybe:
      break;
  }
  return "BLOB";
}

// Strings are bytes in PostgreSQL, so that any of them survives and they are ordered byte by byte.
std::string_view PostgresType(ColumnType type) {
  return type == ColumnType::kNumber ? "bigint" : "bytea";
}

std::string Definition(const Column& column, Dialect dialect) {
  return fmt::format(
      "{} {}{}", Quoted(column.name),
      dialect == Dialect::kSqlite ? SqliteType(column.type) : PostgresType(column.type),
      column.type == ColumnType::kMaybe ? "" : " NOT NULL");
}

std::string Generated(const Table& table, Dialect dialect) {
  if (table.generated.empty()) return {};
  return Quoted(table.generated) + (dialect == Dialect::kSqlite
                                        ? " INTEGER PRIMARY KEY, "
                                        : " bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, ");
}

std::string Storage(const Table& table, Dialect dialect) {
  if (dialect == Dialect::kPostgres)
    return table.fill < 100 ? fmt::format(" WITH (fillfactor = {})", table.fill) : "";
  // Rows lie in the order of their key.
  const bool by_key = table.generated.empty() && !table.large && !IsRowNumber(table);
  return by_key ? " WITHOUT ROWID" : "";
}

std::string CreateIndex(const Table& table, const Index& index, Dialect dialect) {
  std::string columns(index.columns);
  // The number of a row ends each of SQLite's indexes anyway.
  const std::string number = fmt::format(", {}", table.columns[0].name);
  if (dialect == Dialect::kSqlite && IsRowNumber(table) && columns.ends_with(number))
    columns.resize(columns.size() - number.size());
  return fmt::format("CREATE INDEX {} ON {} ({}){}{};\n", index.name, table.name, columns,
                     index.where.empty() ? "" : " WHERE ", index.where);
}

// What becomes of a row that is there.
std::string OnConflict(const Table& table) {
  std::string set;
  for (const auto& column : RestOf(table)) {
    if (column.fixed) continue;
    set += fmt::format("{0}{1} = excluded.{1}", set.empty() ? "" : ", ", Quoted(column.name));
  }
  return fmt::format(" ON CONFLICT ({}) {}", Names(KeyOf(table)),
                     set.empty() ? "DO NOTHING" : "DO UPDATE SET " + set);
}

std::string CreateTable(const Table& table, Dialect dialect) {
  std::string sql = fmt::format("CREATE TABLE {} ({}", table.name, Generated(table, dialect));
  sql += Joined(table.columns, ", ",
                [&](const Column& column) { return Definition(column, dialect); });
  sql += fmt::format(", {} ({})", table.generated.empty() ? "PRIMARY KEY" : "UNIQUE",
                     Names(KeyOf(table)));
  if (!table.check.empty()) sql += fmt::format(", CHECK ({})", table.check);
  return sql + ")" + Storage(table, dialect) + ";\n";
}

bool IsIn(const Table& table, Dialect dialect) {
  return dialect == Dialect::kPostgres || !table.only_postgres;
}

}  // namespace

std::string CreateTables(Dialect dialect, std::uint32_t version) {
  std::string sql;
  for (const auto& table : Tables()) {
    if (!IsIn(table, dialect)) continue;
    if (table.since == version) sql += CreateTable(table, dialect);
    for (const auto& index : table.indexes)
      if (std::max(index.since, table.since) == version) sql += CreateIndex(table, index, dialect);
  }
  return sql;
}

std::string PutRow(const Table& table, Dialect dialect) {
  const std::string values = Parameters(table.columns.size());
  return fmt::format("INSERT INTO {} ({}) {}{}", table.name, Names(table.columns),
                     dialect == Dialect::kSqlite ? fmt::format("VALUES ({})", values)
                                                 : fmt::format("SELECT * FROM unnest({})", values),
                     OnConflict(table));
}

std::string DropRow(const Table& table, Dialect dialect) {
  const std::string names = Names(KeyOf(table));
  if (dialect == Dialect::kSqlite)
    return fmt::format("{} WHERE ({}) = ({})",
                       table.dropped.empty()
                           ? fmt::format("DELETE FROM {}", table.name)
                           : fmt::format("UPDATE {} SET {} = 1", table.name, table.dropped),
                       names, Parameters(table.keys));
  const auto of = [&](std::string_view alias) {
    return Joined(KeyOf(table), ", ", [&](const Column& column) {
      return fmt::format("{}.{}", alias, Quoted(column.name));
    });
  };
  return fmt::format("{} unnest({}) AS d ({}) WHERE ({}) = ({})",
                     table.dropped.empty()
                         ? fmt::format("DELETE FROM {} o USING", table.name)
                         : fmt::format("UPDATE {} o SET {} = 1 FROM", table.name, table.dropped),
                     Parameters(table.keys), names, of("o"), of("d"));
}

std::vector<std::string> DropOfRun(Dialect dialect) {
  std::vector<std::string> drops;
  const auto add = [&](const Table& table) {
    drops.push_back(
        fmt::format("DELETE FROM {} WHERE {} = ? AND NOT EXISTS (SELECT 1 FROM task WHERE run = ?)",
                    table.name, table.run));
  };
  for (const auto& table : Tables())
    if (!table.run.empty() && IsIn(table, dialect) && table.id != TableId::kTask &&
        table.id != TableId::kRun)
      add(table);
  add(TableOf(TableId::kRun));
  return drops;
}

std::string ColumnList(const Table& table) {
  const std::string names = Names(table.columns);
  return table.generated.empty() ? names : Quoted(table.generated) + ", " + names;
}

}  // namespace muster::records
