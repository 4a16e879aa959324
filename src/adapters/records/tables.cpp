#include <algorithm>

#include "adapters/records/table.hpp"
#include "base/result.hpp"

namespace muster::records {
namespace {

using enum ColumnType;

// Most records are a blob and the columns by which they are found.
constexpr Column kHost[] = {{"id"}, {"record", kBytes}};

constexpr Column kInvite[] = {{"id", kText}, {"uses_left"}, {"record", kBytes}};
constexpr Index kInviteIndexes[] = {
    {"invite_open", "id", "uses_left > 0"},
    {"invite_used", "id", "uses_left = 0"},  // found by retention
};

constexpr Column kToken[] = {{"name", kText},       {"hash", kBytes}, {"role"},
                             {"created_by", kText}, {"created"},      {"expires"},
                             {"revoked_by", kText}, {"revoked"}};

constexpr Column kPending[] = {{"name", kText}, {"record", kBytes}};

constexpr Column kRun[] = {{"id"}, {"state"}, {"by", kText}, {"created"}, {"record", kBytes}};
constexpr Index kRunIndexes[] = {
    {"run_state", "state, id"}, {"run_by", "by, id"}, {"run_created", "created, id"}};

constexpr Column kOfRun[] = {{"run"}, {"record", kBytes}};

constexpr Column kVisit[] = {{"run"}, {"visit"}, {"record", kBytes}};

constexpr Column kNode[] = {{"store", kText}, {"boot", kText}};

// Read and written by columns, as there are by far the most of them. No index names what changes
// often; task_host answers who ran what on a host.
constexpr Column kTask[] = {
    {"run"},          {"visit"},      {"ordinal"},     {"attempt"},   {"host", kNumber, true},
    {"state"},        {"sent"},       {"sent_commit"}, {"sent_term"}, {"ended"},
    {"ended_commit"}, {"ended_term"}, {"node"},        {"log_state"}, {"log_bytes"},
    {"rest", kMaybe}};
constexpr Index kTaskIndexes[] = {{"task_host", "host, run"}};

// Attempts that have ended and whose log is open. In SQLite an index with a condition says which;
// in PostgreSQL each update of a row would have to look after that index.
constexpr Column kOpenLog[] = {{"run"}, {"visit"}, {"ordinal"}, {"attempt"}};

constexpr Column kKey[] = {
    {"caller", kText}, {"key", kText}, {"body_sha256", kBytes}, {"run"}, {"created"}};
constexpr Index kKeyIndexes[] = {{"idempotency_key_created", "created"}};

constexpr Column kWish[] = {{"run"},  {"visit"},   {"ordinal"},
                            {"host"}, {"attempt"}, {"record", kBytes}};
constexpr Column kHold[] = {{"run"}, {"visit"}, {"ordinal"}, {"host"}, {"attempt"}, {"key", kText}};

constexpr Column kAudit[] = {{"number"},
                             {"at"},
                             {"actor", kText},
                             {"address", kText},
                             {"client", kText},
                             {"act", kText},
                             {"object", kText},
                             {"detail", kText},
                             {"reason", kText},
                             {"run"},
                             {"hosts"},
                             {"names", kText},
                             {"command", kText},
                             {"command_sha256", kBytes},
                             {"previous", kBytes},
                             {"hash", kBytes}};
constexpr Index kAuditIndexes[] = {
    {"audit_actor", "actor, number"},
    {"audit_act", "act, number"},
    {"audit_at", "at, number"},
    {"audit_run", "run, act"},
    // Which hosts had a name before: their removals, by the name. `object` is "host NAME".
    {"audit_removed", "object, number", "act = 'host.remove'"},
};

constexpr Column kAuditHost[] = {{"host"}, {"number"}};
constexpr Index kAuditHostIndexes[] = {{"audit_host_number", "number"}};

constexpr Column kDocument[] = {{"kind", kText}, {"name", kText}, {"version"}, {"record", kBytes}};
constexpr Column kDocumentHead[] = {
    {"kind", kText}, {"name", kText}, {"version"}, {"dropped"}, {"record", kBytes}};

constexpr Column kSecret[] = {{"name", kText}, {"record", kBytes}};
constexpr Column kNotice[] = {{"run"}, {"visit"}, {"record", kBytes}};
constexpr Column kFreeze[] = {{"id"}, {"record", kBytes}};

// `due` is an hour, so that most changes of a trigger leave its index alone.
constexpr Column kTrigger[] = {{"name", kText}, {"due"}, {"dropped"}, {"record", kBytes}};
constexpr Index kTriggerIndexes[] = {{"trigger_due", "due, name", "due > 0"}};

// A row that grows stays what it was made as, which leaves its index alone too.
constexpr Column kSlot[] = {
    {"trigger_name", kText}, {"first"},         {"act"}, {"last"}, {"fate", kNumber, true},
    {"made", kNumber, true}, {"record", kBytes}};
constexpr Index kSlotIndexes[] = {{"slot_made", "made"}};

constexpr Column kMeta[] = {{"name", kText}, {"number"}, {"bytes", kBytes}};
constexpr Column kFence[] = {{"id"}, {"term"}, {"number"}};

constexpr Table kTables[] = {
    {.id = TableId::kHost, .name = "host", .columns = kHost, .keys = 1, .fill = 70},
    {.id = TableId::kInvite,
     .name = "invite",
     .columns = kInvite,
     .keys = 1,
     .indexes = kInviteIndexes},
    {.id = TableId::kToken, .name = "token", .columns = kToken, .keys = 1},
    {.id = TableId::kPending, .name = "pending_join", .columns = kPending, .keys = 1},
    {.id = TableId::kRun,
     .name = "run",
     .columns = kRun,
     .keys = 1,
     .indexes = kRunIndexes,
     .fill = 70,
     .run = "id"},
    {.id = TableId::kPlan, .name = "plan", .columns = kOfRun, .keys = 1, .run = "run"},
    {.id = TableId::kTargets, .name = "targets", .columns = kOfRun, .keys = 1, .run = "run"},
    {.id = TableId::kVisit,
     .name = "visit",
     .columns = kVisit,
     .keys = 2,
     .fill = 70,
     .run = "run"},
    {.id = TableId::kNode, .name = "node", .columns = kNode, .keys = 2, .generated = "id"},
    {.id = TableId::kTask,
     .name = "task",
     .columns = kTask,
     .keys = 4,
     .indexes = kTaskIndexes,
     .check = "run <> 0",
     .fill = 50,
     .run = "run"},
    {.id = TableId::kOpenLog,
     .name = "open_log",
     .columns = kOpenLog,
     .keys = 4,
     .only_postgres = true,
     .run = "run"},
    {.id = TableId::kKey,
     .name = "idempotency_key",
     .columns = kKey,
     .keys = 2,
     .indexes = kKeyIndexes},
    {.id = TableId::kWish, .name = "wish", .columns = kWish, .keys = 5, .run = "run"},
    {.id = TableId::kHold, .name = "hold", .columns = kHold, .keys = 6, .run = "run"},
    {.id = TableId::kAudit,
     .name = "audit",
     .columns = kAudit,
     .keys = 1,
     .indexes = kAuditIndexes},
    {.id = TableId::kAuditHost,
     .name = "audit_host",
     .columns = kAuditHost,
     .keys = 2,
     .indexes = kAuditHostIndexes},
    {.id = TableId::kDocument, .name = "document", .columns = kDocument, .keys = 3, .large = true},
    {.id = TableId::kDocumentHead,
     .name = "document_head",
     .columns = kDocumentHead,
     .keys = 2,
     .dropped = "dropped",
     .large = true},
    {.id = TableId::kSecret, .name = "secret", .columns = kSecret, .keys = 1},
    {.id = TableId::kNotice, .name = "notice", .columns = kNotice, .keys = 2},
    {.id = TableId::kFreeze, .name = "freeze_row", .columns = kFreeze, .keys = 1},
    {.id = TableId::kTrigger,
     .name = "trigger_row",
     .columns = kTrigger,
     .keys = 1,
     .indexes = kTriggerIndexes,
     .fill = 70},
    {.id = TableId::kSlot,
     .name = "slot",
     .columns = kSlot,
     .keys = 3,
     .indexes = kSlotIndexes,
     .fill = 80},
    {.id = TableId::kMeta, .name = "meta", .columns = kMeta, .keys = 1, .fill = 50},
    {.id = TableId::kFence,
     .name = "fence",
     .columns = kFence,
     .keys = 1,
     .check = "id = 1",
     .fill = 10},
};

constexpr bool InOrder() {
  std::size_t at = 0;
  for (const auto& table : kTables)
    if (static_cast<std::size_t>(table.id) != at++) return false;
  return true;
}
static_assert(InOrder());

}  // namespace

std::span<const Table> Tables() { return kTables; }

const Table& TableOf(TableId id) { return kTables[static_cast<std::size_t>(id)]; }

std::size_t PlaceOf(const Table& table, std::string_view column) {
  const auto found = std::ranges::find(table.columns, column, &Column::name);
  MUSTER_CHECK(found != table.columns.end());
  return static_cast<std::size_t>(found - table.columns.begin());
}

}  // namespace muster::records
