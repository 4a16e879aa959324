#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

// The tables of a store, described once: both schemas, the statements that write rows, and the copy
// from one store into the other follow from here (sql.hpp).
namespace muster::records {

// A value of a row: nothing, a number, or bytes.
using Cell = std::variant<std::monostate, std::int64_t, std::string>;
using Cells = std::vector<Cell>;

inline Cell Number(std::uint64_t value) { return static_cast<std::int64_t>(value); }

// In the order in which a batch writes them, and a copy copies them.
enum class TableId : std::uint8_t {
  kHost,
  kInvite,
  kToken,
  kPending,
  kRun,
  kPlan,
  kTargets,
  kVisit,
  kNode,
  kTask,
  kOpenLog,
  kKey,
  kWish,
  kHold,
  kAudit,
  kAuditHost,
  kDocument,
  kDocumentHead,
  kSecret,
  kNotice,
  kFreeze,
  kTrigger,
  kSlot,
  kMeta,
  kFence,
};

enum class ColumnType : char {
  kNumber = 'i',
  kText = 't',
  kBytes = 'b',
  kMaybe = 'n',  // bytes, or null for none
};

struct Column {
  std::string_view name;
  ColumnType type = ColumnType::kNumber;
  bool fixed = false;  // a row that is there keeps what it was made with
};

struct Index {
  std::string_view name;
  std::string_view columns;
  std::string_view where = {};
  std::uint32_t since = 1;  // the version of the schema that brought it
};

struct Table {
  TableId id;
  std::string_view name;
  std::span<const Column> columns;  // those of the key first
  std::size_t keys;
  std::span<const Index> indexes = {};
  // A row is never deleted: this column is set to 1 instead.
  std::string_view dropped = {};
  // A number that the database gives to each new row; it stands before the columns.
  std::string_view generated = {};
  std::string_view check = {};  // a condition on each row
  int fill = 100;               // percent of a page of PostgreSQL; rows that change want room
  bool large = false;           // rows are too large to lie in the index of their key
  bool only_postgres = false;
  std::string_view run = {};  // the column with the run that a row belongs to, and is dropped with
  std::uint32_t since = 1;    // the version of the schema that brought it
};

// The version of the schema that these tables are. A version that a release has carried never
// changes: tables and indexes that come later say `since`, and stores make them in a step of that
// number.
inline constexpr std::uint32_t kSchemaVersion = 1;

std::span<const Table> Tables();  // by TableId
const Table& TableOf(TableId id);

// The place of a column, which the table has.
std::size_t PlaceOf(const Table& table, std::string_view column);

}  // namespace muster::records
