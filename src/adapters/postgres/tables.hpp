#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace muster::postgres {

// A value of a row on its way into the database: null, a number or bytes.
using Cell = std::variant<std::monostate, std::int64_t, std::string>;
using Cells = std::vector<Cell>;

inline Cell Number(std::uint64_t value) { return static_cast<std::int64_t>(value); }

// In the order in which a batch writes them; a task needs its node.
enum class TableId {
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
};

// How rows of a table are written, many at once. Both statements take one array for each column:
// `put` for all of them, `drop` for those of the key, which come first.
struct Table {
  TableId id;
  std::string_view types;  // one letter a column: i number, b bytes
  std::size_t keys;
  const char* put;
  const char* drop;
};

// By TableId.
std::span<const Table> Tables();

}  // namespace muster::postgres
