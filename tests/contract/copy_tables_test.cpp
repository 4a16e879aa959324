#include <algorithm>
#include <map>
#include <set>

#include "adapters/copy/tables.hpp"
#include "adapters/postgres/day_tables.hpp"
#include "adapters/postgres/schema.hpp"
#include "adapters/sqlite/rows.hpp"
#include "adapters/sqlite/schema.hpp"
#include "base/text.hpp"
#include "contract/store_fixture.hpp"

// The copy knows every table and column of both stores.
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
  EXPECT_TRUE(sqlite::EachRow(**rows, [&](const sqlite::Row& row) -> Result<> {
    catalog[row.Text(0)].insert(row.Text(1));
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
  std::set<std::string> names;
  for (const auto column : Split(table.columns, ',')) {
    std::string name(Trim(column));
    std::erase(name, '"');
    names.insert(name);
  }
  EXPECT_EQ(names.size(), table.types.size()) << table.sqlite;
  return names;
}

TEST(CopyTables, NameEveryTableAndColumnOfSqlite) {
  Catalog listed;
  for (const auto& table : copy::RecordTables()) listed[std::string(table.sqlite)] = Names(table);
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
