#include <algorithm>
#include <map>
#include <set>

#include "adapters/copy/tables.hpp"
#include "adapters/postgres/day_tables.hpp"
#include "adapters/postgres/schema.hpp"
#include "adapters/sqlite/rows.hpp"
#include "adapters/sqlite/schema.hpp"
#include "contract/store_fixture.hpp"

// Whoever adds a table or a column to one of the stores must say what the copy does with it.
namespace muster {
namespace {

using Catalog = std::map<std::string, std::set<std::string>>;  // columns of each table

template <typename Make>
Catalog CatalogOfSqlite(Make make_tables) {
  const TempFolder folder;
  auto database =
      sqlite::Database::Open(folder.Path() / "x.db", sqlite::Database::Mode::kReadWrite);
  EXPECT_TRUE(database && make_tables(**database));
  Catalog catalog;
  auto rows = (*database)->Prepare(
      "SELECT m.name, c.name FROM sqlite_master m, pragma_table_info(m.name) c"
      " WHERE m.type = 'table'");
  EXPECT_TRUE(rows);
  EXPECT_TRUE(sqlite::EachRow(**rows, [&](const sqlite::Statement& row) -> Result<> {
    catalog[row.ColumnText(0)].insert(row.ColumnText(1));
    return {};
  }));
  return catalog;
}

Catalog CatalogOfPostgres(const std::string& sql) {
  auto connection = postgres::Connection::Open({.address = SharedPostgres().NewSchema()},
                                               postgres::Purpose::kAppend);
  EXPECT_TRUE(connection);
  EXPECT_TRUE(postgres::Expand(**connection, postgres::RecordSteps()));
  if (!sql.empty()) {
    EXPECT_TRUE((*connection)->Execute(sql));
  }
  const auto rows = (*connection)
                        ->Ask(
                            "SELECT convert_to(table_name, 'UTF8'), convert_to(column_name,"
                            " 'UTF8') FROM information_schema.columns"
                            " WHERE table_schema = current_schema()");
  EXPECT_TRUE(rows);
  Catalog catalog;
  for (int i = 0; i < rows->Count(); ++i) catalog[rows->At(i).Text(0)].insert(rows->At(i).Text(1));
  return catalog;
}

std::set<std::string> Names(const copy::CopyTable& table) {
  const auto columns = copy::ColumnsOf(table);
  EXPECT_EQ(columns.size(), table.types.size()) << table.sqlite;
  return {columns.begin(), columns.end()};
}

TEST(CopyTables, NameEveryTableAndColumnOfSqlite) {
  Catalog listed;
  for (const auto& table : copy::RecordTables()) listed[std::string(table.sqlite)] = Names(table);
  listed["run"].insert("whole");   // runs of old are split on the way
  listed["visit"].insert("open");  // told by the record
  listed["meta"] = {"name", "value"};
  EXPECT_EQ(listed, CatalogOfSqlite(sqlite::MakeRecordTables));
}

TEST(CopyTables, NameEveryTableAndColumnOfPostgres) {
  Catalog listed;
  for (const auto& table : copy::RecordTables()) listed[std::string(table.postgres)] = Names(table);
  listed["open_log"] = {"run", "visit", "ordinal", "attempt"};  // told by the tasks
  listed["schema_version"] = {"id", "expanded", "needed"};      // of the tables themselves
  EXPECT_EQ(listed, CatalogOfPostgres(""));
}

TEST(CopyTables, NameEveryColumnOfADay) {
  auto in_sqlite = Names(copy::DayTable());
  in_sqlite.erase("start");
  in_sqlite.insert("offset");
  EXPECT_EQ((Catalog{{"chunk", in_sqlite}}), CatalogOfSqlite(sqlite::MakeLogTables));
  auto in_postgres = CatalogOfPostgres(postgres::MakeDayTable(postgres::DayTable("2026-11-15")));
  EXPECT_EQ(in_postgres["chunk_20261115"], Names(copy::DayTable()));
  EXPECT_EQ(postgres::DayOf("chunk_20261115"), "2026-11-15");
}

TEST(CopyTables, EndWithTheFence) { EXPECT_EQ(copy::RecordTables().back().sqlite, "fence"); }

}  // namespace
}  // namespace muster
